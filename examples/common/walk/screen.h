// Stepping through a walk on a terminal, with keys.
#pragma once

#include <functional>

#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

/// The smallest terminal that has room for a step.
inline constexpr int kLeastColumns = 40, kLeastRows = 10;

/// Shows a step at a time until q is pressed, and leaves the terminal as it was. Returns the exit
/// code: 128 + n after signal n. Where the terminal can do no more than print (TERM is "dumb" or
/// unknown, or there are no keys), says so on stderr and returns otherwise().
int step_on_terminal(const Walk& walk, const std::function<int()>& otherwise);

}  // namespace gradzoo::examples
