// gradcheck must pass what is right and find what is wrong: here, gradients planted to be wrong.
#include "core/gradcheck.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

namespace {

Tensor leaf(const Nested& values) { return tensor(values, DType::f64); }

// x^3, with a gradient to choose.
Tensor cube(const Tensor& x, Vjp vjp) {
  const Tensor value = x.detach();
  return record(value * value * value, "cube", {x}, {x}, std::move(vjp));
}

Grads right_cube(const BackwardContext& c) { return {c.grad * c.saved(0) * c.saved(0) * 3.0}; }

}  // namespace

TEST_CASE("gradcheck passes a right gradient and reports its worst element") {
  const auto f = [](const std::vector<Tensor>& in) { return cube(in[0], right_cube); };
  const Tensor x = leaf({{0.5, -1.5}, {2.0, 0.25}});
  const GradcheckResult result = gradcheck(f, {x});
  CHECK_MESSAGE(result, result.report);
  CHECK(result.report.find("gradcheck: right; worst: input 0 at [") == 0);
  CHECK(result.error < 1e-7);
  const GradcheckResult second = gradgradcheck(f, {x});
  CHECK_MESSAGE(second, second.report);
}

TEST_CASE("gradcheck finds a gradient wrong by a factor") {
  const auto f = [](const std::vector<Tensor>& in) {
    return cube(in[0], [](const BackwardContext& c) -> Grads {
      return {c.grad * c.saved(0) * c.saved(0) * 3.0003};
    });
  };
  const GradcheckResult result = gradcheck(f, {leaf({0.5, -1.5, 2.0})});
  CHECK_FALSE(result);
  CHECK(result.report.find("3 of 3 elements wrong") != std::string::npos);
}

TEST_CASE("gradcheck finds the one wrong element and says input, index, both numbers and error") {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor y = cube(in[1], [](const BackwardContext& c) -> Grads {
      const Tensor right = c.grad * c.saved(0) * c.saved(0) * 3.0;
      const Tensor extra = tensor({{0, 0, 0}, {0, 0, 0.125}}, DType::f64);
      return {right + extra};
    });
    return in[0] * y;
  };
  const Tensor other = leaf({{1, 2, 3}, {-1, -2, -3}});
  const Tensor x = leaf({{0.5, -1.5, 2.0}, {0.7, 1.1, -0.4}});
  const GradcheckResult result = gradcheck(f, {other, x});
  CHECK_FALSE(result);
  CHECK(result.input == 1);
  CHECK(result.index == Shape{1, 2});
  CHECK(result.error == doctest::Approx(0.125).epsilon(1e-6));
  CHECK(result.analytic - result.numeric == doctest::Approx(0.125).epsilon(1e-6));
  CHECK(result.report.find("1 of 12 elements wrong; worst: input 1 at [1, 2]: analytic ") !=
        std::string::npos);
  CHECK(result.report.find("error 0.125") != std::string::npos);
  CHECK(result.report.find('\n') == std::string::npos);
}

TEST_CASE("gradcheck tells the worst element of each input, in units of what is allowed") {
  const auto f = [](const std::vector<Tensor>& in) {
    return in[0] * cube(in[2], [](const BackwardContext& c) -> Grads {
             return {c.grad * c.saved(0) * c.saved(0) * 3.0 + tensor({0, 0, 0.5}, DType::f64)};
           });
  };
  const Tensor ids = tensor({7}, DType::i64);
  const auto result = gradcheck(f, {leaf({1, 2, 3}), ids, leaf({2, 1, -1})}, {.atol = 1e-3});
  REQUIRE(result.worst.size() == 2);
  CHECK(result.worst[0].input == 0);
  CHECK(result.worst[0].ratio < 1);
  CHECK(result.worst[1].input == 2);
  CHECK(result.worst[1].index == Shape{2});
  const GradcheckElement& wrong = result.worst[1];
  CHECK(wrong.ratio == doctest::Approx(0.5 / (1e-3 + 1e-5 * std::abs(wrong.numeric))));
  CHECK(result.ratio == wrong.ratio);
  // The upstream gradient of second order stands after the inputs.
  const auto second = gradgradcheck([](const auto& in) { return square(in[0]); }, {leaf({1, 2})});
  REQUIRE(second.worst.size() == 2);
  CHECK(second.worst[1].input == 1);
}

