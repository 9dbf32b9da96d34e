// Rows of the layers without a notion of time or place: Linear, Embedding, FeedForward, Dropout.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/linear.h"

namespace gradzoo::examples {
namespace {

using nn::FeedForwardKind;

LayerRow linear_row(const std::string& option, bool bias, const Shape& x) {
  return {"Linear", option, 4 * 3 + (bias ? 4 : 0), [=](Rng& rng) {
            return layer_case(nn::Linear(3, 4, rng, {.bias = bias}), rng, {{"x", input(x, rng)}});
          }};
}

// The row of padding_idx gets no gradient by definition, so it is looked up but not let out.
LayerRow embedding_row(const std::string& option, const Tensor& ids, std::int64_t padding_idx) {
  return {"Embedding", option, 5 * 3, [=](Rng& rng) {
            const auto f = [=](const nn::Embedding& m, const Inputs& in) {
              const Tensor rows = square(m(in[0]));
              return masked_fill(rows, unsqueeze(eq(in[0], double(padding_idx)), -1), 0);
            };
            return layer_case(nn::Embedding(5, 3, rng, {.padding_idx = padding_idx}), rng,
                              {{"ids", ids}}, f);
          }};
}

// W and W2, in the gated kinds V too, each with a bias. The same hidden values are dropped at every
// call.
LayerRow feed_forward_row(const std::string& option, FeedForwardKind kind, bool bias = true,
                          double dropout = 0) {
  const std::int64_t d = 3, hidden = 4, up = nn::is_gated(kind) ? 2 : 1;
  const std::int64_t count = up * d * hidden + hidden * d + (bias ? up * hidden + d : 0);
  return {"FeedForward", option, count, [=](Rng& rng) {
            const nn::FeedForward made({d, hidden, kind, dropout, bias}, rng);
            const auto f = [](const nn::FeedForward& m, const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return m(in[0]);
            };
            return layer_case(made, rng, {{"x", input({2, 2, d}, rng)}}, f);
          }};
}

// The same numbers are dropped at every call.
LayerRow dropout_row() {
  return {"dropout", "in training", 0, [](Rng& rng) {
            const auto f = [](const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return square(dropout(in[0], 0.4));
            };
            return LayerCase{{{"x", input({3, 4}, rng)}}, {}, f};
          }};
}

}  // namespace

std::vector<LayerRow> linear_rows() {
  return {
      linear_row("one vector", true, {3}),
      linear_row("a batch of sequences", true, {2, 2, 3}),
      linear_row("without bias", false, {2, 3}),
      embedding_row("repeated ids", tensor({{3, 1, 3}, {0, 3, 1}}, DType::i64), -1),
      embedding_row("padding_idx", tensor({{3, 1, 2}, {4, 2, 2}}, DType::i64), 2),
      feed_forward_row("relu", FeedForwardKind::relu),
      feed_forward_row("gelu", FeedForwardKind::gelu),
      feed_forward_row("gelu by tanh", FeedForwardKind::gelu_tanh),
      feed_forward_row("glu", FeedForwardKind::glu),
      feed_forward_row("bilinear", FeedForwardKind::bilinear),
      feed_forward_row("reglu", FeedForwardKind::reglu),
      feed_forward_row("geglu", FeedForwardKind::geglu),
      feed_forward_row("swiglu", FeedForwardKind::swiglu),
      feed_forward_row("gelu, without bias", FeedForwardKind::gelu, false),
      feed_forward_row("swiglu, without bias", FeedForwardKind::swiglu, false),
      feed_forward_row("relu, dropout", FeedForwardKind::relu, true, 0.3),
      dropout_row(),
  };
}

}  // namespace gradzoo::examples
