// Rows of the recurrent layers: cells and sequences.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/attentive_rnn.h"
#include "nn/rnn.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kIn = 2, kHidden = 2;

Tensor flat(const Tensor& state) { return reshape(state, {state.numel()}); }
Tensor flat(const LstmState& state) { return joined({state.h, state.c}); }

// What a state is made of, as inputs; and a state of the inputs from the second on.
template <class State>
nn::NamedTensors state_inputs(const Shape& shape, Rng& rng) {
  nn::NamedTensors inputs{{"h", input(shape, rng)}};
  if (std::is_same_v<State, LstmState>) inputs.emplace_back("c", input(shape, rng));
  return inputs;
}

template <class State>
State state_of(const Inputs& in) {
  if constexpr (std::is_same_v<State, LstmState>) {
    return {in[1], in[2]};
  } else {
    return in[1];
  }
}

// Each gate has a matrix for x and one for h, each with a bias.
std::int64_t cell_parameters(std::int64_t gates, std::int64_t in, bool bias) {
  return gates * (kHidden * in + kHidden * kHidden + (bias ? 2 * kHidden : 0));
}

template <class Cell>
LayerRow cell_row(const std::string& layer, const std::string& option, std::int64_t gates,
                  const typename Cell::Options& options = {}) {
  return {layer, option, cell_parameters(gates, kIn, options.bias), [=](Rng& rng) {
            using State = typename Cell::State;
            const auto f = [](const Cell& m, const Inputs& in) {
              return flat(m(in[0], state_of<State>(in)));
            };
            nn::NamedTensors inputs{{"x", input({2, kIn}, rng)}};
            for (const auto& part : state_inputs<State>({2, kHidden}, rng)) inputs.push_back(part);
            return layer_case(Cell(kIn, kHidden, rng, options), rng, inputs, f);
          }};
}

template <class Cell>
std::int64_t sequence_parameters(std::int64_t gates, const nn::RecurrentOptions<Cell>& o) {
  const std::int64_t directions = o.bidirectional ? 2 : 1;
  std::int64_t count = 0;
  for (std::int64_t layer = 0; layer < o.num_layers; ++layer) {
    const std::int64_t in = layer == 0 ? kIn : directions * kHidden;
    count += directions * cell_parameters(gates, in, o.cell.bias);
  }
  return count;
}

// Two sequences of three steps (of `lengths`, when defined) from an initial state.
template <class Cell>
LayerRow sequence_row(const std::string& layer, const std::string& option, std::int64_t gates,
                      const nn::RecurrentOptions<Cell>& o, const Tensor& lengths = {}) {
  return {layer, option, sequence_parameters(gates, o), [=](Rng& rng) {
            using Layers = nn::Recurrent<Cell>;
            using State = typename Cell::State;
            const Shape state{o.num_layers * (o.bidirectional ? 2 : 1), 2, kHidden};
            const auto f = [=](const Layers& m, const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              const auto got = m(in[0], lengths, state_of<State>(in));
              return joined({got.output, flat(got.state)});
            };
            nn::NamedTensors inputs{{"x", input({2, 3, kIn}, rng)}};
            for (const auto& part : state_inputs<State>(state, rng)) inputs.push_back(part);
            return layer_case(Layers(kIn, kHidden, rng, o), rng, inputs, f);
          }};
}

template <class Cell>
void add_sequences(std::vector<LayerRow>& rows, const std::string& layer, std::int64_t gates) {
  const Tensor lengths = tensor({3, 1}, DType::i64);
  rows.push_back(sequence_row<Cell>(layer, "", gates, {}));
  rows.push_back(sequence_row<Cell>(layer, "without bias", gates, {.cell = {.bias = false}}));
  rows.push_back(sequence_row<Cell>(layer, "lengths", gates, {}, lengths));
  rows.push_back(sequence_row<Cell>(layer, "2 layers", gates, {.num_layers = 2}));
  rows.push_back(
      sequence_row<Cell>(layer, "2 layers, dropout", gates, {.num_layers = 2, .dropout = 0.3}));
  rows.push_back(sequence_row<Cell>(layer, "both directions", gates, {.bidirectional = true}));
  rows.push_back(sequence_row<Cell>(layer, "2 layers, 2 ways, lengths", gates,
                                    {.num_layers = 2, .bidirectional = true}, lengths));
}

