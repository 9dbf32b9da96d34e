// Recurrent layers whose cell is chosen when they are made: they are those of that cell.
#include "nn/any_recurrent.h"

#include <doctest/doctest.h>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

std::vector<float> bits(const Tensor& x) { return x.to_vector<float>(); }

// The layers of that cell made from the same numbers, with outputs and final h.
template <class Cell>
void check_is(CellKind kind) {
  CAPTURE(static_cast<int>(kind));
  Rng rng(1), same(1);
  const AnyRecurrent any(kind, 3, 2, rng, {2, true, 0.25});
  const Recurrent<Cell> plain(
      3, 2, same, {.num_layers = 2, .bidirectional = true, .dropout = 0.25, .cell = {}});
  CHECK(std::get<Recurrent<Cell>>(any.layers).dropout == 0.25);
  const NamedTensors weights = named_tensors(any), wanted = named_tensors(plain);
  REQUIRE(weights.size() == wanted.size());
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK(weights[i].first == wanted[i].first);
  const Tensor x = randn({2, 4, 3}, rng), lengths = tensor({4, 2}, DType::i64);
  const LstmState begin{randn({4, 2, 2}, rng), randn({4, 2, 2}, rng)};
  const auto [output, state] = any(x, lengths, begin);
  if constexpr (std::is_same_v<Cell, LSTMCell>) {
    const auto expected = plain(x, lengths, begin);
    CHECK(bits(output) == bits(expected.output));
    CHECK(bits(state.h) == bits(expected.state.h));
    CHECK(bits(state.c) == bits(expected.state.c));
  } else {
    const auto expected = plain(x, lengths, begin.h);
    CHECK(bits(output) == bits(expected.output));
    CHECK(bits(state.h) == bits(expected.state));
    CHECK(!state.c.defined());
  }
}

}  // namespace

TEST_CASE("AnyRecurrent is the layers of the cell it is made with") {
  check_is<RNNCell>(CellKind::rnn);
  check_is<LSTMCell>(CellKind::lstm);
  check_is<GRUCell>(CellKind::gru);
}

TEST_CASE("side_by_side: both directions of a layer in one row") {
  const Tensor states = reshape(arange(16), {4, 2, 2});  // of layer 0 both ways, then of layer 1
  const LstmState joined = side_by_side({states, {}});
  CHECK(joined.h.shape() == Shape{2, 2, 4});
  CHECK(joined.h.to_vector<float>() ==
        std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
  CHECK(!joined.c.defined());
  CHECK(side_by_side({states, states * 2}).c.to_vector<float>()[2] == 8);
}