TEST_CASE("gradcheck finds a gradient that is right only for an upstream of ones") {
  // Softmax-like trap: the sum over the row instead of the element's own upstream gradient.
  const auto f = [](const std::vector<Tensor>& in) {
    return cube(in[0], [](const BackwardContext& c) -> Grads {
      return {mean(c.grad) * c.saved(0) * c.saved(0) * 3.0};
    });
  };
  CHECK_FALSE(gradcheck(f, {leaf({0.5, -1.5, 2.0})}));
}

TEST_CASE("a gradient of another shape than the input is an error naming the op") {
  const auto f = [](const std::vector<Tensor>& in) {  // add without sum_to
    return record(in[0].detach() + in[1].detach(), "plus", {in[0], in[1]}, {},
                  [](const BackwardContext& c) -> Grads {
                    return {c.grad, c.grad};
                  });
  };
  CHECK_THROWS_WITH_AS(gradcheck(f, {leaf({{1, 2}, {3, 4}}), leaf({1, 2})}),
                       "backward of 'plus': the gradient of input 1 is f64 [2, 2], the input f64 "
                       "[2]",
                       Error);
}

TEST_CASE("gradcheck: an ignored input has gradient 0, a detached one is found") {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  CHECK(gradcheck([](const auto& in) { return in[0] * 2.0; }, {a, b}));
  CHECK(gradgradcheck([](const auto& in) { return in[0] * 2.0; }, {a, b}));
  CHECK(gradcheck([](const auto&) { return scalar(1, DType::f64); }, {a, b}));
  CHECK(gradgradcheck([](const auto&) { return scalar(1, DType::f64); }, {a, b}));
  const auto detached = gradcheck([](const auto& in) { return in[0] * in[1].detach(); }, {a, b});
  CHECK_FALSE(detached);
  CHECK(detached.input == 1);
  CHECK(detached.analytic == 0);
  // The gradient of a detached factor is missing in the second derivative too.
  CHECK_FALSE(gradgradcheck([](const auto& in) { return in[0] * in[0].detach(); }, {a}));
}

TEST_CASE("gradcheck finds a function that is not deterministic") {
  int calls = 0;
  const auto f = [&](const std::vector<Tensor>& in) {
    return in[0] * static_cast<double>(++calls);
  };
  const GradcheckResult result = gradcheck(f, {leaf({{1, 2}})});
  CHECK_FALSE(result);
  CHECK(result.report ==
        "gradcheck: the function is not deterministic: with the same inputs output [0, 0] was 1, "
        "then 2");
  CHECK_FALSE(gradgradcheck(f, {leaf({{1, 2}})}));
}

TEST_CASE("gradcheck finds dropout with a moving generator, and passes it with a fixed one") {
  Rng rng(3);
  const TrainingScope training(rng);
  const auto moving = [](const std::vector<Tensor>& in) { return dropout(in[0], 0.5); };
  const Tensor x = rand({50}, rng, DType::f64);
  CHECK(gradcheck(moving, {x}).report.find("not deterministic") != std::string::npos);
  CHECK(gradgradcheck(moving, {x}).report.find("not deterministic") != std::string::npos);
  const auto fixed = [](const std::vector<Tensor>& in) {
    Rng own(7);
    const TrainingScope scope(own);
    return dropout(in[0], 0.5);
  };
  const GradcheckResult result = gradcheck(fixed, {x});
  CHECK_MESSAGE(result, result.report);
}

TEST_CASE("gradcheck finds a backward that is not deterministic") {
  int calls = 0;
  const auto f = [&](const std::vector<Tensor>& in) {
    return cube(in[0], [&calls](const BackwardContext& c) -> Grads {
      return {c.grad * c.saved(0) * c.saved(0) * (3.0 + 1e-13 * ++calls)};
    });
  };
  const GradcheckResult result = gradcheck(f, {leaf({0.5})});
  CHECK_FALSE(result);
  CHECK(result.report.find("not deterministic: with the same inputs gradient 0") !=
        std::string::npos);
}

