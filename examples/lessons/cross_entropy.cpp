// Lesson 4: softmax and cross-entropy, the long way and as one op.
#include <fmt/core.h>

#include <functional>

#include "core/autograd.h"
#include "core/format.h"
#include "core/ops.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"

namespace gradzoo::examples::lessons {
namespace {

constexpr std::int64_t kRight = 1;  // the class that should win
const std::vector<std::string> kClasses = {"cat", "dog", "fish"};

Tensor leaf(const Nested& values) { return tensor(values, DType::f64).requires_grad_(); }

// -log of the probability of the right class, op by op.
Tensor long_way(const Tensor& z) {
  const Tensor y = softmax(z);
  return -log(select(y, 0, kRight));
}

Tensor target() { return tensor(kRight, DType::i64); }

// The same as one op.
Tensor fused(const Tensor& z) { return cross_entropy(z, target()); }

void show_gradients(Lesson& lesson, const Tensor& z, const Tensor& long_way_dz,
                    const Tensor& fused_dz) {
  const Tensor y = softmax(z.detach());
  const Tensor t = one_hot(target(), 3, DType::f64);
  WalkTable table{{"class", "z", "y", "t", "y - t", "dz, op by op", "dz, one op"}, {}};
  for (std::int64_t i = 0; i < 3; ++i) {
    table.rows.push_back({kClasses[static_cast<std::size_t>(i)], fixed(z.at({i}), 1),
                          fixed(y.at({i}), 4), fixed(t.at({i}), 0), fixed((y - t).at({i}), 4),
                          fixed(long_way_dz.at({i}), 4), fixed(fused_dz.at({i}), 4)});
  }
  lesson.say(
      "The gradient is y - t",
      fmt::format("Both ways arrive at the same numbers: what the model says, y, less what "
                  "is right, t. The largest difference between the two columns is {:.1g}.\n\n"
                  "y and t both add up to 1, so y - t adds up to 0: what one class gains, "
                  "the others lose. The gradient is large where the model is wrong, never "
                  "larger than 1, and it ends when y is t. A mean over N examples divides "
                  "it by N.",
                  max(abs(long_way_dz - fused_dz)).item()),
      table);
}

void show_large_scores(Lesson& lesson) {
  WalkTable table{{"z", "way", "loss", "dz"}, {}};
  const auto add = [&](double top, const char* way, const std::function<Tensor(Tensor)>& loss_of) {
    const Tensor z = leaf({top, 0, 0});
    const Tensor loss = loss_of(z);
    table.rows.push_back({summary(z), way, summary(loss), summary(grad({loss}, {z})[0])});
  };
  for (const double top : {100.0, 1000.0}) {
    add(top, "op by op", long_way);
    add(top, "one op", fused);
  }
  lesson.say("Why it is one op",
             "Large scores: exp(-1000) is too small for any floating-point number, so the softmax "
             "gives exactly 0 for the right class, and its log is -inf. No gradient comes back "
             "through that 0: the model would learn nothing from its worst mistake.\n\n"
             "cross_entropy never takes the log of a rounded probability. It computes "
             "log(sum(exp(z))) - z[dog], the largest z subtracted from all first, and its rule is "
             "y - t at once. So give it z, the scores; do not put a softmax in front of it.",
             table);
}

}  // namespace

void cross_entropy(Lesson& lesson) {
  const Tensor z = leaf({2, 1, -1});
  lesson.say(
      "From scores to a loss",
      "A model has scored three classes: z = [2, 1, -1] for cat, dog and fish. It may be any "
      "model, and the scores, called logits, any numbers. The right answer is dog.\n\n"
      "softmax makes probabilities of them: y = exp(z) / sum(exp(z)). All are positive and "
      "they add up to 1. The loss is -log(y[dog]): 0 if dog is certain, and the larger the "
      "less likely it is. This is the cross-entropy between y and the target t = [0, 1, 0].\n\n"
      "Walk back slowly. Behind log and select, the gradient of y is [0, -1/y[dog], 0]. The "
      "softmax turns it into y * (dy - sum(y * dy)). Here sum(y * dy) is -1, for y[dog] "
      "cancels; so dz = y * dy + y = y - t.");
  lesson.walk("-log(softmax(z)[dog])", {{"z", z}}, [&] { return long_way(z); });
  const Tensor long_way_dz = z.grad();
  forget_gradients({{"z", z}});
  lesson.say("The same as one op",
             "cross_entropy(z, target) is softmax, log and choice of the class in one, forward and "
             "backward.");
  const Tensor dog = target();
  const Tensor before = lesson.walk("cross_entropy(z, dog)", {{"z", z}, {"dog", dog}},
                                    [&] { return cross_entropy(z, dog); });
  show_gradients(lesson, z, long_way_dz, z.grad());

  const Tensor after = fused(z.detach() - z.grad());
  lesson.update("One step downhill",
                fmt::format("If the scores were weights, a step of gradient descent with learning "
                            "rate 1 would add t - y to them: the score of dog rises, the others "
                            "fall, and the loss goes from {:.4f} to {:.4f}.",
                            before.item(), after.item()),
                {{"z", z}}, [&] { assign(z, z.detach() - z.grad()); });
  show_large_scores(lesson);
}

}  // namespace gradzoo::examples::lessons
