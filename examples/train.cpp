// train: trains a model to copy, reverse, sort, add, translate or write text
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/threads.h"
#include "examples/common/check_grad.h"
#include "examples/common/evaluate.h"
#include "examples/common/program.h"
#include "examples/common/progress.h"
#include "examples/common/run_folder.h"
#include "examples/common/run_report.h"
#include "examples/common/settings.h"
#include "examples/common/train_options.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

constexpr int kDiverged = 3;
constexpr std::int64_t kHeldOut = 1000;

// A call whose Errors are the fault of the options.
template <class F>
auto as_usage(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

// The same batch again and again.
class OneBatch : public BatchStream {
 public:
  explicit OneBatch(Batch batch) : batch_(std::move(batch)) {}
  Batch next() override { return batch_; }
  Ids position() const override { return {}; }
  void seek(const Ids&) override {}

 private:
  Batch batch_;
};

// Everything a run needs, and what it has come to.
struct Run {
  const TrainOptions& options;
  Data data;
  ZooModel model;
  std::optional<RunFolder> folder;
  std::int64_t saved_step = -1;  // of last.safetensors
  std::string settings{};        // the options, as text
  std::optional<Evaluation> evaluation{};
};

double validation_loss(const Run& run) {
  if (run.data.is_text()) {
    return mean_loss(run.model, run.data.held_out_text, run.options.data.context);
  }
  return mean_loss(run.model, run.data.held_out);
}

void save_last(Run& run, Trainer& trainer) {
  if (!run.folder) return;
  trainer.save(run.folder->last());
  run.saved_step = trainer.state().step;
}

void validate(Run& run, Trainer& trainer) {
  const double loss = validation_loss(run);
  const bool best = trainer.validated(loss);
  if (!run.folder) return;
  run.folder->log({{"step", trainer.state().step}, {"valid_loss", loss}, {"best", best}});
  if (!best) return;
  save_checkpoint(run.folder->model(),
                  {run.model, run.data.source, run.data.target, run.data.is_text()});
}

std::vector<std::string> status(const Trainer::Step& step, double tokens_per_second) {
  return {fmt::format("loss {:.4f}", step.loss),
          fmt::format("acc {:.1f} %", 100 * token_accuracy(step.prediction)),
          fmt::format("lr {:.1e}", step.lr), fmt::format("gradient {:.2f}", step.gradient_norm),
          fmt::format("{:.0f} tokens/s", tokens_per_second)};
}

const char* data_name(const TrainOptions& o) {
  return o.data.text ? "text" : o.data.train ? "pairs" : nn::choice_name(o.data.task);
}

// After each step: what is shown, logged, measured and saved.
void after_step(Run& run, Trainer& trainer, Progress& progress, const Trainer::Step& step,
                double tokens_per_second) {
  const TrainOptions& o = run.options;
  const std::int64_t number = trainer.state().step;
  if (progress.is_due(trainer.progress())) {
    const std::string count = o.trainer.seconds > 0 ? fmt::format("step {}", number)
                                                    : fmt::format("{}/{}", number, o.trainer.steps);
    progress.show(trainer.progress(), count, status(step, tokens_per_second));
  }
  if (run.folder && (number % 10 == 0 || trainer.done())) {
    run.folder->log({{"step", number},
                     {"loss", step.loss},
                     {"accuracy", token_accuracy(step.prediction)},
                     {"lr", step.lr},
                     {"gradient_norm", step.gradient_norm},
                     {"tokens_per_second", std::round(tokens_per_second)}});
  }
  if (o.valid_every > 0 && number % o.valid_every == 0) validate(run, trainer);
  if (o.save_every > 0 && number % o.save_every == 0) save_last(run, trainer);
}

// Trains until the budget is used, patience has run out, or a signal comes; the last loss, if there
// was a step.
std::optional<double> train(Run& run, Trainer& trainer) {
  const TrainOptions& o = run.options;
  Progress progress(data_name(o), trainer.progress());
  const double began = trainer.seconds();
  std::int64_t tokens = 0;
  std::optional<double> loss;
  while (!trainer.done() && interrupted() == 0) {
    const Trainer::Step step = trainer.step();
    loss = step.loss;
    tokens += step.tokens;
    after_step(run, trainer, progress, step,
               static_cast<double>(tokens) / std::max(trainer.seconds() - began, 1e-9));
    if (o.patience > 0 && trainer.state().without_improvement >= o.patience) break;
  }
  return loss;
}

void print_answers(const Run& run, const Evaluation& evaluation, std::size_t count) {
  const std::vector<Pair>& pairs = run.data.held_out;
  for (std::size_t i = 0; i < std::min(count, pairs.size()); ++i) {
    const bool right = evaluation.answers[i] == pairs[i].target;
    fmt::print("  source  {}\n  answer  {}  {}\n", run.data.source.decode(pairs[i].source),
               run.data.target.decode(evaluation.answers[i]), right ? "right" : "wrong");
  }
}

// Exact match of the pairs with the longest sources.
double longest_exact_match(const std::vector<Pair>& pairs, const Evaluation& evaluation) {
  std::size_t longest = 0, all = 0, right = 0;
  for (const Pair& pair : pairs) longest = std::max(longest, pair.source.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].source.size() < longest) continue;
    ++all;
    right += evaluation.answers[i] == pairs[i].target ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(all, 1));
}

