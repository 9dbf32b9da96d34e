// A Transformer learns to copy or to reverse sequences, and shows what it learned.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/file.h"
#include "core/ops.h"
#include "core/scope.h"
#include "core/threads.h"
#include "examples/common/evaluate.h"
#include "examples/common/program.h"
#include "examples/common/progress.h"
#include "examples/common/tasks.h"
#include "models/decode.h"
#include "models/transformer.h"
#include "nn/config.h"
#include "nn/loss.h"
#include "nn/module.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/schedule.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

struct Options {
  Task task = Task::reverse;
  std::string model = "transformer";
  models::TransformerConfig config{.d_model = 64,
                                   .num_heads = 4,
                                   .num_encoder_layers = 2,
                                   .num_decoder_layers = 2,
                                   .d_ff = 256,
                                   .dropout = 0,
                                   .norm_first = true,
                                   .max_length = 64};
  std::int64_t steps = 1500;
  std::int64_t batch_size = 64;
  double lr = 2e-3;
  std::int64_t warmup_steps = 200;
  double clip_norm = 1;
  std::int64_t symbols = 20;
  std::int64_t longest = 20;
  std::int64_t seed = 1;
  std::int64_t threads = num_threads();
  std::optional<std::string> save, load;
  bool json = false;
};

void add_options(CLI::App& app, Options& o) {
  add_choice(app, "--task", o.task, "what to learn");
  app.add_option("--model", o.model, "architecture: transformer")->capture_default_str();
  add_number(app, "--steps", o.steps, 0, 1'000'000'000, "batches to train on");
  add_number(app, "--batch-size", o.batch_size, 1, 65536, "sequences in a batch");
  add_number(app, "--lr", o.lr, 0, 10, "highest learning rate of Adam");
  add_number(app, "--warmup-steps", o.warmup_steps, 0, 1'000'000'000, "steps to reach it");
  add_number(app, "--clip-norm", o.clip_norm, 1e-9, 1e9, "longest gradient that is not cut");
  add_number(app, "--symbols", o.symbols, 1, 100'000, "different symbols in the sequences");
  add_number(app, "--longest", o.longest, 1, 100'000, "symbols in the longest sequence");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of weights and data");
  add_number(app, "--threads", o.threads, 1, max_threads(), "threads of the kernels");
  app.add_option("--save", o.save, "write the weights to this file at the end");
  app.add_option("--load", o.load, "start from the weights in this file");
  app.add_flag("--json", o.json, "end with the results as one line of JSON");
  add_fields(app, o.config, {"source_vocab", "target_vocab"});  // the task decides
}

// Whatever the options make impossible is found here, before any work.
void check_options(const Options& o) {
  if (o.model != "transformer") {
    throw UsageError(fmt::format("--model: '{}' is not known; allowed: transformer", o.model));
  }
  if (o.longest + 1 > o.config.max_length) {
    throw UsageError(
        fmt::format("--longest: {} symbols and an end symbol do not fit the model's {} "
                    "positions (--max-length)",
                    o.longest, o.config.max_length));
  }
}

// A call whose Errors are the fault of the options.
template <class F>
auto as_usage(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

struct Training {
  std::int64_t steps = 0;
  double seconds = 0;
  double loss = 0;
};

Training train(const models::Transformer& model, TaskStream& data, const Options& o, Rng& rng) {
  const nn::NamedTensors parameters = nn::named_parameters(model);
  optim::Adam optimizer(parameters, {.lr = o.lr, .beta2 = 0.98, .eps = 1e-9});
  Progress progress(nn::choice_name(o.task), o.steps);
  Training result;
  for (std::int64_t step = 1; step <= o.steps && interrupted() == 0; ++step) {
    const Batch batch = make_batch(data.next(o.batch_size));
    const TrainingScope training(rng);
    const Tensor logits = model(batch.source, batch.lengths, batch.target_in);
    const Tensor loss = nn::sequence_cross_entropy(logits, batch.target_out, {.pad = models::kPad});
    optimizer.zero_grad();
    loss.backward();
    const double norm = optim::clip_grad_norm(parameters, o.clip_norm);
    optimizer.step(optim::cosine(step, o.steps + 1, std::min(o.warmup_steps, o.steps)));
    result = {step, progress.seconds(), loss.item()};
    progress.show(step, fmt::format("loss {:.4f}, gradient {:.2f}", result.loss, norm));
  }
  return result;
}

void print_answers(const Vocabulary& vocabulary, const std::vector<Pair>& pairs,
                   const Evaluation& evaluation, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, pairs.size()); ++i) {
    const bool right = evaluation.answers[i] == pairs[i].target;
    fmt::print("  source  {}\n  answer  {}  {}\n", vocabulary.decode(pairs[i].source),
               vocabulary.decode(evaluation.answers[i]), right ? "right" : "wrong");
  }
}

int run(const Options& o) {
  check_options(o);
  set_num_threads(static_cast<int>(o.threads));
  const Vocabulary vocabulary = task_vocabulary(o.task, o.symbols);
  const std::uint64_t seed = static_cast<std::uint64_t>(o.seed);
  Rng rng(seed);
  TaskStream training_data({o.task, Split::train, o.symbols, 1, o.longest, seed});
  TaskStream held_out(
      {o.task, Split::held_out, o.symbols, (o.longest + 1) / 2, o.longest, seed + 1});
  models::TransformerConfig config = o.config;
  config.source_vocab = config.target_vocab = vocabulary.size();
  const models::Transformer model = as_usage([&] { return models::Transformer(config, rng); });
  if (o.load) nn::load(*o.load, model);
  if (o.save) AtomicFile(*o.save);  // cannot be written: better now than after training
  fmt::print("{}: a Transformer with {} parameters, {} threads\n", nn::choice_name(o.task),
             nn::parameter_count(model), o.threads);
  flush_output();

  watch_interrupts();
  const Training result = train(model, training_data, o, rng);
  if (o.save) nn::save(*o.save, model, nn::config_metadata(model.config));
  if (interrupted() != 0) {
    fmt::print(stderr, "train: stopped after step {}\n", result.steps);
    return 128 + interrupted();
  }
  const std::vector<Pair> pairs = held_out.next(1000);
  const Evaluation evaluation = evaluate(model, pairs);
  fmt::print("{} steps in {:.1f} s, last loss {:.5f}\n", result.steps, result.seconds, result.loss);
  fmt::print(
      "held out, {} to {} symbols: {:.1f} % of {} sequences exactly right, {:.2f} % of tokens\n",
      (o.longest + 1) / 2, o.longest, 100 * evaluation.exact_match, pairs.size(),
      100 * evaluation.token_accuracy);
  print_answers(vocabulary, pairs, evaluation, 4);
  if (o.json) {
    const nlohmann::ordered_json json = {{"task", nn::choice_name(o.task)},
                                         {"model", o.model},
                                         {"parameters", nn::parameter_count(model)},
                                         {"steps", result.steps},
                                         {"seconds", result.seconds},
                                         {"loss", result.loss},
                                         {"exact_match", evaluation.exact_match},
                                         {"token_accuracy", evaluation.token_accuracy},
                                         {"seed", o.seed},
                                         {"threads", o.threads}};
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a Transformer to copy or reverse sequences.", "train");
  Options options;
  add_options(app, options);
  return run_program(app, argc, argv, [&] { return run(options); });
}
