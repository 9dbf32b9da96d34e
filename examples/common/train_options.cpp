// The options of a training run.
#include "examples/common/train_options.h"

#include <algorithm>

#include "core/threads.h"
#include "examples/common/names.h"
#include "examples/common/program.h"
#include "examples/common/run_folder.h"
#include "examples/common/settings.h"
#include "examples/common/text.h"

namespace gradzoo::examples {
namespace {

// The last value of an option among arguments that are not parsed yet.
std::optional<std::string> argument(int argc, char** argv, const std::string& name) {
  std::optional<std::string> value;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == name && i + 1 < argc) value = argv[i + 1];
    if (text.starts_with(name + "=")) value = text.substr(name.size() + 1);
  }
  return value;
}

// The value of a key of a settings file; none when there is no such line or file: what is wrong
// with the file is found later.
std::optional<std::string> setting(const std::string& path, const std::string& key) {
  try {
    for (const TextLine& line : read_lines(path).good) {
      const std::size_t equals = line.text.find('=');
      if (equals == std::string::npos) continue;
      const auto words = tokenize(Level::word, line.text.substr(0, equals));
      const auto value = tokenize(Level::word, line.text.substr(equals + 1));
      if (words.size() == 1 && words[0] == key && value.size() == 1) return value[0];
    }
  } catch (const Error&) {
  }
  return std::nullopt;
}

// The choice that a program is called with, or that its settings file or resumed run has; for
// options whose defaults depend on it. Another name is refused by the option itself.
template <nn::Choice E>
E choice_in(int argc, char** argv, const std::string& key, E choice) {
  std::optional<std::string> name = argument(argc, argv, "--" + key);
  if (const auto path = argument(argc, argv, "--config"); !name && path) name = setting(*path, key);
  if (const auto folder = argument(argc, argv, "--resume"); !name && folder) {
    name = setting(RunFolder::settings(*folder), key);
  }
  if (name) nn::parse_config(*name, choice);
  return choice;
}

