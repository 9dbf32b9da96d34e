// Upsampling and gates: values by hand, gradients, errors; theirs and pooling's beside PyTorch's.
#include "nn/pool.h"

#include <doctest/doctest.h>

#include "tests/core/onnx_runner.h"
#include "tests/nn/layers_test.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

std::vector<double> values(const Tensor& x) { return x.to_vector<double>(); }

Tensor image() {
  return tensor({{{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}}}}, DType::f64);
}

// For the comparison with recorded values: a layer without parameters.
struct NoParameters {
  static void fields(auto&, auto&&) {}
};

template <class F>
void compare(const std::string& name, const F& f) {
  test::compare(name, NoParameters(),
                [&](const auto&, const auto& in, const auto&) { return f(in[0]); });
}

template <class F>
void check_gradients(const F& f, const Shape& shape) {
  const auto checked = [&](const std::vector<Tensor>& in) { return f(in[0]); };
  const auto first = gradzoo::gradcheck(checked, {test::input(shape, 1)});
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = gradzoo::gradgradcheck(checked, {test::input(shape, 2)});
  CHECK_MESSAGE(second.ok, second.report);
}

}  // namespace

TEST_CASE("upsample_nearest2d repeats, glu gates one half with the other") {
  const Tensor x = tensor({{{{1, 2}, {3, 4}}}}, DType::f64);
  const Tensor y = upsample_nearest2d(x, {1, 2});
  CHECK(y.shape() == Shape{1, 1, 2, 4});
  CHECK(values(y) == std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(values(glu(tensor({{5, 7, 0, 0}}, DType::f64))) == std::vector<double>{2.5, 3.5});
}

TEST_CASE("gradients of upsampling and glu") {
  using In = const Tensor&;
  check_gradients([](In x) { return upsample_nearest2d(x, {2, 3}); }, {2, 1, 2, 3});
  check_gradients([](In x) { return glu(x); }, {2, 3, 4});
  check_gradients([](In x) { return glu(x, 0); }, {4, 3});
}

TEST_CASE("an empty batch is upsampled to an empty batch") {
  CHECK(upsample_nearest2d(ones({0, 2, 4, 4}), 2).shape() == Shape{0, 2, 8, 8});
}

TEST_CASE("PyTorch: pooling, upsampling, glu") {
  using In = const Tensor&;
  compare("max_pool1d",
          [](In x) { return max_pool1d(x, {.kernel = 3, .stride = 2, .padding = 1}); });
  compare("max_pool2d", [](In x) {
    return max_pool2d(
        x, {.kernel = {3, 2}, .stride = HeightWidth(1, 2), .padding = {1, 0}, .dilation = {1, 2}});
  });
  compare("avg_pool1d", [](In x) { return avg_pool1d(x, {.kernel = 2}); });
  for (const bool all : {true, false}) {
    compare(all ? "avg_pool2d" : "avg_pool2d_inside", [&](In x) {
      return avg_pool2d(
          x, {.kernel = {3, 2}, .stride = HeightWidth(2, 1), .padding = 1, .count_padding = all});
    });
  }
  compare("upsample_nearest2d", [](In x) { return upsample_nearest2d(x, {2, 3}); });
  compare("glu", [](In x) { return glu(x, 1); });
}

TEST_CASE("errors of upsampling and glu name shapes and options") {
  CHECK_THROWS_WITH_AS(upsample_nearest2d(image(), 0),
                       "upsample_nearest2d: the scale must be at least 1, got 0 and 0", Error);
  CHECK_THROWS_WITH_AS(glu(ones({2, 3})), "glu: axis -1 must have an even extent, got shape [2, 3]",
                       Error);
}

TEST_CASE("ONNX: Upsample") {
  test::OnnxFamily family;
  family.ops["Upsample"] = [](const test::OnnxCase& c) -> test::Tensors {
    const Shape scale = c.shape(1);  // of all four axes
    return {nn::upsample_nearest2d(c.in(0), {scale[2], scale[3]})};
  };
  const test::OnnxCounts counts = test::run_onnx_family("upsampling", family);
  if (!test::onnx_cases().empty()) CHECK(counts.ran == 1);
}
