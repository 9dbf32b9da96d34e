// Lesson 7: several heads of attention, which are views of one tensor.
#include <fmt/core.h>

#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"
#include "nn/attention.h"
#include "nn/clone.h"

namespace gradzoo::examples::lessons {
namespace {

constexpr std::int64_t kWidth = 4;

nn::MultiheadAttention make_layer(std::int64_t heads, Rng& rng) {
  const auto layer = nn::to(nn::MultiheadAttention(kWidth, heads, rng), DType::f64);
  round_in_place(nn::named_parameters(layer), 2);
  return layer;
}

void show_costs(Lesson& lesson, const Tensor& x) {
  WalkTable table{{"heads", "width of each", "parameters", "nodes of the graph"}, {}};
  for (const std::int64_t heads : {1, 2, 4}) {
    const nn::MultiheadAttention layer = make_layer(heads, lesson.rng());
    table.rows.push_back({std::to_string(heads), std::to_string(kWidth / heads),
                          std::to_string(nn::parameter_count(layer)),
                          std::to_string(graph_nodes({layer(x, x, x)}).size())});
  }
  lesson.say(
      "What more heads cost",
      "Nothing: the matrices are as large as with one head, and only cut into more parts, "
      "each narrower. All heads are computed by the same ops, for the head is one more axis "
      "of the tensors. What is gained: each head has its own softmax, so a token can look at "
      "several places at once for different reasons.",
      table);
}

}  // namespace

void heads(Lesson& lesson) {
  const std::vector<std::string> tokens = {"the", "cat", "sat"};
  const Tensor x = short_leaf({1, 3, kWidth}, lesson.rng());
  const Tensor wanted = short_normal({1, 3, kWidth}, lesson.rng());

  lesson.say("A head is a view",
             "x holds 3 tokens of width 4: [batch, time, width]. Two heads are two parts of width "
             "2: reshape writes the last axis as [heads, 2], permute puts the heads before time. "
             "Neither moves a number in memory; only the strides are others. Then every matrix "
             "product and softmax runs for both heads at once.\n\n"
             "At the end permute and reshape lay the heads side by side again. This reshape does "
             "copy: no strides can say in what order the numbers should come.\n\n"
             "First without any weights: queries, keys and values are all x. So x gets its "
             "gradient through three uses of its heads.");
  lesson.walk("Two heads of x", {{"x", x}, {"wanted", wanted}}, [&] {
    const Tensor split = lesson.name("heads", nn::split_heads(x, 2));  // [1, 2, 3, 2]
    const Tensor scores =
        lesson.name("scores", matmul(split, transpose(split)) / std::sqrt(2.0));  // [1, 2, 3, 3]
    const Tensor weights = lesson.name("weights", softmax(scores));
    const Tensor context = lesson.name("context", matmul(weights, split));  // [1, 2, 3, 2]
    return mse_loss(nn::merge_heads(context), wanted);                      // [1, 3, 4]
  });

  const nn::MultiheadAttention layer = make_layer(2, lesson.rng());
  Names names = {{"x", x}, {"wanted", wanted}};
  forget_gradients(names);
  for (const auto& parameter : nn::named_parameters(layer)) names.push_back(parameter);
  lesson.say(
      "Multi-head attention",
      "MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O with head_i = Attention(Q W_i^Q, "
      "K W_i^K, V W_i^V): section 3.2.2 of Vaswani et al. 2017. The layer of the library "
      "keeps W^Q, W^K and W^V of all heads in one matrix, in_proj_weight [12, 4], so that "
      "queries, keys and values come from one product; slices of the result are the three. "
      "out_proj is W^O.");
  lesson.walk("Two heads with weights", names, [&] { return mse_loss(layer(x, x, x), wanted); });
  const Tensor weights = layer.with_weights(x, x, x).weights.detach();  // [1, 2, 3, 3]
  for (std::int64_t head = 0; head < 2; ++head) {
    lesson.say(fmt::format("What head {} looks at", head + 1),
               head == 0 ? "A row for each query; each adds up to 1."
                         : "The same tokens, another set of weights: other things are compared.",
               grid("query", tokens, tokens, select(select(weights, 0, 0), 0, head)));
  }
  show_costs(lesson, x);
}

}  // namespace gradzoo::examples::lessons
