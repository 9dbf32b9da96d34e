// Lesson 6: scaled dot-product self-attention, from plain ops.
#include <fmt/core.h>

#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"
#include "nn/mask.h"

namespace gradzoo::examples::lessons {
namespace {

struct Attention {
  Tensor weights;  // [queries, keys]: how much of each value a query takes
  Tensor context;  // [queries, d]: what it gets
};

// Attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V of tokens x [n, d], formula (1) of Vaswani et
// al. 2017. `hidden` is true where a query (row) may not see a key (column).
Attention attend(Lesson& lesson, const Tensor& x, const Tensor& w_q, const Tensor& w_k,
                 const Tensor& w_v, const Tensor& hidden = {}) {
  const Tensor q = lesson.name("q", matmul(x, w_q));
  const Tensor k = lesson.name("k", matmul(x, w_k));
  const Tensor v = lesson.name("v", matmul(x, w_v));
  const double d = static_cast<double>(q.size(1));
  Tensor scores = lesson.name("scores", matmul(q, transpose(k)) / std::sqrt(d));
  if (hidden.defined()) scores = lesson.name("masked", masked_fill(scores, hidden, -INFINITY));
  const Tensor weights = lesson.name("weights", softmax(scores));  // of each row
  return {weights, lesson.name("context", matmul(weights, v))};
}

constexpr std::int64_t kDraws = 1000, kKeys = 4;

// What a softmax over scores [draws, 1, keys] does, as means over the draws.
struct Softened {
  double variance = 0;  // of the scores
  double entropy = 0;   // of the weights
  double gradient = 0;  // |gradient of the scores| / |gradient of the weights|
  double lost = 0;      // share of the draws in which that is below 1 %
};

Softened soften(const Tensor& scores, const Tensor& upstream) {
  Tensor s = scores.detach();
  s.requires_grad_();
  const Tensor weights = softmax(s);
  const Tensor reached = grad({weights}, {s}, {.grad_outputs = {upstream}})[0];
  const Tensor left = norm(reached, {1, 2}) / norm(upstream, {1, 2});  // [draws]
  const Tensor logs = log_softmax(scores);                             // finite where a weight is 0
  return {var(scores).item(), -mean(sum(exp(logs) * logs, {2})).item(), mean(left).item(),
          mean(to(lt(left, 0.01), DType::f64)).item()};
}

void show_scaling(Lesson& lesson) {
  WalkTable table{{"d", "variance", "scaled", "entropy", "scaled", "gradient", "scaled"}, {}};
  Softened plain, scaled;
  for (const std::int64_t d : {1, 4, 16, 64, 256}) {
    const Tensor query = randn({kDraws, 1, d}, lesson.rng(), DType::f64);
    const Tensor keys = randn({kDraws, kKeys, d}, lesson.rng(), DType::f64);
    const Tensor upstream = randn({kDraws, 1, kKeys}, lesson.rng(), DType::f64);
    const Tensor scores = matmul(query, transpose(keys));
    plain = soften(scores, upstream);
    scaled = soften(scores / std::sqrt(static_cast<double>(d)), upstream);
    table.rows.push_back({std::to_string(d), fixed(plain.variance, 2), fixed(scaled.variance, 2),
                          fixed(plain.entropy, 3), fixed(scaled.entropy, 3),
                          fixed(plain.gradient, 3), fixed(scaled.gradient, 3)});
  }
  lesson.say(
      "Why divide by sqrt(d)?",
      fmt::format(
          "If the numbers of a query and of a key are independent, with mean 0 and variance 1, "
          "their product is a sum of d terms of variance 1 and has variance d (footnote 4 of the "
          "paper). Divided by sqrt(d) it has variance 1, whatever d.\n\n"
          "The table: {} random queries with {} keys each, for several d; each pair of columns is "
          "without and with the division. Entropy: ln {} = {:.3f} if a query takes as much of each "
          "value, 0 if it takes one alone. Gradient: the size of the gradient behind the softmax, "
          "as a share of what comes in.\n\n"
          "Large scores make one weight nearly 1 and the others nearly 0, and then the rule "
          "ds = w * (dw - sum(w * dw)) gives nearly 0: with d = 256 less than 1 % of the gradient "
          "is left in {:.0f} % of the draws. With the division: in {:.0f} %.",
          kDraws, kKeys, kKeys, std::log(kKeys), 100 * plain.lost, 100 * scaled.lost),
      table);
}

}  // namespace

void self_attention(Lesson& lesson) {
  const std::vector<std::string> tokens = {"the", "cat", "sat", "down"};
  const Tensor x = short_leaf({4, 2}, lesson.rng());
  const Tensor w_q = short_leaf({2, 2}, lesson.rng());
  const Tensor w_k = short_leaf({2, 2}, lesson.rng());
  const Tensor w_v = short_leaf({2, 2}, lesson.rng());
  const Tensor wanted = short_normal({4, 2}, lesson.rng());
  Names names = {{"x", x}, {"w_q", w_q}, {"w_k", w_k}, {"w_v", w_v}, {"wanted", wanted}};

  lesson.say(
      "Every token asks every token",
      "Four tokens, \"the cat sat down\", each a row of x with two numbers. From each come three "
      "vectors: a query (what it looks for), a key (what it is found by) and a value (what it "
      "gives). The score of a pair is query times key, softmax turns the scores of a query into "
      "weights that add up to 1, and the query gets the sum of all values with these weights:\n\n"
      "Attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V, formula (1) of Vaswani et al. 2017; here "
      "d = 2.\n\n"
      "The loss, so that there is something to improve: the mean squared distance to a wanted "
      "result. Going back, look at x: it made q, k and v, so its gradient is a sum of three.");
  lesson.walk("Self-attention of four tokens", names,
              [&] { return mse_loss(attend(lesson, x, w_q, w_k, w_v).context, wanted); });
  lesson.say("Who looked at whom",
             "The weights: a row for each query, a column for each key. Each row adds up to 1. The "
             "gradient of each row of scores adds up to 0: if all scores of a row rise alike, the "
             "weights stay what they are.",
             grid("query", tokens, tokens, attend(lesson, x, w_q, w_k, w_v).weights));

  const Tensor hidden = logical_not(nn::causal_mask(4));
  names.emplace_back("hidden", hidden);
  forget_gradients(names);
  lesson.say("Not into the future",
             "A decoder that writes \"the cat sat down\" has not written \"down\" when it is at "
             "\"sat\". So the scores of keys that come later are set to -inf before the softmax "
             "(section 3.2.3 of the paper), and exp(-inf) is 0. This is the causal mask: true, "
             "that is hidden, above the diagonal.");
  lesson.walk("The same with a causal mask", names,
              [&] { return mse_loss(attend(lesson, x, w_q, w_k, w_v, hidden).context, wanted); });
  lesson.say("Who looked at whom, masked",
             "Above the diagonal every weight is exactly 0, and so is the gradient of every score "
             "there: the future has no influence, forward or backward. \"the\" sees itself alone; "
             "its weight is 1 whatever its score, so no score in its row gets a gradient.",
             grid("query", tokens, tokens, attend(lesson, x, w_q, w_k, w_v, hidden).weights));

  show_scaling(lesson);
}

}  // namespace gradzoo::examples::lessons
