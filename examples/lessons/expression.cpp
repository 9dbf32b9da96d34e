// Lesson 1: an expression whose values are used more than once.
#include "core/ops.h"
#include "examples/lessons/lessons.h"

namespace gradzoo::examples::lessons {

void expression(Lesson& lesson) {
  Tensor x = scalar(3, DType::f64).requires_grad_();
  lesson.say("Which way is up?",
             "The gradient of x says how fast the result changes when x does. The engine finds it "
             "in two passes. Forward, it computes the value of each op and remembers what it was "
             "computed from. Backward, it starts with 1 at the result, and each op hands on what "
             "it gets, times its own slope.\n\n"
             "In x * x + x the value x is used three times. Watch what its gradient collects: "
             "each use adds its share, and only the sum is the slope of the whole, 2x + 1 = 7.");
  lesson.walk("f(x) = x * x + x", {{"x", x}}, [&] { return x * x + x; });

  Tensor a = scalar(2, DType::f64).requires_grad_();
  Tensor b = scalar(-3, DType::f64).requires_grad_();
  Tensor c = scalar(10, DType::f64).requires_grad_();
  lesson.say("A value on the way that is used twice",
             "Now u = a * b + c is computed first and then used in two places. Its gradient has to "
             "be complete before it can flow on: that is why backward goes through the ops in "
             "exactly the opposite order.");
  lesson.walk("u = a * b + c; f = (u + a) * u", {{"a", a}, {"b", b}, {"c", c}}, [&] {
    const Tensor u = a * b + c;
    return (u + a) * u;
  });

  const std::string before = fmt::format("{}", x.grad().item());
  (x * x + x).backward();
  lesson.say("Gradients stay until they are cleared",
             "A leaf keeps its gradient in grad(), and the next backward() adds to it. Here the "
             "first function was walked a second time. Training loops therefore clear the "
             "gradients before each step, with zero_grad().",
             {{"x.grad()", "value"},
              {{"after the first backward()", before},
               {"after the second", fmt::format("{}", x.grad().item())}}});
}

}  // namespace gradzoo::examples::lessons