void add_data_options(CLI::App& app, DataOptions& o) {
  constexpr std::int64_t many = 1'000'000'000;
  add_choice(app, "--task", o.task, "what to learn");
  add_number(app, "--symbols", o.symbols, 1, 100'000, "different symbols of copy, reverse, sort");
  add_number(app, "--shortest", o.shortest, 1, 100'000, "symbols (digits) of the shortest source");
  add_number(app, "--longest", o.longest, 1, 100'000, "symbols (digits) of the longest source");
  app.add_option("--train", o.train, "pairs to learn: a file with two columns, or the sources");
  app.add_option("--train-target", o.train_target, "the targets, line by line");
  app.add_option("--valid", o.valid, "pairs to measure with, likewise");
  app.add_option("--valid-target", o.valid_target, "their targets");
  app.add_option("--text", o.text, "a text to learn character by character (decoder_lm)");
  add_choice(app, "--level", o.level, "tokens of the pairs");
  add_number(app, "--min-count", o.min_count, 1, many, "rarer tokens are unknown ones");
  add_number(app, "--context", o.context, 1, 100'000, "characters of a text read at once");
  add_number(app, "--batch-size", o.batch_size, 1, 65536, "sequences in a batch");
  add_number(app, "--max-tokens", o.max_tokens, 0, many,
             "ids in a batch of pairs, padding included; 0: --batch-size decides");
}

void add_trainer_options(CLI::App& app, TrainOptions& options) {
  constexpr std::int64_t many = 1'000'000'000;
  TrainerOptions& o = options.trainer;
  add_number(app, "--steps", o.steps, 0, many, "batches to train on");
  add_number(app, "--epochs", options.epochs, 0, many, "passes over the pairs, instead");
  app.add_option("--time", options.time, "how long to train, instead: 90s, 10m, 1h");
  add_choice(app, "--optimizer", o.optimizer, "how weights follow gradients");
  add_number(app, "--lr", o.lr, 0, 10, "highest learning rate");
  add_number(app, "--beta2", o.beta2, 0, 0.999999, "of adam and adamw");
  add_number(app, "--momentum", o.momentum, 0, 0.999999, "of sgd");
  add_number(app, "--weight-decay", o.weight_decay, 0, 10, "of matrices");
  add_choice(app, "--schedule", o.schedule, "the learning rate over time");
  add_number(app, "--warmup-steps", o.warmup_steps, 0, many, "steps to the highest rate");
  add_number(app, "--lr-floor", o.lr_floor, 0, 1, "part of --lr that cosine and plateau leave");
  add_number(app, "--clip-norm", o.clip_norm, 0, 1e9, "longest gradient that is not cut; 0: any");
  add_number(app, "--label-smoothing", o.label_smoothing, 0, 1, "spread over all tokens");
}

void add_run_options(CLI::App& app, TrainOptions& o) {
  constexpr std::int64_t many = 1'000'000'000;
  add_number(app, "--valid-every", o.valid_every, 0, many, "steps; 0: at the end only");
  add_number(app, "--patience", o.patience, 0, many,
             "validations without improvement before it stops; 0: it does not");
  app.add_flag("--keep-best", o.keep_best, "end with the best weights, not with the last");
  add_number(app, "--save-every", o.save_every, 0, many, "steps; 0: at the end only");
  app.add_option("--out", o.out,
                 "folder for model, metrics, report.html and everything to go on with");
  app.add_option("--resume", o.resume, "continue the run in this folder");
  app.add_option("--config", o.settings, "file of options, 'key = value' a line");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of weights and data");
  o.threads = num_threads();
  add_number(app, "--threads", o.threads, 1, max_threads(), "threads of the kernels");
  app.add_flag("--overfit-batch", o.overfit_batch, "learn one batch by heart");
  app.add_flag("--check-grad", o.check_grad, "compare gradients with differences, and stop");
  app.add_flag("--detect-anomaly", o.trainer.detect_anomaly, "name the operation that makes a NaN");
  app.add_flag("--json", o.json, "end with the results as one line of JSON");
}

void refuse(bool wrong, const std::string& message) {
  if (wrong) throw UsageError(message);
}

// A resumed run keeps its options; these alone may be given again.
void resume_options(CLI::App& app, const std::string& folder) {
  const std::set<std::string> free{"resume", "steps", "time", "threads", "json"};
  for (const CLI::Option* option : app.get_options(nullptr)) {
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    refuse(option->count() > 0 && !free.contains(name),
           "--" + name +
               ": a resumed run keeps its options; --steps, --time, --threads and --json "
               "may be given");
  }
  apply_settings(app, RunFolder::settings(folder), options_of_the_call());
}

}  // namespace

std::set<std::string> options_of_the_call() {
  return {"out", "resume", "config", "json", "check-grad", "threads"};
}

double parse_duration(const std::string& text) {
  double unit = 1, value = 0;
  std::string number = text;
  if (!text.empty()) {
    const char last = text.back();
    unit = last == 'h' ? 3600 : last == 'm' ? 60 : 1;
    if (last == 'h' || last == 'm' || last == 's') number.pop_back();
  }
  refuse(!nn::parse_config(number, value) || value <= 0 || value * unit > 1e9,
         fmt::format("--time: '{}' is not a time such as 90s, 10m or 1h", text));
  return value * unit;
}

void add_train_options(CLI::App& app, TrainOptions& options, int argc, char** argv) {
  options.model = choice_in(argc, argv, "model", options.model);
  options.config = small_config(options.model);
  options.trainer.lr = small_lr(options.model);
  options.trainer.steps = small_steps(options.model);
  options.data.task = choice_in(argc, argv, "task", options.data.task);
  if (options.data.task == Task::add) options.data.longest = 3;
  add_choice(app, "--model", options.model, "architecture");
  add_data_options(app, options.data);
  add_trainer_options(app, options);
  add_run_options(app, options);
  std::visit([&](auto& c) { add_fields(app, c, decided_fields(options.model)); }, options.config);
}

void complete_options(CLI::App& app, TrainOptions& o) {
  if (o.resume) resume_options(app, *o.resume);
  if (o.settings) apply_settings(app, *o.settings, {"resume", "config"});
  o.data.seed = o.trainer.seed = static_cast<std::uint64_t>(o.seed);
  if (!o.time.empty()) o.trainer.seconds = parse_duration(o.time);
  const DataOptions& d = o.data;
  refuse(o.epochs > 0 && !o.time.empty(), "--epochs and --time: only one of them can decide");
  refuse(o.epochs > 0 && !d.train, "--epochs: only pairs (--train) have an end; use --steps");
  refuse(d.train && d.text, "--train and --text: only one of them can be learned");
  refuse(d.train.has_value() != d.valid.has_value(), "--train and --valid: both are needed");
  refuse(d.train_target.has_value() != d.valid_target.has_value(),
         "--train-target and --valid-target: both are needed, or neither");
  refuse(d.train_target && !d.train, "--train-target: the sources (--train) are missing");
  refuse(d.max_tokens > 0 && !d.train, "--max-tokens: only pairs (--train) are batched by length");
  refuse(d.text && o.model != ModelKind::decoder_lm, "--text: needs --model decoder_lm");
  refuse(d.shortest > d.longest,
         fmt::format("--shortest: {} is more than --longest {}", d.shortest, d.longest));
  refuse(o.patience > 0 && o.valid_every == 0, "--patience: needs --valid-every");
  refuse(o.keep_best && (o.valid_every == 0 || !(o.out || o.resume)),
         "--keep-best: needs --valid-every and --out");
  refuse(o.save_every > 0 && !(o.out || o.resume), "--save-every: needs --out");
  refuse(o.out && o.resume, "--out and --resume: a resumed run stays in its folder");
}

}  // namespace gradzoo::examples
