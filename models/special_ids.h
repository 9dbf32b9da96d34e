// Ids with a fixed meaning in every vocabulary.
#pragma once

#include <cstdint>

namespace gradzoo::models {

/// Padding, the begin and the end of a sequence, and whatever the vocabulary does not know.
inline constexpr std::int64_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3;

}  // namespace gradzoo::models
