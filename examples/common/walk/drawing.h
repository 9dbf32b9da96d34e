// A walk as drawings: one for each function and one for each module in it, in which the modules
// inside are single boxes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

/// A box of a drawing.
struct DrawnItem {
  enum class Kind {
    value,   ///< an op, a leaf or a constant
    module,  ///< a scope, or several of the same structure folded into one
    from,    ///< a value that comes from outside the module
    to,      ///< where a value leaves it
  };
  Kind kind = Kind::value;
  std::size_t node = kNone;         ///< of all but modules
  std::vector<std::size_t> scopes;  ///< of a module: positions in Walk::scopes
  std::string title, detail;        ///< its two lines
};

struct Drawing {
  std::size_t graph = 0;
  std::size_t scope = kNone;  ///< kNone: the whole function
  std::vector<DrawnItem> items;
  std::vector<std::pair<std::size_t, std::size_t>> edges;  ///< positions of items
};

/// All drawings of a walk, a module's before those of the modules in it. Modules that follow each
/// other in a chain, or stand side by side and give to the same, are folded when their names (but
/// for a number at the end), ops and shapes are the same. A leaf of
/// very many users has several boxes.
std::vector<Drawing> drawings_of(const Walk& walk);

}  // namespace gradzoo::examples
