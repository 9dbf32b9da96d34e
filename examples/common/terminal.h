// What may be sent to a terminal and not elsewhere.
#pragma once

namespace gradzoo::examples {

/// May colours and redrawn lines go to this file descriptor? It must be a terminal that can do
/// more than print (TERM is not "dumb"), and NO_COLOR must not be set.
bool may_decorate(int descriptor);

}  // namespace gradzoo::examples
