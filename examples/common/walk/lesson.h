// What a lesson is written with: a function gets a Lesson, tells a story and has functions
// recorded.
//
//     void expression(Lesson& lesson) {
//       Tensor x = tensor({3}, DType::f64).requires_grad_();
//       lesson.say("A value that is used twice", "Its gradient is the sum over both uses.");
//       lesson.walk("f(x) = x * x + x", {{"x", x}}, [&] { return sum(x * x + x); });
//     }
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "examples/common/walk/from_trace.h"
#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

class Lesson {
 public:
  Lesson(std::string title, std::uint64_t seed);

  /// The generator of all that is random, seeded by --seed.
  Rng& rng() { return rng_; }

  /// A step that is a text, maybe with numbers under it. An empty line begins a new paragraph.
  void say(const std::string& title, const std::string& text, const WalkTable& table = {});

  /// Runs `function` once with a trace open and walks back from its result, which must be one
  /// number: a step for each op forward and backward. Leaves keep the gradient in grad(), added to
  /// what they had. `names` tells what the leaves and constants are called. For the central
  /// differences the function runs again and again: it must give the same number each time, so a
  /// function that drops or draws at random must make its generator inside. Returns the result.
  Tensor walk(const std::string& title, const Names& names,
              const std::function<Tensor()>& function);

  /// In a function that walk() records: `x`, which is called `name` from then on. Elsewhere: `x`.
  Tensor name(const std::string& name, const Tensor& x);

  /// A step that shows what `change`, an optimizer's step for instance, does to the named tensors.
  void update(const std::string& title, const std::string& text, const Names& names,
              const std::function<void()>& change);

  const Walk& result() const { return walk_; }

 private:
  Rng rng_;
  Walk walk_;
  bool recording_ = false;
  Names called_;  // the names that walk() was given, and those that the function gave
};

}  // namespace gradzoo::examples
