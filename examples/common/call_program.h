// Other programs, called by name and without a shell.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradzoo::examples {

/// What a program writes to standard output when it gets `input`; `command` is its name, looked for
/// in PATH, and its arguments. What it says on stderr is not shown. Nothing when it is not there,
/// fails, or has not ended after `limit`: then it is killed.
std::optional<std::string> output_of(const std::vector<std::string>& command,
                                     std::string_view input, std::chrono::milliseconds limit);

}  // namespace gradzoo::examples
