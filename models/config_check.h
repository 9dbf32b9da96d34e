// What the constructors of models check of their configs, each naming model and field.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/error.h"

namespace gradzoo::models {

/// Throws unless every whole number of the config is at least 1: all are sizes.
template <class Config>
void check_sizes(const char* model, const Config& config) {
  Config::fields(config, [&](const std::string& name, const auto& value, auto&&...) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::int64_t>) {
      check(value >= 1, "{}: {} must be at least 1, got {}", model, name, value);
    }
  });
}

/// Throws unless num_heads divides d_model.
inline void check_heads(const char* model, std::int64_t num_heads, std::int64_t d_model) {
  check(d_model % num_heads == 0,
        "{}: num_heads must divide d_model, got num_heads {} and d_model {}", model, num_heads,
        d_model);
}

/// Throws unless dropout is in [0, 1).
inline void check_dropout(const char* model, double dropout) {
  check(dropout >= 0 && dropout < 1, "{}: dropout must be in [0, 1), got {}", model, dropout);
}

}  // namespace gradzoo::models
