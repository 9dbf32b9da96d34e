// Feed-forward layers and normalisations beside PyTorch's.
#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/batch_norm.h"
#include "nn/feed_forward.h"
#include "nn/rms_norm.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;

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
    for (const auto& [name, t] : nn::named_tensors(m)) {
      if (!t.requires_grad()) test::check_recorded(name, t, get("after." + name));
    }
    return y;
  };
  const nn::BatchNormOptions average{.eps = 1e-3, .momentum = {}};
  test::compare("batch_norm_1d_train", nn::BatchNorm1d(3), trained);
  test::compare("batch_norm_1d_average", nn::BatchNorm1d(3, average), trained);
  test::compare("batch_norm_1d_eval", nn::BatchNorm1d(3), evaluated);
  test::compare("batch_norm_2d_train", nn::BatchNorm2d(2), trained);
  test::compare("batch_norm_2d_eval", nn::BatchNorm2d(2), evaluated);
}