// Measures the model on held-out data, prints it, and adds it to the results.
void measure(Run& run, nlohmann::ordered_json& results) {
  const double loss = validation_loss(run);
  results["valid_loss"] = loss;
  if (run.data.is_text()) {
    fmt::print("held out: {:.4f} nats, {:.4f} bits a character\n", loss, loss / std::log(2.0));
    return;
  }
  run.evaluation = evaluate(run.model, run.data.held_out);
  const Evaluation& evaluation = *run.evaluation;
  results["exact_match"] = evaluation.exact_match;
  results["token_accuracy"] = evaluation.token_accuracy;
  results["exact_match_longest"] = longest_exact_match(run.data.held_out, evaluation);
  const DataOptions& d = run.options.data;
  const std::string which = d.train ? *d.valid
                                    : fmt::format("{} to {} {}", held_out_shortest(d), d.longest,
                                                  d.task == Task::add ? "digits" : "symbols");
  fmt::print("held out, {}: {:.1f} % of {} sequences exactly right, {:.2f} % of tokens\n", which,
             100 * evaluation.exact_match, run.data.held_out.size(),
             100 * evaluation.token_accuracy);
  print_answers(run, evaluation, 4);
}

int check_gradients(const Run& run, std::uint64_t seed) {
  Rng rng(seed);
  const auto checks = check_directions(run.model, run.data.training->next(), rng);
  std::size_t longest = 0, wrong = 0;
  for (const DirectionCheck& check : checks) longest = std::max(longest, check.name.size());
  fmt::print("{:{}}  {:>12}  {:>12}  {:>8}\n", "weight", longest, "backward", "difference",
             "error");
  for (const DirectionCheck& check : checks) {
    wrong += check.ok ? 0 : 1;
    fmt::print("{:{}}  {:12.5e}  {:12.5e}  {:8.1e}{}\n", check.name, longest, check.analytic,
               check.numeric, check.error, check.ok ? "" : "  wrong");
  }
  fmt::print("{} of {} weights have the gradient that differences say\n", checks.size() - wrong,
             checks.size());
  return wrong == 0 ? kDone : kCheckFailed;
}

// Lines of the files that are not used: all are counted, the first are shown.
void report_bad_lines(const std::vector<BadLine>& bad) {
  constexpr std::size_t shown = 20;
  for (std::size_t i = 0; i < std::min(shown, bad.size()); ++i) {
    fmt::print(stderr, "train: {}\n", to_text(bad[i]));
  }
  if (!bad.empty()) fmt::print(stderr, "train: {} lines are not used\n", bad.size());
}

Run make_run(TrainOptions& o, const std::string& settings) {
  const bool files = o.data.text || o.data.train;
  const auto make = [&] { return make_data(o.data, o.config, kHeldOut); };
  Data data = files ? make() : as_usage(make);
  report_bad_lines(data.bad);
  if (o.epochs > 0) o.trainer.steps = o.epochs * data.training->batches_per_epoch();
  if (o.overfit_batch) data.training = std::make_unique<OneBatch>(data.training->next());
  Rng rng(o.trainer.seed);
  ZooModel model = as_usage([&] { return make_model(o.config, rng); });
  Run run{o, std::move(data), std::move(model), std::nullopt};
  run.settings = settings;
  if (o.out && !o.check_grad) run.folder = RunFolder::create(*o.out, settings);
  return run;
}

