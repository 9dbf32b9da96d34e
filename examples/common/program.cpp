// Options, exit codes, one-line errors, signals.
#include "examples/common/program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "core/version.h"

namespace gradzoo::examples {
namespace {

// The whole text as a T in [low, high]; the option parser's own conversions let 10x and nan pass.
template <class T>
T parse_number(const std::string& name, const std::string& text, T low, T high) {
  T value{};
  if (!nn::parse_config(text, value) || !(value >= low && value <= high)) {
    throw CLI::ValidationError(fmt::format("{}: '{}' is not a {} from {} to {}", name, text,
                                           std::is_same_v<T, double> ? "number" : "whole number",
                                           low, high));
  }
  return value;
}

template <class T>
CLI::Option* add_checked(CLI::App& app, const std::string& name, T& value, T low, T high,
                         const std::string& about) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name, low, high](const std::string& text) {
            value = parse_number(name, text, low, high);
          },
          about)
      ->type_name(std::is_same_v<T, double> ? "NUMBER" : "N")
      ->default_str(fmt::format("{}", value));
}

// One line: errors of the option parser may have several.
int complain(const std::string& program, std::string message, int code) {
  for (char& c : message) c = c == '\n' ? ' ' : c;
  fmt::print(stderr, "{}: {}\n", program, message);
  return code;
}

volatile std::sig_atomic_t signal_seen = 0;

void on_signal(int signal) {
  if (signal_seen != 0) std::_Exit(128 + signal);
  signal_seen = signal;
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  app.set_version_flag("--version", version_info(), "print the version and what it runs on");
  for (CLI::Option* option : app.get_options(nullptr)) {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return complain(app.get_name(), fmt::format("{} (see --help)", error.what()), kUsageError);
  }
  try {
    const int code = body();
    check(std::fflush(stdout) == 0 && std::ferror(stdout) == 0,
          "standard output: cannot be written");
    return code;
  } catch (const UsageError& error) {
    return complain(app.get_name(), error.what(), kUsageError);
  } catch (const Error& error) {
    return complain(app.get_name(), error.what(), kFileError);
  } catch (const std::system_error& error) {  // printing to what cannot be written
    return complain(app.get_name(), error.what(), kFileError);
  }
}

void flush_output() {
  if (std::fflush(stdout) != 0) fail("standard output: {}", std::strerror(errno));
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value,
                        std::int64_t low, std::int64_t high, const std::string& about) {
  return add_checked(app, name, value, low, high, about);
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& value, double low,
                        double high, const std::string& about) {
  return add_checked(app, name, value, low, high, about);
}

void watch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

int interrupted() { return signal_seen; }

}  // namespace gradzoo::examples
