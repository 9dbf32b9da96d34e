// compare: trains several models on one task, with equal budgets, and prints a table
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/threads.h"
#include "examples/common/attention_sample.h"
#include "examples/common/comparison.h"
#include "examples/common/evaluate.h"
#include "examples/common/program.h"
#include "examples/common/progress.h"
#include "examples/common/run_folder.h"
#include "examples/common/settings.h"
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
  std::optional<std::string> out;
  bool json = false;
};

// A model to compare: "gru:additive".
struct Entry {
  std::string name;
  ModelKind kind = ModelKind::transformer;
  ZooConfig config;
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

ComparisonRange held_out(const Options& o, std::int64_t shortest, std::int64_t longest,
                         std::uint64_t seed) {
  TaskStream stream({o.task, Split::held_out, o.symbols, shortest, longest, seed});
  const std::string name =
      shortest == longest ? fmt::format("{}", longest) : fmt::format("{} to {}", shortest, longest);
  return {name, stream.next(kMeasured)};
}

// Lines of metrics, where there is a folder for them.
class Log {
 public:
  Log(std::optional<RunFolder>& folder, std::string model)
      : folder_(folder), model_(std::move(model)) {}

  void step(std::int64_t number, const Trainer::Step& step) {
    if (!folder_) return;
    folder_->log({{"model", model_},
                  {"step", number},
                  {"loss", step.loss},
                  {"accuracy", token_accuracy(step.prediction)},
                  {"lr", step.lr},
                  {"gradient_norm", step.gradient_norm}});
  }
  void look(std::int64_t number, const Evaluation& evaluation) {
    if (!folder_) return;
    folder_->log({{"model", model_}, {"step", number}, {"exact_match", evaluation.exact_match}});
  }

 private:
  std::optional<RunFolder>& folder_;
  std::string model_;
};

// Trains until the budget is used or a signal comes. Looking and logging are not counted as
// training.
void train(ComparisonRow& row, const ZooModel& model, Trainer& trainer,
           const std::vector<Pair>& measured, const Options& o, Log log) {
  Progress progress(row.name);
  double measuring = 0;  // seconds
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
    if (number % 10 == 0 || trainer.done()) log.step(number, step);
    if (row.steps_to_learn == 0 && number % o.every == 0) {
      const Evaluation evaluation = evaluate(model, measured);
      log.look(number, evaluation);
      if (evaluation.exact_match >= kLearned) {
        row.steps_to_learn = number;
        row.seconds_to_learn = row.seconds;
      }
    }
    measuring = trainer.seconds() - row.seconds;
  }
  row.tokens_per_second = static_cast<double>(tokens) / std::max(row.seconds, 1e-9);
}

std::optional<AttentionView> attention_of(const ZooModel& model, const std::string& name,
                                          const std::vector<Pair>& pairs, const Options& o) {
  const Vocabulary vocabulary = task_vocabulary(o.task, o.symbols);
  std::vector<Ids> sources;
  for (const Pair& pair : pairs) sources.push_back(pair.source);
  return attention_sample({model, vocabulary, vocabulary}, name, sources);
}

ComparisonRow compared(const Entry& entry, const std::vector<ComparisonRange>& ranges,
                       const Options& o, std::optional<RunFolder>& folder) {
  const auto seed = static_cast<std::uint64_t>(o.seed);
  Rng rng(seed);
  const ZooModel model = make_model(entry.config, rng);
  TaskBatches data({o.task, Split::train, o.symbols, 1, o.longest, seed}, o.batch_size);
  Trainer trainer(model, data,
                  {.lr = small_lr(entry.kind),
                   .warmup_steps = std::min<std::int64_t>(200, o.steps / 5),
                   .steps = o.steps,
                   .seed = seed});
  ComparisonRow row;
  row.name = entry.name;
  row.parameters = parameter_count(model);
  train(row, model, trainer, ranges.front().pairs, o, Log(folder, entry.name));
  if (interrupted() != 0) return row;
  for (const ComparisonRange& range : ranges) row.ranges.push_back(evaluate(model, range.pairs));
  if (folder) row.attention = attention_of(model, entry.name, ranges.front().pairs, o);
  return row;
}

// The models, sized for the task. Throws UsageError for one that cannot read the longest sequences.
std::vector<Entry> entries_for(const Options& o, const Vocabulary& vocabulary) {
  const bool add = o.task == Task::add;
  const std::int64_t most = o.longest + kBeyond;
  std::vector<Entry> entries;
  for (const std::string& name : o.models) {
    if (std::count(o.models.begin(), o.models.end(), name) > 1) {
      throw UsageError(fmt::format("--models: '{}' is there twice", name));
    }
    entries.push_back(entry_named(name));
    ZooConfig& config = entries.back().config;
    set_vocabularies(config, vocabulary, vocabulary);
    if (!fits(config, add ? 2 * most + 1 : most, add ? most + 1 : most)) {
      throw UsageError(fmt::format("--longest: {} symbols and {} more do not fit {}'s {} places",
                                   o.longest, kBeyond, name, places(config)));
    }
  }
  return entries;
}

Comparison described(const Options& o) {
  const auto seed = static_cast<std::uint64_t>(o.seed);
  const std::int64_t half = (o.longest + 1) / 2;
  const char* task = nn::choice_name(o.task);
  return {fmt::format("{}: models compared", task),
          fmt::format("{}: each model learns from {} batches of {} sequences of 1 to {} {}, with "
                      "Adam, {} threads.\nMeasured on {} held-out sequences of each range of "
                      "lengths; those over {} are longer than any\ntrained on.",
                      task, o.steps, o.batch_size, o.longest,
                      o.task == Task::add ? "digits" : "symbols", o.threads, kMeasured, o.longest),
          {held_out(o, half, o.longest, seed + 1), held_out(o, o.longest, o.longest, seed + 2),
           held_out(o, o.longest + 1, o.longest + kBeyond, seed + 3)},
          {}};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

int run(const CLI::App& app, const Options& o) {
  set_num_threads(static_cast<int>(o.threads));
  const Vocabulary vocabulary = task_vocabulary(o.task, o.symbols);
  const std::vector<Entry> entries = entries_for(o, vocabulary);
  Comparison comparison = described(o);
  const std::string settings = "models = " + joined(o.models) + "\n" +
                               settings_text(app, {"models", "out", "json", "threads"});
  std::optional<RunFolder> folder;
  if (o.out) folder = RunFolder::create(*o.out, settings);
  fmt::print("{}\n\n", comparison.about);
  flush_output();
  watch_interrupts();
  for (const Entry& entry : entries) {
    const ComparisonRow row = compared(entry, comparison.ranges, o, folder);
    if (interrupted() != 0) {
      fmt::print(stderr, "compare: stopped while {} was learning\n", entry.name);
      break;
    }
    comparison.rows.push_back(row);
  }
  print_table(comparison);
  if (o.json) {
    for (const ComparisonRow& row : comparison.rows) {
      fmt::print("{}\n", comparison_json(row, comparison.ranges).dump());
    }
  }
  flush_output();
  if (folder) {
    write_comparison_report(*folder, comparison, vocabulary, settings);
    if (!o.json) fmt::print("report: {}\n", folder->report());
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
  app.add_option("--out", o.out, "folder for metrics and report.html");
  app.add_flag("--json", o.json, "end with a line of JSON for each model");
  return run_program(app, argc, argv, [&] { return run(app, o); });
}
