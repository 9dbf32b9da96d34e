// Lesson 8: an RNN unrolled, whose gradient vanishes on the way back in time, beside attention.
#include <fmt/core.h>

#include <cmath>

#include "core/autograd.h"
#include "core/create.h"
#include "core/ops.h"
#include "core/scope.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"

namespace gradzoo::examples::lessons {
namespace {

// What both networks are made of. h is a row [1, 2], as is each token.
struct Weights {
  Tensor h0, w_h, w_x;   // of the RNN
  Tensor w_q, w_k, w_v;  // of attention
};

Tensor leaf(const Nested& numbers) { return tensor(numbers, DType::f64).requires_grad_(); }

// w_h turns a state and makes it shorter, by 0.5, so that going back a step makes a gradient
// shorter by 0.5 too, and by the slope of tanh, which is at most 1.
Weights make_weights() {
  return {leaf({{0, 0}}),
          leaf({{0.4, -0.3}, {0.3, 0.4}}),
          leaf({{0.8, 0.6}, {-0.6, 0.8}}),
          leaf({{0.4, 0}, {0, 0.4}}),
          leaf({{0.4, 0}, {0, 0.4}}),
          leaf({{0.8, 0.6}, {-0.6, 0.8}})};
}

// The states after each token: h_t = tanh(h_(t-1) w_h + x_t w_x) (Elman 1990).
std::vector<Tensor> run_rnn(Lesson& lesson, const Weights& w, const std::vector<Tensor>& x) {
  std::vector<Tensor> states;
  Tensor h = w.h0;
  for (const Tensor& token : x) {
    const Scope scope("Step");
    const Tensor before = matmul(h, w.w_h);
    const Tensor now = matmul(token, w.w_x);
    h = lesson.name(fmt::format("h{}", states.size() + 1), tanh(before + now));
    states.push_back(h);
  }
  return states;
}

// What the last token reads from all of them: softmax(q K^T / sqrt(d)) V.
Tensor run_attention(Lesson& lesson, const Weights& w, const std::vector<Tensor>& x) {
  const Scope scope("Attention");
  const Tensor all = concat(x);                                                           // [n, 2]
  const Tensor q = lesson.name("q", matmul(x.back(), w.w_q));                             // [1, 2]
  const Tensor k = lesson.name("k", matmul(all, w.w_k));                                  // [n, 2]
  const Tensor v = lesson.name("v", matmul(all, w.w_v));                                  // [n, 2]
  const Tensor scores = lesson.name("scores", matmul(q, transpose(k)) / std::sqrt(2.0));  // [1, n]
  const Tensor weights = lesson.name("weights", softmax(scores));                         // [1, n]
  return lesson.name("context", matmul(weights, v));                                      // [1, 2]
}

std::vector<Tensor> make_tokens(std::int64_t count, Rng& rng) {
  std::vector<Tensor> x;
  for (std::int64_t t = 0; t < count; ++t) x.push_back(short_leaf({1, 2}, rng));
  return x;
}

// Sizes of the gradients of `loss` with respect to each of the tensors.
std::vector<double> gradient_sizes(const Tensor& loss, const std::vector<Tensor>& tensors) {
  std::vector<double> sizes;
  for (const Tensor& g : grad({loss}, tensors, {.retain_graph = true})) sizes.push_back(size_of(g));
  return sizes;
}

void show_steps(Lesson& lesson, const Weights& w, const std::vector<Tensor>& x,
                const Tensor& wanted) {
  const std::vector<Tensor> states = run_rnn(lesson, w, x);
  const Tensor loss = mse_loss(states.back(), wanted);
  const std::vector<double> by_state = gradient_sizes(loss, states);
  const std::vector<double> by_token = gradient_sizes(loss, x);
  const std::vector<double> attended =
      gradient_sizes(mse_loss(run_attention(lesson, w, x), wanted), x);
  WalkTable table{{"step", "RNN: state", "RNN: token", "attention: token"}, {}};
  for (std::size_t t = 0; t < x.size(); ++t) {
    table.rows.push_back({std::to_string(t + 1), fmt::format("{:.5f}", by_state[t]),
                          fmt::format("{:.5f}", by_token[t]), fmt::format("{:.5f}", attended[t])});
  }
  lesson.say("The gradient, step by step",
             "Sizes of the gradients of the two losses you have just walked through, with respect "
             "to the RNN's states and to the tokens. In the RNN what the loss knows of a token has "
             "to come back through every later state, and each makes it less than half as large. "
             "Attention has one way to every token, as long for the first as for the others.",
             table);
}

// The first token's gradient as a share of the mean over all tokens, on average.
struct Shares {
  double rnn = 0, attention = 0;
};

Shares first_shares(Lesson& lesson, const Weights& w, std::int64_t length) {
  Rng& rng = lesson.rng();
  constexpr int kDraws = 100;
  double rnn_first = 0, rnn_all = 0, attention_first = 0, attention_all = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::vector<Tensor> x = make_tokens(length, rng);
    const Tensor wanted = short_normal({1, 2}, rng);
    const auto add = [&](const Tensor& loss, double& first, double& all) {
      const std::vector<double> sizes = gradient_sizes(loss, x);
      first += sizes.front();
      for (const double size : sizes) all += size / static_cast<double>(length);
    };
    add(mse_loss(run_rnn(lesson, w, x).back(), wanted), rnn_first, rnn_all);
    add(mse_loss(run_attention(lesson, w, x), wanted), attention_first, attention_all);
  }
  return {rnn_first / rnn_all, attention_first / attention_all};
}

void show_lengths(Lesson& lesson, const Weights& w) {
  WalkTable table{{"tokens", "RNN", "attention"}, {}};
  for (const std::int64_t length : {2, 4, 8, 16, 32}) {
    const Shares shares = first_shares(lesson, w, length);
    table.rows.push_back({std::to_string(length), fmt::format("{:.1e}", shares.rnn),
                          fmt::format("{:.2f}", shares.attention)});
  }
  lesson.say("Longer sequences",
             "The gradient that reaches the first token, as a share of what reaches a token on "
             "average; means over 100 random sequences of each length. That of the RNN falls "
             "exponentially with the length: it vanishes, and the network does not learn what the "
             "beginning has to do with the end. With attention the first token is like any other.",
             table);
}

}  // namespace

