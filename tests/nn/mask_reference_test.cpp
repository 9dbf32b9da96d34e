// Attention under float masks beside PyTorch's: outputs and every gradient, of the mask too.
#include <doctest/doctest.h>

#include "nn/alibi.h"
#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using test::compare;
using test::Inputs;

namespace {

// compare() wants a module; a function has no weights.
struct NoWeights {
  static void fields(auto&, auto&&) {}
};

}  // namespace

TEST_CASE("PyTorch: attention under a float mask, with hidden places and a query that sees none") {
  compare("float_mask", NoWeights{}, [](const auto&, const Inputs& in, const auto&) {
    return nn::scaled_dot_product_attention(in[0], in[1], in[2], unsqueeze(in[3], 0));
  });
}

TEST_CASE("PyTorch: attention under ALiBi, three heads, fewer queries than keys") {
  compare("float_mask_alibi", NoWeights{}, [](const auto&, const Inputs& in, const auto&) {
    return nn::scaled_dot_product_attention(in[0], in[1], in[2],
                                            nn::alibi_biases(3, 4, 5, in[0].dtype()));
  });
}

TEST_CASE("PyTorch: attention under a float mask together with padding") {
  compare("float_mask_and_boolean", NoWeights{},
          [](const auto&, const Inputs& in, const auto& get) {
            const Tensor mask = nn::operator&(get("mask"), in[3]);
            return nn::scaled_dot_product_attention(in[0], in[1], in[2], mask);
          });
}

TEST_CASE("PyTorch: MultiheadAttention under a float mask") {
  Rng rng(1);
  compare("attention_float_mask", nn::MultiheadAttention(8, 2, rng),
          [](const auto& m, const Inputs& in, const auto& get) {
            return m(in[0], in[0], in[0], get("bias"));
          });
}
