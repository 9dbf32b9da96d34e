// What every example program does alike: options, exit codes, one-line errors, stopping politely.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "core/error.h"
#include "nn/config.h"

namespace gradzoo::examples {

/// A mistake in how a program was called: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Exit codes of every program; one that was stopped by signal n ends with 128 + n.
inline constexpr int kDone = 0, kFileError = 1, kUsageError = 2, kCheckFailed = 4;

/// Parses `app` (adding --version; of a repeated option the last counts), runs `body` and returns
/// the exit code. Mistakes in the options and UsageError are one line on stderr and exit code 2,
/// other Errors one line and exit code 1; so is output that could not be written.
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

/// An option for a whole number in [low, high]; other text is refused, quoting it and the range.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value,
                        std::int64_t low, std::int64_t high, const std::string& about);
/// An option for a finite number in [low, high].
CLI::Option* add_number(CLI::App& app, const std::string& name, double& value, double low,
                        double high, const std::string& about);

/// An option for one of the names of an enum; others are refused, naming those that are allowed.
template <nn::Choice E>
CLI::Option* add_choice(CLI::App& app, const std::string& name, E& value,
                        const std::string& about) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) {
            if (nn::parse_config(text, value)) return;
            throw CLI::ValidationError(
                fmt::format("{}: '{}' is not {}", name, text, nn::config_kind(value)));
          },
          about + ": " + nn::config_kind(value))
      ->type_name("NAME")
      ->default_str(nn::choice_name(value));
}

/// Options for every field of a config: `d_model` becomes --d-model, booleans become flags with a
/// --no- form. The ranges here only keep nonsense out; the model's constructor knows the rules. The
/// fields in `without` are not the user's to choose.
template <class Config>
void add_fields(CLI::App& app, Config& config, const std::set<std::string>& without) {
  Config::fields(config, [&](const std::string& name, auto& value, const std::string& about) {
    if (without.contains(name)) return;
    std::string option = "--" + name;
    for (char& c : option) c = c == '_' ? '-' : c;
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      app.add_flag(option + ",!--no-" + option.substr(2), value, about)
          ->default_str(value ? "true" : "false");
    } else if constexpr (std::is_same_v<Value, double>) {
      add_number(app, option, value, 0.0, 1e9, about);
    } else if constexpr (nn::Choice<Value>) {
      add_choice(app, option, value, about);
    } else {
      add_number(app, option, value, std::int64_t{0}, std::int64_t{1} << 31, about);
    }
  });
}

/// Makes sure that what was printed has arrived. Throws Error with the system's cause.
void flush_output();

/// Ctrl-C and SIGTERM from now on only set interrupted(), so that a step can be finished; a second
/// one ends the program at once.
void watch_interrupts();
/// The number of the signal that came, 0 before.
int interrupted();

}  // namespace gradzoo::examples
