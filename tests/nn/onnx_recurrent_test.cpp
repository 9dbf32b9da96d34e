// ONNX's RNN and LSTM through our layers. Its folder has no vectors for GRU.
#include <doctest/doctest.h>

#include "nn/rnn.h"
#include "tests/core/onnx_runner.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// The gates of the first axis in another order.
Tensor reordered(const Tensor& x, const std::vector<std::int64_t>& order) {
  const std::int64_t n = x.size(0) / static_cast<std::int64_t>(order.size());
  Tensors parts;
  for (const std::int64_t gate : order) parts.push_back(slice(x, 0, gate * n, (gate + 1) * n));
  return concat(parts);
}

// W and R [directions, gates * hidden, …] and B, both biases in one row, as a layer. `order` says
// which of ONNX's gates is our first, second, …
template <class Layers>
Layers layers_of(const OnnxCase& c, const std::vector<std::int64_t>& order) {
  Layers layers;
  layers.bidirectional = c.in(1).size(0) == 2;
  REQUIRE(c.text("direction", "forward") != std::string("reverse"));
  for (std::int64_t d = 0; d < c.in(1).size(0); ++d) {
    auto& cell = layers.cells.emplace_back();
    cell.weight_ih = reordered(select(c.in(1), 0, d), order);
    cell.weight_hh = reordered(select(c.in(2), 0, d), order);
    if (!c.has_input(3)) continue;
    const Tensor biases = reshape(select(c.in(3), 0, d), {2, -1});
    cell.bias_ih = reordered(select(biases, 0, 0), order);
    cell.bias_hh = reordered(select(biases, 0, 1), order);
  }
  return layers;
}

// With layout 1 the batch is the first axis of everything, else time or the direction.
struct Layout {
  bool batch_first;

  Tensor input(const Tensor& x) const { return batch_first ? x : transpose(x, 0, 1); }
  Tensor state(const Tensor& h) const { return batch_first ? transpose(h, 0, 1) : h; }
  // [batch, time, directions * hidden] with an axis for the directions.
  Tensor output(const Tensor& y, std::int64_t directions) const {
    const Tensor split = reshape(y, {y.size(0), y.size(1), directions, -1});
    return batch_first ? split : permute(split, {1, 2, 0, 3});
  }
};

Tensor optional_input(const OnnxCase& c, std::size_t i) {
  return c.has_input(i) ? c.in(i) : Tensor();
}

Tensor lengths_of(const OnnxCase& c) { return c.has_input(4) ? to(c.in(4), DType::i64) : Tensor(); }

Tensors rnn(const OnnxCase& c) {
  const auto layers = layers_of<nn::RNN>(c, {0});
  const Layout layout{c.integer("layout", 0) == 1};
  const Tensor h = optional_input(c, 5);
  const auto [output, state] =
      layers(layout.input(c.in(0)), lengths_of(c), h.defined() ? layout.state(h) : h);
  return {layout.output(output, c.in(1).size(0)), layout.state(state)};
}

// i, o, f, c as i, f, c, o.
Tensors lstm(const OnnxCase& c) {
  const auto layers = layers_of<nn::LSTM>(c, {0, 2, 3, 1});
  const Layout layout{c.integer("layout", 0) == 1};
  const auto own = [&](const Tensor& x) { return x.defined() ? layout.state(x) : x; };
  const auto [output, state] = layers(layout.input(c.in(0)), lengths_of(c),
                                      {own(optional_input(c, 5)), own(optional_input(c, 6))});
  return {layout.output(output, c.in(1).size(0)), layout.state(state.h), layout.state(state.c)};
}

}  // namespace

TEST_CASE("RNN1, ONNX: RNN and LSTM, whose gates are in another order") {
  OnnxFamily family;
  family.ops["RNN"] = rnn;
  family.ops["LSTM"] = lstm;
  family.not_applicable["lstm_with_peepholes"] =
      "gates that look at the cell: PyTorch's LSTM, whose layout this is, has none";
  const OnnxCounts counts = run_onnx_family("recurrent layers", family);
  if (!onnx_cases().empty()) CHECK(counts.ran == 6);
}