TEST_CASE("gradcheck finds a state that only the many evaluations move") {
  int calls = 0;
  const auto f = [&](const std::vector<Tensor>& in) { return in[0] * (++calls > 4 ? 2.0 : 1.0); };
  CHECK_FALSE(gradcheck(f, {leaf({1, 2, 3})}));
}

TEST_CASE("gradcheck leaves values, gradients, versions and requires_grad as they were") {
  Tensor x = leaf({0.1, 0.7, -0.3}), w = leaf({0.2});
  w.requires_grad_();
  w.set_grad(leaf({5}));
  const auto before = x.to_vector<double>();
  const auto version = x.impl().storage->version();
  int calls = 0;
  const auto f = [&](const std::vector<Tensor>& in) {
    if (++calls == 5) throw Error("the function gave up");
    return in[0] * w * in[0];
  };
  CHECK_THROWS_WITH_AS(gradcheck(f, {x, w}), "the function gave up", Error);
  CHECK(x.to_vector<double>() == before);
  CHECK_FALSE(x.requires_grad());
  calls = 5;
  CHECK(gradcheck(f, {x, w}));
  CHECK(gradgradcheck(f, {x, w}));
  CHECK(x.to_vector<double>() == before);
  CHECK(x.impl().storage->version() == version);
  CHECK_FALSE(x.requires_grad());
  CHECK(w.requires_grad());
  CHECK(w.grad().item() == 5);
}

TEST_CASE("gradcheck changes captured tensors that are among its inputs: module parameters") {
  Tensor weight = leaf({{0.3, -0.8}, {1.2, 0.4}});
  weight.requires_grad_();
  const auto f = [&](const std::vector<Tensor>& in) { return exp(in[0] * weight); };
  const Tensor x = leaf({0.5, -0.25});
  CHECK(gradcheck(f, {x, weight}));
  CHECK(gradgradcheck(f, {x, weight}));
  // A parameter with a wrong gradient is found though f does not take it from its arguments.
  const auto wrong = [&](const std::vector<Tensor>& in) {
    return in[0] * cube(weight, [](auto& c) -> Grads { return {c.grad * c.saved(0) * 3.0}; });
  };
  const auto result = gradcheck(wrong, {x, weight});
  CHECK_FALSE(result);
  CHECK(result.input == 1);
}

TEST_CASE("gradcheck walks strided leaves by their strides") {
  const Tensor base = leaf({{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, -2, -3, -4}});
  const Tensor x = slice(transpose(base), 0, 1, kEnd, 2);  // [2, 3], strides 2 and 4, offset 1
  const auto f = [](const std::vector<Tensor>& in) { return cube(in[0], right_cube); };
  const auto result = gradcheck(f, {x});
  CHECK_MESSAGE(result, result.report);
  CHECK(base.at({0, 1}) == 2);
  const Tensor spread = expand(leaf({1.0}), {3});
  CHECK_THROWS_WITH_AS(gradcheck(f, {spread}),
                       "gradcheck: input 0 is expanded along axis 0: several elements share one "
                       "place",
                       Error);
}

TEST_CASE("gradcheck passes integers on, and takes empty leaves and outputs") {
  const Tensor ids = tensor({1, 0, 1}, DType::i64);
  const auto f = [](const std::vector<Tensor>& in) { return index_select(in[1], 0, in[0]); };
  CHECK(gradcheck(f, {ids, leaf({2, 3})}));
  CHECK(gradgradcheck(f, {ids, leaf({2, 3})}));
  const auto nothing =
      gradcheck([](const auto& in) { return exp(in[0]); }, {empty({0, 3}, DType::f64)});
  CHECK(nothing);
  CHECK(nothing.report == "gradcheck: right, there are no elements to compare");
  CHECK(gradgradcheck([](const auto& in) { return exp(in[0]); }, {empty({0, 3}, DType::f64)}));
}

