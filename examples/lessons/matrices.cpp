// Lesson 3: broadcasting and the product of matrices, and what they mean backward.
#include "core/ops.h"
#include "examples/lessons/lessons.h"

namespace gradzoo::examples::lessons {

void matrices(Lesson& lesson) {
  Tensor column = tensor({{1}, {2}, {3}}, DType::f64).requires_grad_();
  Tensor row = tensor({{10, 20}}, DType::f64).requires_grad_();
  lesson.say("Broadcasting",
             "A column of 3 plus a row of 2 is a table of 3 x 2: the column is repeated to the "
             "right, the row downwards. An element that is repeated is used several times, and "
             "gradients of several uses are added. So what is a repetition forward is a sum "
             "backward, along the same axis.");
  lesson.walk("f = sum((column + row)^2)", {{"column", column}, {"row", row}},
              [&] { return sum(square(column + row)); });

  Rng& rng = lesson.rng();
  Tensor x = randn({3, 2}, rng, DType::f64).requires_grad_();
  Tensor w = randn({2, 4}, rng, DType::f64).requires_grad_();
  Tensor b = randn({4}, rng, DType::f64).requires_grad_();
  const Tensor weights = randn({3, 4}, rng, DType::f64);
  lesson.say("The product of matrices",
             "Each element of y = x w is a row of x times a column of w. An element of x takes "
             "part in a whole row of y, so its gradient is a sum over that row: dx = dy w^T. In "
             "the same way dw = x^T dy. A look at the shapes is enough to remember it, for the "
             "gradient of a tensor always has the tensor's shape:\n"
             "dy [3, 4] times w^T [4, 2] gives dx [3, 2];\n"
             "x^T [2, 3] times dy [3, 4] gives dw [2, 4].");
  lesson.walk("f = sum(weights * tanh(x w + b))",
              {{"x", x}, {"w", w}, {"b", b}, {"weights", weights}},
              [&] { return sum(weights * tanh(matmul(x, w) + b)); });
}

}  // namespace gradzoo::examples::lessons
