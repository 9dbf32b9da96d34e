// Looking at the messages of errors.
#pragma once

#include <string>

#include "core/error.h"

namespace gradzoo::test {

/// The message of the Error that `f` throws, or "no error".
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace gradzoo::test
