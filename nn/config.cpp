// The values of configs, as text and back.
#include "nn/config.h"

#include <charconv>
#include <cmath>

namespace gradzoo::nn {
namespace {

// std::from_chars neither follows the locale nor stops at the first thing that is no number.
template <class T>
bool parse_number(const std::string& text, T& value) {
  T parsed{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc{} || stop != end || !std::isfinite(static_cast<double>(parsed))) {
    return false;
  }
  value = parsed;
  return true;
}

}  // namespace

std::string config_kind(std::int64_t) { return "a whole number"; }
std::string config_kind(double) { return "a finite number"; }
std::string config_kind(bool) { return "true or false"; }

bool parse_config(const std::string& text, std::int64_t& value) {
  return parse_number(text, value);
}

bool parse_config(const std::string& text, double& value) { return parse_number(text, value); }

bool parse_config(const std::string& text, bool& value) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

}  // namespace gradzoo::nn
