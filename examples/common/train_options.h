// The options of a training run, from the command line and settings files.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "examples/common/data.h"
#include "examples/common/trainer.h"
#include "examples/common/zoo.h"

namespace gradzoo::examples {

struct TrainOptions {
  ModelKind model = ModelKind::transformer;
  ZooConfig config;
  DataOptions data;
  TrainerOptions trainer;
  std::int64_t epochs = 0;       ///< 0: steps or time decide
  std::string time;              ///< "90s", "10m", "1h"; empty: steps decide
  std::int64_t valid_every = 0;  ///< steps; 0: at the end only
  std::int64_t patience = 0;     ///< validations without improvement before it stops; 0: never
  bool keep_best = false;        ///< ends with the best weights, not the last
  std::int64_t save_every = 0;
  std::optional<std::string> out, resume, settings;
  std::int64_t seed = 1;
  std::int64_t threads = 1;
  bool overfit_batch = false, check_grad = false, json = false;
};

/// Adds all options. Those of the model's config and some defaults depend on model and task, which
/// are looked for in the arguments (and in the settings file they name) before they are parsed.
void add_train_options(CLI::App& app, TrainOptions& options, int argc, char** argv);

/// After parsing: takes over the settings file, or the options of the run to be resumed; checks
/// what can be checked before any work. Throws UsageError for what does not go together.
void complete_options(CLI::App& app, TrainOptions& options);

/// Options that a settings file cannot have, since they are not of the run but of the call.
std::set<std::string> options_of_the_call();

/// "90s", "10m", "1.5h" or "90" in seconds. Throws UsageError for other text.
double parse_duration(const std::string& text);

}  // namespace gradzoo::examples
