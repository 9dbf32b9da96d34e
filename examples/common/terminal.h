// What may be sent to a terminal and not elsewhere.
#pragma once

#include <cstddef>
#include <string>

namespace gradzoo::examples {

/// May colours and redrawn lines go to this file descriptor? It must be a terminal that can do
/// more than print (TERM is not "dumb"), and NO_COLOR must not be set.
bool may_decorate(int descriptor);

/// Columns of the terminal behind this file descriptor; 80 where it does not say.
std::size_t terminal_columns(int descriptor);

/// What is put around words to make them stand out, `plain` after each; nothing by default.
struct Style {
  std::string bold, dim, green, red, plain;
};

/// The escape sequences of terminals, or nothing.
Style terminal_style(bool on);

}  // namespace gradzoo::examples
