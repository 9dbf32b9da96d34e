// Lesson 5: layer normalisation, and the directions in which it lets no gradient through.
#include <fmt/core.h>

#include "core/autograd.h"
#include "core/ops.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"

namespace gradzoo::examples::lessons {
namespace {

constexpr double kEps = 1e-5;

Tensor leaf(const Nested& values) { return tensor(values, DType::f64).requires_grad_(); }

// Formula by formula; each row for itself.
Tensor normalised(const Tensor& x) {
  const Tensor centred = x - mean(x, {1}, true);
  const Tensor variance = mean(square(centred), {1}, true);
  return centred / sqrt(variance + kEps);
}

// A row for each row of x, with these numbers [rows] as columns, to so many digits.
WalkTable by_row(const std::vector<std::string>& heads, const std::vector<Tensor>& columns,
                 int digits) {
  WalkTable table;
  table.heads = heads;
  for (std::int64_t row = 0; row < columns[0].numel(); ++row) {
    std::vector<std::string> cells = {std::to_string(row + 1)};
    for (const Tensor& column : columns) {
      cells.push_back(fmt::format("{:.{}g}", column.at({row}), digits));
    }
    table.rows.push_back(cells);
  }
  return table;
}

void show_moments(Lesson& lesson, const Tensor& x) {
  const auto variance = [](const Tensor& of) { return var(of, {1}, false, 0); };
  const Tensor y = normalised(x);
  lesson.say(
      "What it did",
      "Before weight and bias, each row has mean 0 and variance 1 (a little less, because of "
      "eps = 1e-5, which is there so that a row of equal numbers does not divide by 0). The "
      "second row was ten times the first plus 5; nothing of that is left, both have become "
      "the same. weight and bias then choose a scale and a mean for each column.",
      by_row({"row", "mean of x", "variance of x", "mean after", "variance after"},
             {mean(x, {1}), variance(x), mean(y, {1}), variance(y)}, 6));
}

void show_directions(Lesson& lesson, const Tensor& x, const Tensor& dx) {
  lesson.say("Two directions without gradient",
             "Adding the same number to a whole row changes nothing behind the normalisation, so "
             "the gradient has nothing along (1, 1, 1, 1): each row of dx adds up to 0. Stretching "
             "a row changes nothing either (only eps notices), so there is nothing along z, the "
             "normalised row: sum(dx * z) is 0, but for eps. That is what the rule subtracts:\n\n"
             "dx = (u - mean(u) - z * mean(u * z)) / s, with u = dy * weight and "
             "s = sqrt(variance + eps)\n\n"
             "And it divides by the row's own scale: the second row, ten times as large as the "
             "first, gets a tenth of the gradient.",
             by_row({"row", "sum(dx)", "sum(dx * z)", "size of dx"},
                    {sum(dx, {1}), sum(dx * normalised(x), {1}), norm(dx, {1})}, 2));
}

}  // namespace

void layer_norm(Lesson& lesson) {
  const Tensor x = leaf({{1, 2, 4, 5}, {15, 25, 45, 55}});
  const Tensor weight = leaf({1, 2, 0.5, 1});
  const Tensor bias = leaf({0, 1, 0, -1});
  const Tensor c = tensor({1, -2, 0.5, 3}, DType::f64);
  const Names names = {{"x", x}, {"weight", weight}, {"bias", bias}, {"c", c}};
  lesson.say("Rows of any scale",
             "A layer works best when its inputs are neither huge nor tiny, yet what comes in "
             "depends on all layers before it. Layer normalisation (Ba et al. 2016) gives every "
             "row, that is the vector of every token, mean 0 and variance 1, and then a learned "
             "scale and shift:\n\n"
             "y = (x - mean) / sqrt(variance + eps) * weight + bias\n\n"
             "x has two rows here; the second is ten times the first plus 5. First op by op. The "
             "loss is sum(c * y), so that the gradient of y is c in both rows. x is used by the "
             "mean and by the difference, and the difference twice more: watch the gradients add "
             "up.");
  lesson.walk("Layer normalisation, op by op", names,
              [&] { return sum(c * (normalised(x) * weight + bias)); });
  show_moments(lesson, x.detach());
  const Tensor dx = x.grad();
  forget_gradients(names);

  lesson.say("The same as one op",
             "layer_norm keeps less for the way back and goes over memory fewer times: of a row it "
             "needs the mean and the scale, not each result on the way.");
  const auto loss_of = [&](const Tensor& input) {
    return sum(c * layer_norm(input, weight, bias));
  };
  lesson.walk("layer_norm(x, weight, bias)", names, [&] { return loss_of(x); });
  show_directions(lesson, x.detach(), x.grad());

  const NoGrad no_grad;
  WalkTable table{{"input", "loss"}, {}};
  table.rows.push_back({"x", fmt::format("{:.8f}", loss_of(x).item())});
  table.rows.push_back({"x + 7", fmt::format("{:.8f}", loss_of(x + 7).item())});
  table.rows.push_back({"3 * x", fmt::format("{:.8f}", loss_of(x * 3).item())});
  lesson.say(
      "Try it",
      fmt::format("Adding to a row or stretching it leaves the loss as it was, but for eps. The "
                  "gradients of the two ways differ by {:.1g} at "
                  "most.",
                  max(abs(x.grad() - dx)).item()),
      table);
}

}  // namespace gradzoo::examples::lessons
