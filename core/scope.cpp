// The thread's modes, and the path of nested scope names.
#include "core/scope.h"

namespace gradzoo {

Modes& modes() {
  thread_local Modes state;
  return state;
}

std::string path_of(const ScopePtr& scope) {
  if (scope == nullptr) return "";
  const std::string above = path_of(scope->parent);
  return above.empty() ? scope->name : above + "/" + scope->name;
}

}  // namespace gradzoo
