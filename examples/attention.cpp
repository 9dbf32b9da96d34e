// attention: shows what every attention head looks at while a model writes an answer
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/file.h"
#include "core/threads.h"
#include "examples/common/attention_picture.h"
#include "examples/common/attention_view.h"
#include "examples/common/program.h"
#include "examples/common/progress.h"
#include "examples/common/question.h"
#include "examples/common/search.h"
#include "examples/common/tasks.h"
#include "examples/common/terminal.h"
#include "examples/common/trainer.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Json = nlohmann::ordered_json;

// Stands in every file that this program writes: such a file may be written again.
constexpr const char* kMark = "gradzoo attention";

enum class Format { html, svg, json, terminal };
constexpr std::array<const char*, 4> choice_names(Format) {
  return {"html", "svg", "json", "terminal"};
}

struct Options {
  std::optional<std::string> checkpoint, compare, input, out;
  Format format = Format::html;
  Task task = Task::reverse;
  std::int64_t steps = 400, max_length = 40, seed = 1, threads = num_threads();
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--checkpoint", o.checkpoint,
                 "model.safetensors of a training run, or the folder it is in; without it a small "
                 "Transformer and a GRU with attention are trained first");
  app.add_option("--compare", o.compare, "a second checkpoint, shown beside the first");
  app.add_option("--input", o.input, "the source, such as \"a b c\"");
  app.add_option("--out", o.out,
                 "file to write; attention.html or attention.svg unless given, and standard output "
                 "for json and terminal");
  add_choice(app, "--format", o.format, "what is made of it");
  add_choice(app, "--task", o.task, "what is learned without --checkpoint");
  add_number(app, "--steps", o.steps, 1, 1'000'000, "batches to learn it from");
  add_number(app, "--max-length", o.max_length, 1, 1'000'000,
             "tokens in the longest answer, its end symbol counted");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of weights and data");
  add_number(app, "--threads", o.threads, 1, max_threads(), "threads of the kernels");
}

void refuse(bool wrong, const std::string& message) {
  if (wrong) throw UsageError(message);
}

// Only what this program wrote is written over.
void check_out(const std::string& path) {
  refuse(path.empty(), "--out: the path is empty");
  if (std::filesystem::is_regular_file(path) && std::filesystem::file_size(path) > 0) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    refuse(text.find(kMark) == std::string::npos,
           fmt::format("--out: {} is there already, and not from this program: choose another name",
                       path));
  }
  const AtomicFile probe(path);  // throws when it cannot be written
}

// What can be checked before any work, and what follows from it.
void complete_options(const CLI::App& app, Options& o) {
  if (o.checkpoint) {
    for (const char* name : {"--task", "--steps"}) {
      refuse(app.count(name) > 0, fmt::format("{} goes without --checkpoint", name));
    }
    refuse(!o.input, "--input: the source to look at is missing, such as --input \"a b c\"");
  }
  refuse(o.compare && !o.checkpoint, "--compare goes with --checkpoint");
  refuse(o.input && o.input->empty(), "--input: the text is empty");
  if (!o.input) o.input = o.task == Task::add ? "27+85" : "d a f c b e";
  if (!o.out && o.format == Format::html) o.out = "attention.html";
  if (!o.out && o.format == Format::svg) o.out = "attention.svg";
  if (o.out) check_out(*o.out);
}

std::string model_name(const ZooModel& model) {
  if (const auto* rnn = std::get_if<models::RNNSeq2Seq>(&model)) {
    return fmt::format("{} with {} attention", nn::choice_name(rnn->config.cell),
                       nn::choice_name(rnn->config.attention));
  }
  return std::visit([](const auto& m) { return std::string(m.kName); }, model);
}

