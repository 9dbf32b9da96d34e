// Configs: aggregates of numbers, flags and choices whose `fields` name and describe them,
//
//     static void fields(auto& self, auto&& visit) { visit("d_model", self.d_model, "width"); }
//
// so that the same few lines make command-line options, the metadata of a checkpoint, and the
// config again from that metadata.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "nn/checkpoint.h"

namespace gradzoo::nn {

/// An enum whose values count from 0 and have names: `constexpr std::array<const char*, N>
/// choice_names(E)`, declared beside the enum, gives them in order.
template <class T>
concept Choice = std::is_enum_v<T> && requires(T value) {
  choice_names(value).size();
};

/// The name of a choice.
template <Choice E>
const char* choice_name(E value) {
  return choice_names(value).at(static_cast<std::size_t>(value));
}

/// What a value of that kind may be, for messages: "a whole number", "one of rnn, lstm, gru".
std::string config_kind(std::int64_t value);
std::string config_kind(double value);
std::string config_kind(bool value);
template <Choice E>
std::string config_kind(E value) {
  std::string text = "one of";
  for (const char* name : choice_names(value)) {
    text += std::string(text == "one of" ? " " : ", ") + name;
  }
  return text;
}

/// A field as text; numbers read back to the same value.
template <class T>
std::string config_text(const T& value) {
  if constexpr (Choice<T>) {
    return choice_name(value);
  } else {
    return fmt::format("{}", value);
  }
}

/// The whole text as a value of that kind; false, leaving the value alone, when it is not one.
bool parse_config(const std::string& text, std::int64_t& value);
/// Finite numbers only.
bool parse_config(const std::string& text, double& value);
/// "true" or "false".
bool parse_config(const std::string& text, bool& value);
template <Choice E>
bool parse_config(const std::string& text, E& value) {
  const auto names = choice_names(value);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text != names[i]) continue;
    value = static_cast<E>(i);
    return true;
  }
  return false;
}

/// The fields of a config as metadata, "config.d_model" and so on, so that a checkpoint says what
/// it was made with.
template <HasFields Config>
Metadata config_metadata(const Config& config) {
  Metadata metadata;
  Config::fields(config, [&](const std::string& name, const auto& value, auto&&...) {
    metadata["config." + name] = config_text(value);
  });
  return metadata;
}

/// The config in metadata. Fields that are missing and values that are none are one Error that
/// lists them all; `origin` (a path) begins it.
template <HasFields Config>
Config config_from(const Metadata& metadata, const std::string& origin) {
  Config config;
  std::string wrong;
  Config::fields(config, [&](const std::string& name, auto& value, auto&&...) {
    const auto found = metadata.find("config." + name);
    const std::string begin = wrong.empty() ? "" : wrong + "; ";
    if (found == metadata.end()) {
      wrong = begin + fmt::format("'config.{}' is missing", name);
    } else if (!parse_config(found->second, value)) {
      wrong = begin + fmt::format("'config.{}' is '{}', which is not {}", name, found->second,
                                  config_kind(value));
    }
  });
  check(wrong.empty(), "{}: the metadata is not that of this model: {}", origin, wrong);
  return config;
}

}  // namespace gradzoo::nn
