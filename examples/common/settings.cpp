// Settings files.
#include "examples/common/settings.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "examples/common/names.h"
#include "examples/common/text.h"

namespace gradzoo::examples {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

// The name an option has in a settings file; empty: it has none.
std::string key_of(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.empty() ? "" : names.front();
}

std::vector<std::string> keys_of(const CLI::App& app, const std::set<std::string>& without) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const std::string key = key_of(*option);
    if (!key.empty() && !without.contains(key) && key != "help" && key != "version") {
      keys.push_back(key);
    }
  }
  return keys;
}

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

void set(CLI::Option& option, const std::string& value) {
  check(!is_flag(option) || value == "true" || value == "false", "'{}' is neither true nor false",
        value);
  try {
    option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    fail("{}", error.what());
  }
}

}  // namespace

void apply_settings(CLI::App& app, const std::string& path, const std::set<std::string>& without) {
  const Lines lines = read_lines(path);
  if (!lines.bad.empty()) fail("{}", to_text(lines.bad.front()));
  const std::vector<std::string> keys = keys_of(app, without);
  std::set<std::string> seen;
  for (const TextLine& line : lines.good) {
    const std::string text = trimmed(line.text);
    if (text.empty() || text.front() == '#') continue;
    const std::size_t equals = text.find('=');
    check(equals != std::string::npos, "{}:{}: '{}' is not 'key = value'", path, line.number, text);
    std::string key = trimmed(text.substr(0, equals));
    std::replace(key.begin(), key.end(), '_', '-');
    check(std::find(keys.begin(), keys.end(), key) != keys.end(),
          "{}:{}: '{}' is not known; the nearest: {}", path, line.number, key,
          nearest_names(key, keys, 3));
    check(seen.insert(key).second, "{}:{}: '{}' is there twice", path, line.number, key);
    CLI::Option& option = *app.get_option("--" + key);
    if (option.count() > 0) continue;  // the command line wins
    try {
      set(option, trimmed(text.substr(equals + 1)));
    } catch (const Error& error) {
      fail("{}:{}: {}", path, line.number, error.what());
    }
  }
}

std::string settings_text(const CLI::App& app, const std::set<std::string>& without) {
  std::string text;
  for (const std::string& key : keys_of(app, without)) {
    const CLI::Option& option = *app.get_option("--" + key);
    const std::string value =
        option.count() > 0 ? option.results().back() : option.get_default_str();
    if (!value.empty()) text += key + " = " + value + "\n";
  }
  return text;
}

}  // namespace gradzoo::examples
