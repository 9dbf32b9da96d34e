// Lesson 2: a neuron, its loss, and one step of gradient descent.
#include "core/ops.h"
#include "examples/lessons/lessons.h"
#include "optim/sgd.h"

namespace gradzoo::examples::lessons {

void neuron(Lesson& lesson) {
  const Tensor x = tensor({1, -2, 0.5}, DType::f64);
  const Tensor target = scalar(0.9, DType::f64);
  Tensor w = (0.5 * randn({3}, lesson.rng(), DType::f64)).requires_grad_();
  Tensor b = scalar(0, DType::f64).requires_grad_();
  const Names names = {{"x", x}, {"target", target}, {"w", w}, {"b", b}};
  const auto loss = [&] {
    const Tensor y = tanh(sum(w * x) + b);
    return square(y - target);
  };

  lesson.say("A neuron",
             "It weighs its inputs x, adds a bias b and squashes the sum: y = tanh(w x + b). The "
             "loss is the square of how far y is from the target. Weights and bias are leaves that "
             "want a gradient; x and the target are constants, so nothing flows to them.");
  const double before = lesson.walk("loss = (tanh(w x + b) - target)^2", names, loss).item();

  optim::Sgd sgd({w, b}, {.lr = 0.1});
  lesson.update("One step downhill",
                "The gradient points to where the loss grows fastest, so the step goes the other "
                "way: w becomes w - lr * gradient, with lr = 0.1.",
                {{"w", w}, {"b", b}}, [&] { sgd.step(); });
  sgd.zero_grad();

  lesson.say("Has it become better?", "The same function once more, with the new weights.");
  const double after = lesson.walk("the loss after the step", names, loss).item();
  lesson.say("Learning",
             "The loss went down. Training is nothing but this, over and over: a pass forward, a "
             "pass backward, a small step.",
             {{"", "loss"},
              {{"before the step", fmt::format("{:.6f}", before)},
               {"after the step", fmt::format("{:.6f}", after)}}});
}

}  // namespace gradzoo::examples::lessons
