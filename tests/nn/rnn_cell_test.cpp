// Recurrent cells: values by hand, all gradients by finite differences.
#include "nn/rnn_cell.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/node.h"
#include "core/scope.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;

namespace {

Tensor joined(const Tensor& h) { return h; }
Tensor joined(const LstmState& state) { return concat({state.h, state.c}, 1); }

template <class Cell>
void check_gradients(const Cell& made, const auto& state_of, int states) {
  const Cell cell = nn::to(made, DType::f64);
  const auto f = [&](const std::vector<Tensor>& in) { return joined(cell(in[0], state_of(in))); };
  for (const std::int64_t batch : {0, 1, 3}) {
    std::vector<Tensor> inputs{test::input({batch, 3}, 4)};
    for (int i = 0; i < states; ++i) inputs.push_back(test::input({batch, 2}, 5));
    const auto first = nn::gradcheck(cell, f, inputs);
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = nn::gradgradcheck(cell, f, inputs);
    CHECK_MESSAGE(second.ok, second.report);
  }
}

}  // namespace

TEST_CASE("RNNCell by hand, with tanh and relu") {
  Rng rng(1);
  nn::RNNCell cell(2, 1, rng);
  assign(cell.weight_ih, tensor({{1, 2}}));
  assign(cell.weight_hh, tensor({{-3}}));
  assign(cell.bias_ih, tensor({0.5}));
  assign(cell.bias_hh, tensor({0.25}));
  const Tensor x = tensor({{1, 0.5}, {0, 1}}), h = tensor({{1}, {0.5}});
  const Tensor y = cell(x, h);
  CHECK(y.at({0, 0}) == doctest::Approx(std::tanh(-0.25)));
  CHECK(y.at({1, 0}) == doctest::Approx(std::tanh(1.25)));
  cell.activation = nn::RNNActivation::relu;
  CHECK(cell(x, h).to_vector<float>() == std::vector<float>{0, 1.25F});
}

TEST_CASE("RNN5: LSTMCell with a large forget bias keeps its cell") {
  Rng rng(2);
  nn::LSTMCell cell(2, 1, rng);
  assign(cell.bias_ih, tensor({-1e4, 1e4, 0, 0}));  // i, f, g, o
  const LstmState next = cell(tensor({{1, -1}}), {tensor({{0.3}}), tensor({{7}})});
  CHECK(next.c.item() == 7);
}

TEST_CASE("RNN3: the bias of GRUCell's product with h is inside r") {
  Rng rng(3);
  nn::GRUCell cell(1, 1, rng);
  for (const auto& [name, tensor] : nn::named_parameters(cell)) assign(tensor, tensor * 0.0);
  assign(cell.bias_hh, tensor({-100, -100, 5}));  // r and z shut
  CHECK(std::abs(cell(tensor({{1}}), tensor({{1}})).item()) < 1e-6);
  assign(cell.bias_hh, tensor({100, -100, 0.5}));  // r open
  CHECK(cell(tensor({{1}}), tensor({{1}})).item() == doctest::Approx(std::tanh(0.5)));
}

TEST_CASE("recurrent cells: names, shapes and first values of their weights") {
  Rng rng(4);
  const nn::GRUCell cell(3, 25, rng);
  CHECK(cell.weight_ih.shape() == Shape{75, 3});
  CHECK(cell.weight_hh.shape() == Shape{75, 25});
  CHECK(max(abs(cell.weight_hh)).item() <= 0.2);
  CHECK(max(abs(cell.weight_hh)).item() > 0.19);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : nn::named_tensors(nn::LSTMCell(2, 2, rng))) {
    names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih", "bias_hh"});
  CHECK(nn::parameter_count(nn::LSTMCell(2, 3, rng, {.bias = false})) == 12 * 5);
}

TEST_CASE("gradients of RNNCell, LSTMCell and GRUCell") {
  Rng rng(5);
  const auto h = [](const std::vector<Tensor>& in) { return in[1]; };
  const auto both = [](const std::vector<Tensor>& in) { return LstmState{in[1], in[2]}; };
  for (const bool bias : {true, false}) {
    check_gradients(nn::RNNCell(3, 2, rng, {.bias = bias}), h, 1);
    check_gradients(nn::LSTMCell(3, 2, rng, {.bias = bias}), both, 2);
    check_gradients(nn::GRUCell(3, 2, rng, {.bias = bias}), h, 1);
  }
}

TEST_CASE("recurrent cells name their scopes") {
  Rng rng(5);
  const Tensor x = zeros({1, 3}), h = zeros({1, 2});
  const auto path = [](const Tensor& y) { return path_of(y.node()->scope); };
  CHECK(path(nn::RNNCell(3, 2, rng)(x, h)) == "RNNCell");
  CHECK(path(nn::LSTMCell(3, 2, rng)(x, {h, h}).c) == "LSTMCell");
  CHECK(path(nn::GRUCell(3, 2, rng)(x, h)) == "GRUCell");
}

TEST_CASE("recurrent cells: what they refuse") {
  Rng rng(6);
  CHECK_THROWS_WITH_AS(nn::RNNCell(3, 0, rng),
                       "RNN: the widths must be at least 1, got in 3 and hidden 0", Error);
  const nn::GRUCell cell(3, 2, rng);
  CHECK_THROWS_WITH_AS(cell(zeros({4, 2}), zeros({4, 2})),
                       "GRUCell: x must be [batch, 3], got [4, 2]", Error);
  CHECK_THROWS_WITH_AS(cell(zeros({4, 3}), zeros({1, 2})),
                       "GRUCell: the state must be [batch, 2] for x of shape [4, 3], got [1, 2]",
                       Error);
}
