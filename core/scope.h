// Modes and names that hold while a C++ scope is open, each for its own thread.
#pragma once

#include <memory>
#include <string>

namespace gradzoo {

class Rng;
class Trace;

/// A name given by Scope, and the one around it (null at the outside).
struct ScopeName {
  std::string name;
  std::shared_ptr<const ScopeName> parent;
};
using ScopePtr = std::shared_ptr<const ScopeName>;

/// "Transformer/EncoderLayer", "" outside every scope.
std::string path_of(const ScopePtr& scope);

/// Everything that is scoped and thread-local. There is no other global state.
struct Modes {
  bool grad_enabled = true;
  bool detect_anomaly = false;
  Rng* training = nullptr;  ///< the generator of dropout; null outside TrainingScope
  Trace* trace = nullptr;
  ScopePtr scope;
};
Modes& modes();

/// Restores all modes when it goes: the base of the scopes below.
class ModeGuard {
 public:
  ModeGuard() : before_(modes()) {}
  ~ModeGuard() { modes() = before_; }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  Modes before_;
};

/// While it lives, ops leave no history.
class NoGrad : ModeGuard {
 public:
  NoGrad() { modes().grad_enabled = false; }
};

/// While it lives, dropout drops, with numbers from `rng`. Outside it is the identity.
class TrainingScope : ModeGuard {
 public:
  explicit TrainingScope(Rng& rng) { modes().training = &rng; }
};

/// While it lives, the first NaN or infinity that an op produces, forward or backward, is an
/// Error naming the op and where its inputs were.
class DetectAnomaly : ModeGuard {
 public:
  DetectAnomaly() { modes().detect_anomaly = true; }
};

/// Names the ops recorded while it lives: Scope scope("EncoderLayer").
class Scope : ModeGuard {
 public:
  explicit Scope(std::string name) {
    modes().scope = std::make_shared<const ScopeName>(ScopeName{std::move(name), modes().scope});
  }
};

}  // namespace gradzoo
