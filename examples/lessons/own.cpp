// Your own function: change it, and step through it with `./examples/run step_through own`.
#include "core/ops.h"
#include "examples/lessons/lessons.h"

namespace gradzoo::examples::lessons {

void own(Lesson& lesson) {
  Tensor x = tensor({0.5, -1, 2}, DType::f64).requires_grad_();
  Tensor w = tensor({{1, 0, 1}, {0.5, 2, 0}}, DType::f64).requires_grad_();
  lesson.walk("my function", {{"x", x}, {"w", w}}, [&] {
    const Tensor hidden = relu(matmul(w, x));
    return logsumexp(hidden);
  });
}

}  // namespace gradzoo::examples::lessons