// A small model that has just learned the task.
ZooCheckpoint trained(ModelKind kind, const Options& o) {
  constexpr std::int64_t symbols = 10, longest = 8;
  const auto seed = static_cast<std::uint64_t>(o.seed);
  const Vocabulary vocabulary = task_vocabulary(o.task, symbols);
  ZooConfig config = small_config(kind);
  set_vocabularies(config, vocabulary, vocabulary);
  Rng rng(seed);
  ZooCheckpoint checkpoint{make_model(config, rng), vocabulary, vocabulary};
  const std::int64_t digits = 3;
  TaskBatches data({.task = o.task,
                    .split = Split::train,
                    .num_symbols = symbols,
                    .min_length = 1,
                    .max_length = o.task == Task::add ? digits : longest,
                    .seed = seed},
                   64);
  Trainer trainer(checkpoint.model, data,
                  {.lr = small_lr(kind),
                   .warmup_steps = std::min<std::int64_t>(100, o.steps / 5),
                   .steps = o.steps,
                   .seed = seed});
  Progress progress(fmt::format("{} learns {}", nn::choice_name(kind), nn::choice_name(o.task)));
  while (!trainer.done() && interrupted() == 0) {
    const Trainer::Step step = trainer.step();
    if (!progress.is_due(trainer.progress())) continue;
    progress.show(trainer.progress(), fmt::format("{}/{}", trainer.state().step, o.steps),
                  {fmt::format("loss {:.4f}", step.loss)});
  }
  return checkpoint;
}

// None when a signal came.
std::vector<ZooCheckpoint> checkpoints(const Options& o) {
  std::vector<ZooCheckpoint> all;
  if (o.checkpoint) {
    all.push_back(open_checkpoint(*o.checkpoint));
    if (o.compare) all.push_back(open_checkpoint(*o.compare));
    return all;
  }
  watch_interrupts();
  fmt::print(stderr,
             "attention: no --checkpoint: a small Transformer and a GRU with attention learn to {} "
             "first, {} steps each, some seconds\n",
             nn::choice_name(o.task), o.steps);
  for (const ModelKind kind : {ModelKind::transformer, ModelKind::gru}) {
    all.push_back(trained(kind, o));
    if (interrupted() == 0) continue;
    fmt::print(stderr, "attention: stopped while the {} was learning\n", nn::choice_name(kind));
    return {};
  }
  return all;
}

AttentionView view_of(const ZooCheckpoint& checkpoint, const Options& o) {
  const std::string name = model_name(checkpoint.model);
  if (const auto* rnn = std::get_if<models::RNNSeq2Seq>(&checkpoint.model)) {
    refuse(!rnn->score, fmt::format("this {} has no attention: there is nothing to see",
                                    nn::choice_name(rnn->config.cell)));
  }
  Unknown unknown;
  Answered one = question(checkpoint, 1, *o.input, unknown);
  refuse(!one.fault.empty(), "--input: " + one.fault);
  refuse(one.ids.empty(), "--input: the text has no tokens");
  check_room(checkpoint, 1, one);
  refuse(!one.fault.empty(), "--input: " + one.fault);
  unknown.report("attention");
  const auto answers = search(checkpoint, {one.ids}, {1}, {.max_length = o.max_length});
  return attention_view(checkpoint, name, *o.input, answers[0][0]);
}

std::string json_lines(const std::vector<AttentionView>& views) {
  std::string text;
  for (const AttentionView& view : views) {
    Json json = {{"made_by", kMark}};
    json.update(attention_json(view));
    // What is not UTF-8 is shown as U+FFFD.
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::string content(const std::vector<AttentionView>& views, const Options& o) {
  switch (o.format) {
    case Format::html:
      return attention_page(views);
    case Format::svg:
      return attention_svg(views);
    case Format::json:
      return json_lines(views);
    case Format::terminal:
      break;
  }
  return attention_text(views, {.columns = o.out ? 80 : terminal_columns(STDOUT_FILENO),
                                .color = !o.out && may_decorate(STDOUT_FILENO)});
}

int run(const CLI::App& app, Options& o) {
  complete_options(app, o);
  set_num_threads(static_cast<int>(o.threads));
  const std::vector<ZooCheckpoint> models = checkpoints(o);
  if (models.empty()) return 128 + interrupted();
  std::vector<AttentionView> views;
  for (const ZooCheckpoint& checkpoint : models) views.push_back(view_of(checkpoint, o));
  const std::string text = content(views, o);
  if (!o.out) {
    fmt::print("{}", text);
    return kDone;
  }
  AtomicFile file(*o.out);
  file.write(text);
  file.commit();
  fmt::print("{} is written{}\n", *o.out, o.format == Format::html ? ": open it in a browser" : "");
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Shows what every attention head looks at while a model writes an answer: as a page to\n"
      "explore, as a picture, as JSON, or in the terminal. Without --checkpoint a small\n"
      "Transformer and a GRU with attention are trained first, which takes some seconds.",
      "attention");
  Options options;
  add_options(app, options);
  return run_program(app, argc, argv, [&] { return run(app, options); });
}