TEST_CASE("gradcheck works inside NoGrad") {
  const NoGrad no_grad;
  CHECK(gradcheck([](const auto& in) { return exp(in[0]); }, {leaf({0.5})}));
  CHECK_FALSE(modes().grad_enabled);
}

TEST_CASE("gradcheck refuses what it cannot check") {
  const auto same = [](const std::vector<Tensor>& in) { return in[0]; };
  CHECK_THROWS_WITH_AS(gradcheck(same, {tensor({1, 2}, DType::i64)}),
                       "gradcheck: no input is f64, there is nothing to check", Error);
  CHECK_THROWS_WITH_AS(gradcheck(same, {tensor({1, 2})}),
                       "gradcheck: input 0 is f32 and a leaf; finite differences need a leaf of "
                       "f64",
                       Error);
  Tensor x = leaf({1});
  x.requires_grad_();
  CHECK_THROWS_AS(gradcheck(same, {exp(x)}), Error);
  const auto single = [](const std::vector<Tensor>& in) { return to(in[0], DType::f32); };
  CHECK_THROWS_WITH_AS(gradcheck(single, {x}),
                       "gradcheck: the function must return an f64 tensor, not f32", Error);
  CHECK_THROWS_AS(gradcheck(same, {x}, {.eps = 0}), Error);
}

TEST_CASE("gradcheck: a gradient that is NaN is wrong, equal infinities are right") {
  const auto f = [](const std::vector<Tensor>& in) {
    return cube(
        in[0], [](const BackwardContext& c) -> Grads { return {full_like(c.grad, std::nan(""))}; });
  };
  const auto result = gradcheck(f, {leaf({0.5, 1.5})});
  CHECK_FALSE(result);
  CHECK(std::isnan(result.analytic));
  CHECK(std::isinf(result.ratio));
  const auto infinite = [](const std::vector<Tensor>& in) {
    return masked_fill(in[0] * 2.0, tensor({0, 1}, DType::boolean), -HUGE_VAL);
  };
  CHECK(gradcheck(infinite, {leaf({0.5, 1.5})}));
}

TEST_CASE("gradgradcheck finds a second derivative that is wrong though the first is right") {
  // The gradient 3 x^2 computed from detached values: right once, without a history twice.
  const auto f = [](const std::vector<Tensor>& in) {
    return cube(in[0], [](const BackwardContext& c) -> Grads {
      const Tensor x = c.saved(0).detach();
      return {c.grad * x * x * 3.0};
    });
  };
  const Tensor x = leaf({0.5, -1.5});
  CHECK(gradcheck(f, {x}));
  const auto second = gradgradcheck(f, {x});
  CHECK_FALSE(second);
  CHECK(second.input == 0);
  // The same with respect to the upstream gradient: input 1 of the report.
  const auto no_upstream = [](const std::vector<Tensor>& in) {
    return cube(in[0], [](const BackwardContext& c) -> Grads {
      return {c.grad.detach() * c.saved(0) * c.saved(0) * 3.0};
    });
  };
  CHECK(gradcheck(no_upstream, {x}));
  const auto upstream = gradgradcheck(no_upstream, {x});
  CHECK_FALSE(upstream);
  CHECK(upstream.input == 1);
}

TEST_CASE("gradgradcheck finds a composed gradient that differs from the fused one") {
  // While a graph is recorded the formula has another factor: consistent in itself, but wrong.
  const auto f = [](const std::vector<Tensor>& in) {
    return cube(in[0], [](const BackwardContext& c) -> Grads {
      return {c.grad * c.saved(0) * c.saved(0) * (modes().grad_enabled ? 2.0 : 3.0)};
    });
  };
  const Tensor x = leaf({0.5, -1.5});
  CHECK(gradcheck(f, {x}));
  const auto result = gradgradcheck(f, {x});
  CHECK_FALSE(result);
  CHECK(result.report.find("gradgradcheck of the gradient itself: 2 of 2 elements wrong") == 0);
}