void vanishing(Lesson& lesson) {
  const Weights w = make_weights();
  const std::vector<Tensor> x = make_tokens(6, lesson.rng());
  const Tensor wanted = short_normal({1, 2}, lesson.rng());
  Names tokens = {{"wanted", wanted}};
  for (std::size_t t = 0; t < x.size(); ++t) tokens.emplace_back(fmt::format("x{}", t + 1), x[t]);

  Names names = {{"h0", w.h0}, {"w_h", w.w_h}, {"w_x", w.w_x}};
  names.insert(names.end(), tokens.begin(), tokens.end());
  lesson.say("One state carries everything",
             "An RNN reads one token after the other into a state: h_t = tanh(h_(t-1) w_h + x_t "
             "w_x) (Elman 1990). Unrolled in time it is a deep network with the same weights in "
             "each layer. The loss looks at the last state only.\n\n"
             "Going back, dh_(t-1) = (dh_t * (1 - h_t^2)) w_h^T. Here w_h shortens every vector to "
             "one half and the slope 1 - h_t^2 is at most 1: the gradient is at least halved "
             "at each step. It must vanish whenever the largest singular value of w_h is below 1 "
             "(Pascanu et al. 2013), and may explode when it is above.");
  lesson.walk("An RNN over six tokens", names,
              [&] { return mse_loss(run_rnn(lesson, w, x).back(), wanted); });

  forget_gradients(names);
  names = {{"w_q", w.w_q}, {"w_k", w.w_k}, {"w_v", w.w_v}};
  names.insert(names.end(), tokens.begin(), tokens.end());
  lesson.say("Attention looks at all of them",
             "The same six tokens and the same wanted result. The last token asks, all six answer: "
             "softmax(q K^T / sqrt(d)) V. From the loss to any token it is the same few ops, "
             "however long the sequence is (table 1 of Vaswani et al. 2017: maximum path length "
             "O(1), for a recurrent layer O(n)).");
  lesson.walk("Attention over six tokens", names,
              [&] { return mse_loss(run_attention(lesson, w, x), wanted); });

  show_steps(lesson, w, x, wanted);
  show_lengths(lesson, w);
}

}  // namespace gradzoo::examples::lessons
