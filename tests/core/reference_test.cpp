// Losses and activations beside PyTorch's.
#include "tests/reference/reference.h"

#include <doctest/doctest.h>

using namespace gradzoo;

namespace {

// y = f(x) and its gradient against what was recorded under `key`.
template <class F>
void compare(const TensorFile& file, const std::string& key, Tensor x, const Tensor& upstream,
             const F& f) {
  x.requires_grad_();
  const Tensor y = f(x);
  test::check_recorded(key, y, test::recorded(file, key, x.dtype()));
  y.backward(upstream);
  test::check_recorded(key + ".grad", x.grad(), test::recorded(file, key + ".grad", x.dtype()));
}

}  // namespace

TEST_CASE("PyTorch: cross_entropy with label smoothing and ignore_index, every reduction") {
  const TensorFile file = test::recorded("functions");
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const double smoothing : {0.0, 0.2}) {
      for (const auto& [name, reduction] : {std::pair{"mean", Reduction::mean},
                                            {"sum", Reduction::sum},
                                            {"none", Reduction::none}}) {
        const std::string key =
            fmt::format("cross_entropy.{}.{}", name, smoothing > 0 ? "smooth" : "plain");
        const Tensor logits = test::recorded(file, "logits", dtype);
        const Tensor upstream = test::recorded(file, key + ".upstream", dtype);
        const CrossEntropyOptions options{
            .ignore_index = -7, .label_smoothing = smoothing, .reduction = reduction};
        compare(file, key, reshape(logits, {6, 5}).detach(), upstream, [&](const Tensor& x) {
          return cross_entropy(x, reshape(file.find("targets"), {6}), options);
        });
      }
    }
  }
}

TEST_CASE("PyTorch: gelu, both forms") {
  const TensorFile file = test::recorded("functions");
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const auto& [name, form] : {std::pair{"none", Gelu::erf}, {"tanh", Gelu::tanh}}) {
      compare(file, fmt::format("gelu.{}", name), test::recorded(file, "x", dtype),
              test::recorded(file, "x.upstream", dtype),
              [form = form](const Tensor& x) { return gelu(x, form); });
    }
  }
}
