// Feed-forward layers and normalisations beside PyTorch's.
#include <doctest/doctest.h>

#include "core/ops/matmul.h"
#include "core/scope.h"
#include "nn/batch_norm.h"
#include "nn/feed_forward.h"
#include "nn/rms_norm.h"
#include "nn/spectral_norm.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;

namespace {

// CHECKs the module's buffers against those that PyTorch had after the call.
template <class Module, class Get>
void check_buffers(const Module& module, const Get& get) {
  for (const auto& [name, tensor] : nn::named_tensors(module)) {
    if (!tensor.requires_grad()) test::check_recorded(name, tensor, get("after." + name));
  }
}

// PyTorch's spectral_norm(Linear), whose names these are.
struct SpectralLinear {
  nn::SpectralNorm weight;
  Tensor bias;

  Tensor operator()(const Tensor& x) const { return linear(x, weight(), bias); }

  static void fields(auto& self, auto&& visit) {
    visit("bias", self.bias);
    visit("parametrizations.weight", self.weight);
  }
};

// A weight alone, as PyTorch names it in a layer without bias.
struct SpectralWeight {
  nn::SpectralNorm weight;

  static void fields(auto& self, auto&& visit) { visit("parametrizations.weight", self.weight); }
};

}  // namespace

TEST_CASE("PyTorch: RmsNorm") {
  test::compare("rms_norm", nn::RmsNorm(5),
                [](const auto& m, const auto& in, const auto&) { return m(in[0]); });
}

TEST_CASE("PyTorch: FeedForward, plain and gated") {
  Rng rng(1);
  const auto plain = [](const auto& m, const auto& in, const auto&) { return m(in[0]); };
  using Kind = nn::FeedForwardKind;
  for (const auto& [name, kind] : {std::pair{"gelu", Kind::gelu}, {"swiglu", Kind::swiglu}}) {
    test::compare(std::string("feed_forward_") + name,
                  nn::FeedForward({.d_model = 3, .d_ff = 4, .kind = kind}, rng), plain);
  }
}

TEST_CASE("PyTorch: BatchNorm1d and 2d, in training and evaluation, and what they keep") {
  Rng rng(2);
  const auto evaluated = [](const auto& m, const auto& in, const auto&) { return m(in[0]); };
  const auto trained = [&](const auto& m, const auto& in, const auto& get) {
    const TrainingScope training(rng);
    const Tensor y = m(in[0]);
    check_buffers(m, get);
    return y;
  };
  const nn::BatchNormOptions average{.eps = 1e-3, .momentum = {}};
  test::compare("batch_norm_1d_train", nn::BatchNorm1d(3), trained);
  test::compare("batch_norm_1d_average", nn::BatchNorm1d(3, average), trained);
  test::compare("batch_norm_1d_eval", nn::BatchNorm1d(3), evaluated);
  test::compare("batch_norm_2d_train", nn::BatchNorm2d(2), trained);
  test::compare("batch_norm_2d_eval", nn::BatchNorm2d(2), evaluated);
}

TEST_CASE("PyTorch: spectral_norm of a Linear and, along axis 1, of a ConvTranspose2d") {
  Rng rng(3);
  const SpectralLinear made{nn::SpectralNorm(ones({4, 3}), rng, {.power_iterations = 2}),
                            nn::parameter(ones({4}))};
  test::compare("spectral_norm_train", made, [&](const auto& m, const auto& in, const auto& get) {
    const TrainingScope training(rng);
    const Tensor y = m(in[0]);
    check_buffers(m, get);
    return y;
  });
  test::compare("spectral_norm_eval", made,
                [](const auto& m, const auto& in, const auto&) { return m(in[0]); });
  const SpectralWeight transposed{nn::SpectralNorm(ones({2, 3, 2, 2}), rng, {.dim = 1})};
  test::compare("spectral_norm_transposed", transposed,
                [&](const auto& m, const auto&, const auto& get) {
                  const TrainingScope training(rng);
                  const Tensor y = m.weight();
                  check_buffers(m, get);
                  return y;
                });
}
