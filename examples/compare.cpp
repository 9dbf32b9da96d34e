// compare: trains several models on one task, with equal budgets, and prints a table
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/threads.h"
#include "examples/common/evaluate.h"
#include "examples/common/program.h"
#include "examples/common/progress.h"
#include "examples/common/tasks.h"
#include "examples/common/trainer.h"
#include "examples/common/zoo.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

constexpr double kLearned = 0.99;        // exact match, of the held-out sequences
constexpr std::int64_t kMeasured = 500;  // sequences
constexpr std::int64_t kBeyond = 5;      // symbols more than the longest trained on

struct Options {
  std::vector<std::string> models{"transformer",    "gru:none",    "gru:dot",
                                  "gru:scaled_dot", "gru:general", "gru:reduced_rank",
                                  "gru:additive"};
  Task task = Task::reverse;
  std::int64_t symbols = 20, longest = 20;
  std::int64_t steps = 3000, every = 100, batch_size = 64;
  std::int64_t seed = 1, threads = num_threads();
  bool json = false;
};

// A model to compare: "gru:additive".
struct Entry {
  std::string name;
  ModelKind kind = ModelKind::transformer;
  ZooConfig config;
};

// Held-out sequences of one range of lengths.
struct Range {
  std::string name;  // "10 to 20"
  std::vector<Pair> pairs;
};

struct Row {
  std::string name;
  std::int64_t parameters = 0;
  std::int64_t steps_to_learn = 0;  // 0: not learned
  double seconds_to_learn = 0;
  double seconds = 0, tokens_per_second = 0;
  std::vector<Evaluation> ranges;
};

Entry entry_named(const std::string& name) {
  const std::size_t colon = name.find(':');
  Entry entry;
  entry.name = name;
  const std::string model = name.substr(0, colon);
  if (!nn::parse_config(model, entry.kind)) {
    throw UsageError(fmt::format("--models: '{}' is not {}", model, nn::config_kind(entry.kind)));
  }
  entry.config = small_config(entry.kind);
  if (colon == std::string::npos) return entry;
  auto* recurrent = std::get_if<models::RNNSeq2SeqConfig>(&entry.config);
  if (recurrent == nullptr) {
    throw UsageError(fmt::format("--models: '{}': {} has no choice of attention", name, model));
  }
  const std::string attention = name.substr(colon + 1);
  if (!nn::parse_config(attention, recurrent->attention)) {
    throw UsageError(
        fmt::format("--models: '{}' is not {}", attention, nn::config_kind(recurrent->attention)));
  }
  return entry;
}

Range held_out(const Options& o, std::int64_t shortest, std::int64_t longest, std::uint64_t seed) {
  TaskStream stream({o.task, Split::held_out, o.symbols, shortest, longest, seed});
  const std::string name =
      shortest == longest ? fmt::format("{}", longest) : fmt::format("{} to {}", shortest, longest);
  return {name, stream.next(kMeasured)};
}

Row train(const Entry& entry, const std::vector<Range>& ranges, const Options& o) {
  const auto seed = static_cast<std::uint64_t>(o.seed);
  Rng rng(seed);
  const ZooModel model = make_model(entry.config, rng);
  TaskBatches data({o.task, Split::train, o.symbols, 1, o.longest, seed}, o.batch_size);
  Trainer trainer(model, data,
                  {.lr = small_lr(entry.kind),
                   .warmup_steps = std::min<std::int64_t>(200, o.steps / 5),
                   .steps = o.steps,
                   .seed = seed});
  Row row;
  row.name = entry.name;
  row.parameters = parameter_count(model);
  Progress progress(entry.name);
  double measuring = 0;  // seconds that are not training
  std::int64_t tokens = 0;
  while (!trainer.done() && interrupted() == 0) {
    const Trainer::Step step = trainer.step();
    tokens += step.tokens;
    const std::int64_t number = trainer.state().step;
    if (progress.is_due(trainer.progress())) {
      progress.show(trainer.progress(), fmt::format("{}/{}", number, o.steps),
                    {fmt::format("loss {:.4f}", step.loss)});
    }
    row.seconds = trainer.seconds() - measuring;
    if (row.steps_to_learn > 0 || number % o.every != 0) continue;
    const double before = trainer.seconds();
    if (evaluate(model, ranges.front().pairs).exact_match >= kLearned) {
      row.steps_to_learn = number;
      row.seconds_to_learn = row.seconds;
    }
    measuring += trainer.seconds() - before;
  }
  row.tokens_per_second = static_cast<double>(tokens) / std::max(row.seconds, 1e-9);
  for (const Range& range : ranges) row.ranges.push_back(evaluate(model, range.pairs));
  return row;
}