// What to say when weights or gradients are no numbers any more.
std::string last_good(const Run& run) {
  if (run.saved_step >= 0) {
    return fmt::format("{}, of step {}, is good", run.folder->last(), run.saved_step);
  }
  return "nothing was saved (see --out and --save-every)";
}

// Everything is saved and printed before: whatever happens here spoils nothing.
void write_report(const Run& run, const std::string& how, const nlohmann::ordered_json& results,
                  bool diverged = false) {
  if (!run.folder) return;
  flush_output();
  const char* model = nn::choice_name(run.options.model);
  write_run_report(*run.folder, {fmt::format("{}: {}", data_name(run.options), model), how, results,
                                 run.settings, run.data, run.model, run.evaluation, diverged});
  if (!run.options.json) fmt::print("report: {}\n", run.folder->report());
}

nlohmann::ordered_json results_so_far(const Run& run, const Trainer& trainer) {
  return {{"data", data_name(run.options)},
          {"model", nn::choice_name(run.options.model)},
          {"parameters", parameter_count(run.model)},
          {"steps", trainer.state().step},
          {"seconds", trainer.seconds()}};
}

int stopped(const Run& run, const Trainer& trainer) {
  const std::string how = fmt::format("stopped after step {}", trainer.state().step);
  fmt::print(stderr, "train: {}{}\n", how,
             run.folder ? ", everything is saved: --resume continues" : "");
  write_report(run, how, results_so_far(run, trainer));
  return 128 + interrupted();
}

int diverged(const Run& run, const Trainer& trainer, const Diverged& error) {
  fmt::print(stderr, "train: {}; {}\n", error.what(), last_good(run));
  write_report(run, fmt::format("diverged: {}", error.what()), results_so_far(run, trainer), true);
  return kDiverged;
}

int finish(Run& run, Trainer& trainer, const std::optional<double>& loss) {
  const TrainOptions& o = run.options;
  save_last(run, trainer);
  if (interrupted() != 0) return stopped(run, trainer);
  const TrainerState& state = trainer.state();
  const bool validated = o.valid_every > 0 && state.step % o.valid_every == 0;
  if (!validated && state.step > 0) validate(run, trainer);
  if (o.keep_best) run.model = load_checkpoint(run.folder->model()).model;
  nlohmann::ordered_json results = results_so_far(run, trainer);
  results["loss"] = loss ? nlohmann::ordered_json(*loss) : nlohmann::ordered_json();
  const std::string how = fmt::format("{} steps in {:.1f} s", state.step, trainer.seconds());
  fmt::print("{}{}\n", how, loss ? fmt::format(", last loss {:.5f}", *loss) : "");
  measure(run, results);
  results["seed"] = o.seed;
  results["threads"] = o.threads;
  if (o.json) fmt::print("{}\n", results.dump());
  write_report(run, how, results);
  return kDone;
}

int run(CLI::App& app, TrainOptions& o) {
  complete_options(app, o);
  set_num_threads(static_cast<int>(o.threads));
  Run run = make_run(o, settings_text(app, options_of_the_call()));
  if (o.check_grad) return check_gradients(run, o.trainer.seed);
  Trainer trainer(run.model, *run.data.training, o.trainer);
  if (o.resume) {
    trainer.load(RunFolder::last(*o.resume));
    run.folder = RunFolder::reopen(*o.resume, trainer.state().step);
    run.saved_step = trainer.state().step;
  }
  fmt::print("{}: {} with {} parameters, {} threads\n", data_name(o), nn::choice_name(o.model),
             parameter_count(run.model), o.threads);
  flush_output();
  watch_interrupts();
  try {
    return finish(run, trainer, train(run, trainer));
  } catch (const Diverged& error) {
    return diverged(run, trainer, error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a model to copy, reverse, sort, add, translate or write text.", "train");
  TrainOptions options;
  add_train_options(app, options, argc, argv);
  return run_program(app, argc, argv, [&] { return run(app, options); });
}
