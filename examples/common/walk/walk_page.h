// A walk as a page that opens from disk: examples/web/step.js.
#pragma once

#include <cstddef>
#include <string>

#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

/// Writes the page. The graph is laid out by the program dot, and is a list where there is none.
/// Throws Error, naming the file, when it cannot be written.
void write_walk_page(const std::string& path, const Walk& walk);

}  // namespace gradzoo::examples