void print_table(const std::vector<Row>& rows, const std::vector<Range>& ranges) {
  fmt::print("{:<16} {:>10} {:>9} {:>9} {:>9}", "", "", "to 99 %", "to 99 %", "");
  for (const Range& range : ranges) fmt::print("  {:^15}", range.name);
  fmt::print("\n{:<16} {:>10} {:>9} {:>9} {:>9}", "model", "parameters", "steps", "seconds",
             "tokens/s");
  for (std::size_t i = 0; i < ranges.size(); ++i) fmt::print("  {:>7} {:>7}", "exact", "tokens");
  fmt::print("\n");
  for (const Row& row : rows) {
    const bool learned = row.steps_to_learn > 0;
    fmt::print("{:<16} {:>10} {:>9} {:>9} {:>9.0f}", row.name, row.parameters,
               learned ? fmt::format("{}", row.steps_to_learn) : "never",
               learned ? fmt::format("{:.1f}", row.seconds_to_learn) : "never",
               row.tokens_per_second);
    for (const Evaluation& range : row.ranges) {
      fmt::print("  {:>5.1f} % {:>5.1f} %", 100 * range.exact_match, 100 * range.token_accuracy);
    }
    fmt::print("\n");
  }
}

nlohmann::ordered_json as_json(const Row& row, const std::vector<Range>& ranges) {
  nlohmann::ordered_json json = {{"model", row.name},
                                 {"parameters", row.parameters},
                                 {"steps_to_99", row.steps_to_learn},
                                 {"seconds_to_99", row.seconds_to_learn},
                                 {"seconds", row.seconds},
                                 {"tokens_per_second", row.tokens_per_second}};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    json["lengths"][ranges[i].name] = {{"exact_match", row.ranges[i].exact_match},
                                       {"token_accuracy", row.ranges[i].token_accuracy}};
  }
  return json;
}

int run(const Options& o) {
  set_num_threads(static_cast<int>(o.threads));
  std::vector<Entry> entries;
  const Vocabulary vocabulary = task_vocabulary(o.task, o.symbols);
  const bool add = o.task == Task::add;
  const std::int64_t most = o.longest + kBeyond;
  for (const std::string& name : o.models) {
    entries.push_back(entry_named(name));
    ZooConfig& config = entries.back().config;
    set_vocabularies(config, vocabulary, vocabulary);
    if (!fits(config, add ? 2 * most + 1 : most, add ? most + 1 : most)) {
      throw UsageError(fmt::format("--longest: {} symbols and {} more do not fit {}'s {} places",
                                   o.longest, kBeyond, name, places(config)));
    }
  }
  const auto seed = static_cast<std::uint64_t>(o.seed);
  const std::int64_t half = (o.longest + 1) / 2;
  const std::vector<Range> ranges{held_out(o, half, o.longest, seed + 1),
                                  held_out(o, o.longest, o.longest, seed + 2),
                                  held_out(o, o.longest + 1, most, seed + 3)};
  fmt::print(
      "{}: each model learns from {} batches of {} sequences of 1 to {} {}, with Adam, {} "
      "threads.\nMeasured on {} held-out sequences of each range of lengths; those over {} "
      "are longer than any\ntrained on.\n\n",
      nn::choice_name(o.task), o.steps, o.batch_size, o.longest, add ? "digits" : "symbols",
      o.threads, kMeasured, o.longest);
  flush_output();
  watch_interrupts();
  std::vector<Row> rows;
  for (const Entry& entry : entries) {
    rows.push_back(train(entry, ranges, o));
    if (interrupted() != 0) {
      fmt::print(stderr, "compare: stopped while {} was learning\n", entry.name);
      rows.pop_back();
      break;
    }
  }
  print_table(rows, ranges);
  if (o.json) {
    for (const Row& row : rows) fmt::print("{}\n", as_json(row, ranges).dump());
  }
  return interrupted() != 0 ? 128 + interrupted() : kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains several models on one task, with equal budgets, and prints a table.",
               "compare");
  Options o;
  app.add_option("--models", o.models, "separated by commas; NAME:ATTENTION for rnn, lstm and gru")
      ->delimiter(',')
      ->capture_default_str();
  add_choice(app, "--task", o.task, "what to learn");
  add_number(app, "--steps", o.steps, 1, 1'000'000'000, "batches to train each model on");
  add_number(app, "--every", o.every, 1, 1'000'000'000,
             "steps between two looks at how well it does");
  add_number(app, "--batch-size", o.batch_size, 1, 65536, "sequences in a batch");
  add_number(app, "--symbols", o.symbols, 1, 100'000, "different symbols in the sequences");
  add_number(app, "--longest", o.longest, 1, 100'000, "symbols (digits) of the longest source");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of weights and data");
  add_number(app, "--threads", o.threads, 1, max_threads(), "threads of the kernels");
  app.add_flag("--json", o.json, "end with a line of JSON for each model");
  return run_program(app, argc, argv, [&] { return run(o); });
}
