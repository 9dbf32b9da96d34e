// Recurrent layers: against their cells step by step, lengths, directions, dropout, all gradients
// by finite differences.
#include "nn/rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/scope.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;

namespace {

const Tensor& hidden(const Tensor& h) { return h; }
const Tensor& hidden(const LstmState& state) { return state.h; }

Tensor flat(const Tensor& state) { return reshape(state, {-1}); }
Tensor flat(const LstmState& state) { return concat({flat(state.h), flat(state.c)}); }

Tensor row(const Tensor& x, std::int64_t b) { return slice(x, 0, b, b + 1); }

// Everything that a layer gives, in one row.
template <class Layers>
Tensor all_of(const Layers& layers, const Tensor& x, const Tensor& lengths) {
  const auto [output, state] = layers(x, lengths);
  return concat({flat(output), flat(state)});
}

template <class Layers>
void check_rows_alone(std::uint64_t seed) {
  Rng rng(seed);
  const Layers layers =
      nn::to(Layers(3, 2, rng, {.num_layers = 2, .bidirectional = true}), DType::f64);
  const Tensor x = randn({4, 8, 3}, rng, DType::f64);
  const std::vector<std::int64_t> lengths{4, 6, 7, 0};
  const auto [output, state] = layers(x, from_vector(lengths, {4}));
  for (std::int64_t b = 0; b < 4; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    const auto alone = layers(slice(row(x, b), 1, 0, length));
    CHECK(test::max_difference(slice(row(output, b), 1, 0, length), alone.output) < 1e-14);
    CHECK(max(abs(slice(row(output, b), 1, length))).item() == 0);
    CHECK(test::max_difference(slice(hidden(state), 1, b, b + 1), hidden(alone.state)) < 1e-14);
  }
}

template <class Layers>
void check_padding_unread(std::uint64_t seed) {
  Rng rng(seed);
  const Layers layers(3, 2, rng, {.num_layers = 2, .bidirectional = true});
  const Tensor lengths = tensor({2, 4, 3}, DType::i64);
  const Tensor clean = randn({3, 5, 3}, rng);
  const Tensor inside = unsqueeze(lt(arange(5, DType::i64), unsqueeze(lengths, 1)), 2);
  std::vector<Tensor> results;
  for (const double padding : {0.0, std::nan("")}) {
    Tensor x = masked_fill(clean, logical_not(inside), padding);
    x.requires_grad_();
    for (Tensor& weight : nn::parameters(layers)) weight.zero_grad();
    const Tensor y = all_of(layers, x, lengths);
    y.backward(arange(static_cast<double>(y.numel())));
    std::vector<Tensor> parts{y.detach(), flat(x.grad())};
    for (const Tensor& weight : nn::parameters(layers)) parts.push_back(flat(weight.grad()));
    results.push_back(concat(parts));
    CHECK(max(abs(masked_fill(x.grad(), inside, 0))).item() == 0);
  }
  CHECK(results[0].to_vector<float>() == results[1].to_vector<float>());
}

template <class Layers>
void check_gradients(const nn::RecurrentOptions<typename decltype(Layers::cells)::value_type>& o,
                     std::uint64_t seed) {
  Rng rng(seed);
  const Layers layers = nn::to(Layers(2, 2, rng, o), DType::f64);
  for (const Tensor& lengths : {Tensor(), tensor({3, 1}, DType::i64)}) {
    const auto f = [&](const std::vector<Tensor>& in) { return all_of(layers, in[0], lengths); };
    const auto first = nn::gradcheck(layers, f, {test::input({2, 3, 2}, seed)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = nn::gradgradcheck(layers, f, {test::input({2, 3, 2}, seed)});
    CHECK_MESSAGE(second.ok, second.report);
  }
}

}  // namespace

TEST_CASE("LSTM is its cell step by step, from the state that is given") {
  Rng rng(1);
  const nn::LSTM layers = nn::to(nn::LSTM(3, 2, rng), DType::f64);
  const Tensor x = randn({2, 5, 3}, rng, DType::f64);
  const Tensor h = randn({1, 2, 2}, rng, DType::f64), c = randn({1, 2, 2}, rng, DType::f64);
  const auto [output, final] = layers(x, {}, {h, c});
  LstmState state{squeeze(h, 0), squeeze(c, 0)};
  for (std::int64_t t = 0; t < 5; ++t) {
    state = layers.cells[0](select(x, 1, t), state);
    CHECK(test::max_difference(select(output, 1, t), state.h) < 1e-14);
  }
  CHECK(test::max_difference(squeeze(final.h, 0), state.h) < 1e-14);
  CHECK(test::max_difference(squeeze(final.c, 0), state.c) < 1e-14);
}

TEST_CASE("the backward direction is the forward one of the reversed sequence") {
  Rng rng(2);
  const nn::GRU both = nn::to(nn::GRU(3, 2, rng, {.bidirectional = true}), DType::f64);
  nn::GRU single;
  single.cells = {both.cells[1]};
  const Tensor x = randn({2, 5, 3}, rng, DType::f64);
  const Tensor turned = flip(single(flip(x, {1})).output, {1});
  CHECK(test::max_difference(slice(both(x).output, 2, 2), turned) < 1e-14);
}

TEST_CASE("RNN6: each row of a batch equals the row alone, lengths 4, 6, 7 of 8, and 0") {
  check_rows_alone<nn::RNN>(3);
  check_rows_alone<nn::LSTM>(4);
  check_rows_alone<nn::GRU>(5);
}

TEST_CASE("the padding is never read: NaN there reaches no output and no gradient") {
  check_padding_unread<nn::RNN>(6);
  check_padding_unread<nn::LSTM>(7);
  check_padding_unread<nn::GRU>(8);
}

TEST_CASE("gradients of RNN, LSTM and GRU, with and without lengths") {
  check_gradients<nn::RNN>({.bidirectional = true}, 9);
  check_gradients<nn::LSTM>({.num_layers = 2}, 10);
  check_gradients<nn::LSTM>({.bidirectional = true}, 11);
  check_gradients<nn::GRU>({.bidirectional = true, .cell = {.bias = false}}, 12);
}

TEST_CASE("recurrent layers: PyTorch's names") {
  Rng rng(13);
  std::vector<std::string> names;
  for (const auto& [name, tensor] :
       nn::named_tensors(nn::RNN(3, 2, rng, {.num_layers = 2, .bidirectional = true}))) {
    names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{
                     "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
                     "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
                     "bias_hh_l0_reverse", "weight_ih_l1", "weight_hh_l1", "bias_ih_l1",
                     "bias_hh_l1", "weight_ih_l1_reverse", "weight_hh_l1_reverse",
                     "bias_ih_l1_reverse", "bias_hh_l1_reverse"});
}

TEST_CASE("recurrent layers: dropout between layers only, in training only") {
  Rng rng(14);
  const nn::GRU two(3, 4, rng, {.num_layers = 2, .dropout = 1});
  const nn::GRU one(3, 4, rng, {.dropout = 1});
  const Tensor x = randn({2, 5, 3}, rng), other = randn({2, 5, 3}, rng);
  CHECK(test::max_difference(two(x).output, two(other).output) > 0.01);
  const Tensor outside = one(x).output;
  const TrainingScope training(rng);
  CHECK(test::max_difference(two(x).output, two(other).output) == 0);
  CHECK(test::max_difference(one(x).output, outside) == 0);
}

TEST_CASE("recurrent layers: empty batches and sequences") {
  Rng rng(15);
  const nn::LSTM layers(3, 2, rng, {.num_layers = 2, .bidirectional = true});
  CHECK(layers(zeros({0, 4, 3})).output.shape() == Shape{0, 4, 4});
  const auto [output, state] = layers(zeros({2, 0, 3}));
  CHECK(output.shape() == Shape{2, 0, 4});
  CHECK(state.c.shape() == Shape{4, 2, 2});
  CHECK(max(abs(layers(ones({2, 3, 3}), tensor({0, 0}, DType::i64)).output)).item() == 0);
}

TEST_CASE("recurrent layers: what they refuse") {
  Rng rng(16);
  CHECK_THROWS_WITH_AS(nn::GRU(3, 2, rng, {.num_layers = 0}),
                       "RNN: num_layers must be at least 1, got 0", Error);
  CHECK_THROWS_WITH_AS(nn::GRU(3, 2, rng, {.dropout = 1.5}),
                       "RNN: dropout must be in [0, 1], got 1.5", Error);
  const nn::GRU layers(3, 2, rng);
  CHECK_THROWS_WITH_AS(layers(zeros({2, 5, 4})),
                       "RNN: x must be [batch, time, 3], got shape [2, 5, 4]", Error);
  CHECK_THROWS_WITH_AS(layers(zeros({2, 5, 3}), tensor({1, 2, 3}, DType::i64)),
                       "RNN: lengths must be [batch], got [3] for batch 2", Error);
  CHECK_THROWS_WITH_AS(layers(zeros({2, 5, 3}), tensor({1, 6}, DType::i64)),
                       "padding_mask: length 6 is not in [0, 5]", Error);
  CHECK_THROWS_WITH_AS(layers(zeros({2, 5, 3}), {}, zeros({1, 1, 2})),
                       "RNN: the initial state must have shape [1, 2, 2], got [1, 1, 2]", Error);
}
