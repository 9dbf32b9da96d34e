// Feed-forward layers and normalisations beside PyTorch's.
#include <doctest/doctest.h>

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
