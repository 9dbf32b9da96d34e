// Recurrent layers beside PyTorch's: two layers, both directions, sequences of unequal lengths, an
// initial state; outputs, final states and every gradient.
#include <doctest/doctest.h>

#include "nn/rnn.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using test::compare;
using test::Inputs;

namespace {

Tensor flat(const Tensor& x) { return reshape(x, {-1}); }

// Outputs and final h in one row, as the file has them.
const auto run = [](const auto& module, const Inputs& in, const auto& get) {
  const auto [output, h] = module(in[0], get("lengths"), in[1]);
  return concat({flat(output), flat(h)});
};

}  // namespace

TEST_CASE("PyTorch: RNN with tanh and with relu") {
  Rng rng(1);
  for (const auto& [name, activation] :
       {std::pair("rnn_tanh", nn::RNNActivation::tanh), {"rnn_relu", nn::RNNActivation::relu}}) {
    compare(name,
            nn::RNN(3, 2, rng,
                    {.num_layers = 2, .bidirectional = true, .cell = {.activation = activation}}),
            run);
  }
}

TEST_CASE("RNN1, PyTorch: LSTM") {
  Rng rng(2);
  compare("lstm", nn::LSTM(3, 2, rng, {.num_layers = 2, .bidirectional = true}),
          [](const auto& module, const Inputs& in, const auto& get) {
            const auto [output, state] = module(in[0], get("lengths"), {in[1], in[2]});
            return concat({flat(output), flat(state.h), flat(state.c)});
          });
}

TEST_CASE("RNN3, PyTorch: GRU") {
  Rng rng(3);
  compare("gru", nn::GRU(3, 2, rng, {.num_layers = 2, .bidirectional = true}), run);
}
