// decode: answers sources, or continues a text, with a trained model
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/threads.h"
#include "examples/common/answer_lines.h"
#include "examples/common/line_reader.h"
#include "examples/common/program.h"
#include "examples/common/question.h"
#include "examples/common/search.h"
#include "examples/common/text.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

struct DecodeOptions {
  std::string checkpoint;
  std::optional<std::string> input, prompt;
  SearchOptions search;
  std::int64_t seed = 1;
  std::int64_t batch_size = 64, threads = 1;
  bool sample = false, exhaustive = false, json = false, attention = false;
  bool table = false;  // --n-best was given
};

void add_options(CLI::App& app, DecodeOptions& o) {
  SearchOptions& s = o.search;
  app.add_option("--checkpoint", o.checkpoint,
                 "model.safetensors of a training run, or the folder it is in")
      ->required();
  app.add_option("--input", o.input, "file of sources, one a line; else they come from stdin");
  app.add_option("--prompt", o.prompt,
                 "text to be continued, by a model trained on text: by sampling, unless --beam");
  add_number(app, "--beam", s.beam, 1, 10'000, "hypotheses kept by beam search; 1: greedy search");
  add_number(app, "--length-penalty", s.length_penalty, 0.0, 100.0,
             "alpha: answers are ranked by log-probability / length^alpha");
  add_number(app, "--n-best", s.n_best, 1, 10'000,
             "answers to a source; a table: line, rank, score, log-probability, answer");
  app.add_flag("--exhaustive", o.exhaustive, "look at all answers there are up to --max-length");
  app.add_flag("--sample", o.sample, "draw answers at random");
  add_number(app, "--temperature", s.temperature, 0.001, 1000.0,
             "of sampling; below 1: more careful");
  add_number(app, "--top-k", s.top_k, 0, 1'000'000, "sample among the k likeliest; 0: all");
  add_number(app, "--top-p", s.top_p, 0.000001, 1.0,
             "sample among the fewest that have this probability together");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of sampling");
  add_number(app, "--min-length", s.min_length, 0, 1'000'000,
             "tokens in the shortest answer, its end symbol counted");
  add_number(app, "--max-length", s.max_length, 1, 1'000'000,
             "tokens in the longest; with --prompt 500 unless given");
  app.add_flag("--json", o.json, "a line of JSON for each source");
  app.add_flag("--attention", o.attention, "in the JSON, what each attention head looks at");
  add_number(app, "--batch-size", o.batch_size, 1, 100'000, "sources answered together");
  o.threads = num_threads();
  add_number(app, "--threads", o.threads, 1, max_threads(), "threads of the kernels");
}

void refuse(bool wrong, const std::string& message) {
  if (wrong) throw UsageError(message);
}

// What can be checked before any file is read, and what follows from it.
void complete_options(const CLI::App& app, DecodeOptions& o) {
  const auto given = [&](const char* name) { return app.count(name) > 0; };
  SearchOptions& s = o.search;
  refuse(o.sample && given("--beam"), "--sample and --beam are two ways to search: choose one");
  refuse(o.sample && o.exhaustive, "--sample and --exhaustive are two ways to search: choose one");
  refuse(o.exhaustive && given("--beam"),
         "--exhaustive and --beam are two ways to search: choose one");
  const bool ranked = given("--beam") || o.exhaustive;
  if (o.sample || (o.prompt && !ranked)) s.kind = SearchKind::sample;
  if (o.exhaustive) s.kind = SearchKind::exhaustive;
  for (const char* name : {"--length-penalty", "--n-best"}) {
    refuse(given(name) && !ranked, fmt::format("{} goes with --beam or --exhaustive", name));
  }
  for (const char* name : {"--temperature", "--top-k", "--top-p", "--seed"}) {
    refuse(given(name) && s.kind != SearchKind::sample, fmt::format("{} goes with --sample", name));
  }
  refuse(!o.exhaustive && s.n_best > s.beam,
         fmt::format("--n-best {} is more than --beam {}", s.n_best, s.beam));
  refuse(o.exhaustive && !given("--max-length"),
         "--exhaustive: --max-length must say how long answers may be");
  refuse(o.prompt && o.input, "--prompt and --input: choose one");
  refuse(o.prompt && o.prompt->empty(), "--prompt: the text is empty");
  refuse(o.attention && !o.json, "--attention goes with --json");
  if (o.prompt && !given("--max-length")) s.max_length = 500;
  refuse(s.min_length > s.max_length,
         fmt::format("--min-length {} is more than --max-length {}", s.min_length, s.max_length));
  s.seed = static_cast<std::uint64_t>(o.seed);
  o.table = given("--n-best");
  // The limit of exhaustive search is one for all sources together: so that no source depends on
  // others, each is searched alone.
  if (o.exhaustive) o.batch_size = 1;
}

// What this model cannot do.
void check_model(const CLI::App& app, const ZooCheckpoint& checkpoint, const DecodeOptions& o) {
  refuse(o.prompt && !checkpoint.continues, "--prompt: this model was not trained on text");
  if (!std::holds_alternative<models::Encoder>(checkpoint.model)) return;
  for (const char* name : {"--beam", "--exhaustive", "--sample", "--min-length"}) {
    refuse(app.count(name) > 0,
           fmt::format("{}: this model fills in blanks, all at once: it cannot search", name));
  }
}

std::int64_t least_room(const SearchOptions& search) {
  return std::max<std::int64_t>(search.min_length, 1);
}

// Answers those that can be answered.
void answer(const ZooCheckpoint& checkpoint, const SearchOptions& options,
            std::vector<Answered>& batch) {
  std::vector<Ids> sources;
  std::vector<std::uint64_t> streams;
  std::vector<Answered*> asked;
  for (Answered& question : batch) {
    if (question.ids.empty()) continue;
    sources.push_back(question.ids);
    streams.push_back(static_cast<std::uint64_t>(question.line));
    asked.push_back(&question);
  }
  auto answers = search(checkpoint, sources, streams, options);
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->answers = std::move(answers[i]);
}

void answer_all(const ZooCheckpoint& checkpoint, const DecodeOptions& o,
                std::vector<Answered>& batch) try {
  answer(checkpoint, o.search, batch);
} catch (const Error& error) {
  if (o.exhaustive) throw UsageError(error.what());  // too many answers
  throw;
}

void print(const ZooCheckpoint& checkpoint, const DecodeOptions& o,
           const std::vector<Answered>& batch) {
  std::string text;
  for (const Answered& answered : batch) {
    text += o.json    ? answer_json(answered, checkpoint, o.attention)
            : o.table ? answer_table(answered, checkpoint.target)
                      : answer_line(answered, checkpoint.target);
  }
  fmt::print("{}", text);
  flush_output();
}

int continue_prompt(const ZooCheckpoint& checkpoint, const DecodeOptions& o) {
  Unknown unknown;
  std::vector<Answered> one{question(checkpoint, 1, *o.prompt, unknown)};
  refuse(!one[0].fault.empty(), "--prompt: " + one[0].fault);
  const bool window = o.search.kind == SearchKind::sample || o.search.beam == 1;
  if (window && !o.exhaustive) {
    one[0].answers = {continue_text(checkpoint, one[0].ids, o.search)};
  } else {
    check_room(checkpoint, least_room(o.search), one[0]);
    refuse(!one[0].fault.empty(), "--prompt: " + one[0].fault);
    answer_all(checkpoint, o, one);
  }
  unknown.report("decode");
  if (o.json || o.table) {
    print(checkpoint, o, one);
  } else {
    fmt::print("{}{}\n", *o.prompt, checkpoint.target.decode(one[0].answers[0].tokens));
  }
  return kDone;
}

int answer_lines(const ZooCheckpoint& checkpoint, const DecodeOptions& o, LineReader reader) {
  const std::size_t most = reader.is_terminal() ? 1 : static_cast<std::size_t>(o.batch_size);
  Unknown unknown;
  int code = kDone;
  for (bool more = true; more;) {
    std::vector<Answered> batch;
    while (more && batch.size() < most) {
      const std::optional<std::string> line = reader.next();
      more = line.has_value();
      if (!more) break;
      batch.push_back(question(checkpoint, reader.number(), *line, unknown));
      if (!batch.back().ids.empty()) {
        check_room(checkpoint, least_room(o.search), batch.back());
      }
      if (batch.back().fault.empty()) continue;
      fmt::print(
          stderr, "decode: {}\n",
          to_text({o.input.value_or("standard input"), reader.number(), batch.back().fault}));
      code = kFileError;
    }
    answer_all(checkpoint, o, batch);
    print(checkpoint, o, batch);
  }
  unknown.report("decode");
  return code;
}

int run(const CLI::App& app, DecodeOptions& o) {
  complete_options(app, o);
  set_num_threads(static_cast<int>(o.threads));
  const ZooCheckpoint checkpoint = open_checkpoint(o.checkpoint);
  check_model(app, checkpoint, o);
  if (o.prompt) return continue_prompt(checkpoint, o);
  return answer_lines(checkpoint, o, o.input ? LineReader(*o.input) : LineReader());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Answers sources, one a line, or continues a text, with a trained model.", "decode");
  DecodeOptions options;
  add_options(app, options);
  return run_program(app, argc, argv, [&] { return run(app, options); });
}
