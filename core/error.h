// The one exception type, and the one way to raise it.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace gradzoo {

/// Thrown for everything a caller can get wrong. The message names the op or file, the argument,
/// what was given and what is allowed, in one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with a formatted message; the format string is checked at compile time.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// check(cond, "op: what is wrong, got {} and {}", a, b): throws Error unless cond holds. Pass
/// values (shapes, dtypes), not strings made from them: they are formatted only on failure.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    fail(format, std::forward<Args>(args)...);
}

}  // namespace gradzoo
