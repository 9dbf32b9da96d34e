// The summary of a module: rows, totals, tied tensors, buffers.
#include "nn/summary.h"

#include <doctest/doctest.h>

#include "core/create.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/transformer_layer.h"

using namespace gradzoo;

namespace {

struct Model {
  nn::Embedding embedding;
  std::vector<nn::Linear> out;
  Tensor seen;
  Tensor positions;

  static void fields(auto& self, auto&& visit) {
    visit("embedding", self.embedding);
    visit("out", self.out);
    visit("seen", self.seen);
    visit("positions", self.positions);
  }
};

}  // namespace

TEST_CASE("summary lists parameters with shapes, counts and a total, a tied one once") {
  Rng rng(1);
  Model model{nn::Embedding(20, 8, rng), {nn::Linear(8, 20, rng)}, Tensor(), Tensor()};
  model.out[0].weight = model.embedding.weight;
  CHECK(nn::summary(model) ==
        "parameter           shape  count\n"
        "embedding.weight  [20, 8]    160\n"
        "out.0.weight      [20, 8]         tied to embedding.weight\n"
        "out.0.bias           [20]     20\n"
        "total                        180\n");
}

TEST_CASE("summary lists buffers apart, tied ones once too") {
  Rng rng(2);
  Model model{nn::Embedding(1000, 1234, rng), {}, scalar(0, DType::i64), zeros({2, 3})};
  CHECK(nn::summary(model) ==
        "parameter                shape      count\n"
        "embedding.weight  [1000, 1234]  1,234,000\n"
        "total                           1,234,000\n"
        "\n"
        "buffer      shape  count\n"
        "seen           []      1\n"
        "positions  [2, 3]      6\n"
        "total                  7\n");
  model.positions = model.seen;
  CHECK(nn::summary(model) ==
        "parameter                shape      count\n"
        "embedding.weight  [1000, 1234]  1,234,000\n"
        "total                           1,234,000\n"
        "\n"
        "buffer     shape  count\n"
        "seen          []      1\n"
        "positions     []         tied to seen\n"
        "total                 1\n");
}

TEST_CASE("summary of nothing is a total of 0") {
  CHECK(nn::summary(Model{}) ==
        "parameter  shape  count\n"
        "total                 0\n");
}

TEST_CASE("the total of summary is parameter_count") {
  Rng rng(3);
  const nn::TransformerEncoderLayer layer({.d_model = 8, .num_heads = 2, .d_ff = 16}, rng);
  const std::string text = nn::summary(layer);
  const std::string total = text.substr(text.rfind(' ') + 1);
  CHECK(nn::parameter_count(layer) == 600);
  CHECK(total == "600\n");
}
