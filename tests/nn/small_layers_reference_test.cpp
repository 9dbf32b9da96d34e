// Normalisations beside PyTorch's.
#include <doctest/doctest.h>

#include "nn/rms_norm.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;

TEST_CASE("PyTorch: RmsNorm") {
  test::compare("rms_norm", nn::RmsNorm(5),
                [](const auto& m, const auto& in, const auto&) { return m(in[0]); });
}