// Attention over the own past. With `past`, two steps come before, read by the same layer.
template <class Layer>
LayerRow past_row(const std::string& layer, const std::string& option, std::int64_t parameters,
                  const typename decltype(Layer::cell)::Options& options, bool past = false,
                  const Tensor& lengths = {}) {
  return {layer, option, parameters, [=](Rng& rng) {
            const auto f = [=](const Layer& m, const Inputs& in) {
              const auto got = m(in[0], lengths, past ? m(in[1]).past : nn::PastStates{});
              return joined({got.output, got.weights, got.past.states, got.past.latest});
            };
            nn::NamedTensors inputs{{"x", input({2, 3, kIn}, rng)}};
            if (past) inputs.emplace_back("x before", input({2, 2, kIn}, rng));
            return layer_case(Layer(kIn, kHidden, rng, options), rng, inputs, f);
          }};
}

// The score is the user's to choose.
LayerRow dot_score_row() {
  return {"AttentiveRNN", "scaled dot score", cell_parameters(1, kIn, true), [](Rng& rng) {
            const auto f = [](const nn::AttentiveRNN& m, const Inputs& in) {
              const nn::AttentiveOutput got = m(in[0]);
              return joined({got.output, got.weights});
            };
            nn::AttentiveRNN made(kIn, kHidden, rng);
            made.score = nn::ScaledDotScore();
            return layer_case(made, rng, {{"x", input({2, 3, kIn}, rng)}}, f);
          }};
}

// Scores of width kHidden: v, a matrix for the keys h_i, one for the query.
template <class Layer>
void add_past(std::vector<LayerRow>& rows, const std::string& layer, std::int64_t gates,
              std::int64_t query) {
  const std::int64_t score = kHidden * (1 + kHidden + query);
  const std::int64_t all = score + cell_parameters(gates, kIn, true);
  rows.push_back(past_row<Layer>(layer, "", all, {}));
  rows.push_back(past_row<Layer>(layer, "without bias", score + cell_parameters(gates, kIn, false),
                                 {.bias = false}));
  rows.push_back(past_row<Layer>(layer, "lengths", all, {}, false, tensor({3, 1}, DType::i64)));
  rows.push_back(past_row<Layer>(layer, "with a past", all, {}, true));
}

}  // namespace

std::vector<LayerRow> recurrent_rows() {
  const nn::RNNCellOptions relu{.activation = nn::RNNActivation::relu};
  std::vector<LayerRow> rows{
      cell_row<nn::RNNCell>("RNNCell", "tanh", 1),
      cell_row<nn::RNNCell>("RNNCell", "relu", 1, relu),
      cell_row<nn::RNNCell>("RNNCell", "without bias", 1, {.bias = false}),
      cell_row<nn::LSTMCell>("LSTMCell", "", 4),
      cell_row<nn::LSTMCell>("LSTMCell", "without bias", 4, {.bias = false}),
      cell_row<nn::GRUCell>("GRUCell", "", 3),
      cell_row<nn::GRUCell>("GRUCell", "without bias", 3, {.bias = false}),
  };
  add_sequences<nn::RNNCell>(rows, "RNN", 1);
  rows.push_back(sequence_row<nn::RNNCell>("RNN", "relu", 1, {.cell = relu}));
  add_sequences<nn::LSTMCell>(rows, "LSTM", 4);
  add_sequences<nn::GRUCell>(rows, "GRU", 3);
  add_past<nn::AttentiveRNN>(rows, "AttentiveRNN", 1, kHidden);
  const std::int64_t attentive = kHidden * (1 + 2 * kHidden) + cell_parameters(1, kIn, true);
  rows.push_back(past_row<nn::AttentiveRNN>("AttentiveRNN", "relu", attentive, relu));
  rows.push_back(dot_score_row());
  add_past<nn::LSTMN>(rows, "LSTMN", 4, kIn + kHidden);
  return rows;
}

}  // namespace gradzoo::examples
