// Recurrent sequences: their fused gradients beside the formula step by step, rows on their own,
// padding, threads, refusals. Values and derivatives are in the op table.
#include "core/ops/recurrent_sequence.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

using Tensors = std::vector<Tensor>;

// One of the ops, as a function of gates_x, weight_hh, h, and what it takes besides.
struct Op {
  const char* name;
  std::int64_t gates;
  Tensors (*run)(const Tensors& in, const SequenceOptions& options);  ///< output, state(s)
};

const Op kOps[] = {
    {"lstm", 4,
     [](const Tensors& in, const SequenceOptions& options) -> Tensors {
       const auto [output, state] = lstm_sequence(in[0], in[1], {in[2], in[3]}, options);
       return {output, state.h, state.c};
     }},
    {"gru", 3,
     [](const Tensors& in, const SequenceOptions& options) -> Tensors {
       const auto [output, state] = gru_sequence(in[0], in[1], in[3], in[2], options);
       return {output, state};
     }},
    {"rnn", 1,
     [](const Tensors& in, const SequenceOptions& options) -> Tensors {
       const auto [output, state] = rnn_sequence(in[0], in[1], in[2], {}, options);
       return {output, state};
     }},
    {"rnn with relu", 1,
     [](const Tensors& in, const SequenceOptions& options) -> Tensors {
       const auto [output, state] = rnn_sequence(in[0], in[1], in[2], RnnActivation::relu, options);
       return {output, state};
     }},
};

Tensors inputs_of(const Op& op, std::int64_t time, std::int64_t batch, std::int64_t n,
                  DType dtype = DType::f64) {
  Rng rng(7);
  const double scale = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(n, 1)));
  Tensors in{randn({time, batch, op.gates * n}, rng, dtype),
             randn({op.gates * n, n}, rng, dtype) * scale, randn({batch, n}, rng, dtype)};
  if (op.gates == 4) in.push_back(randn({batch, n}, rng, dtype));
  if (op.gates == 3) in.push_back(randn({3 * n}, rng, dtype));
  return in;
}

// Everything that comes out, in one row.
Tensor joined(const Tensors& parts) {
  Tensors flat;
  for (const Tensor& x : parts) flat.push_back(reshape(x, {-1}));
  return concat(flat);
}

Function function_of(const Op& op, const SequenceOptions& options) {
  return [&op, options](const Tensors& in) { return joined(op.run(in, options)); };
}

const Tensor& length_of_each() {
  static const Tensor lengths = tensor({3, 0, 5, 1, 4}, DType::i64);
  return lengths;
}

}  // namespace

TEST_CASE("recurrent sequences: the fused gradients are those of the formula, at any width") {
  for (const Op& op : kOps) {
    CAPTURE(op.name);
    for (const std::int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 65}) {
      CAPTURE(n);
      for (const bool backwards : {false, true}) {
        CHECK(fused_error(function_of(op, {{}, backwards}), inputs_of(op, 3, 2, n)) < 1e-13);
        CHECK(fused_error(function_of(op, {length_of_each(), backwards}), inputs_of(op, 5, 5, n)) <
              1e-13);
      }
    }
    for (const std::int64_t batch : {0, 1, 2, 3, 4, 7, 8, 9}) {
      CAPTURE(batch);
      CHECK(fused_error(function_of(op, {}), inputs_of(op, 2, batch, 5)) < 1e-13);
      CHECK(fused_error(function_of(op, {}), inputs_of(op, 0, batch, 5)) < 1e-13);
    }
  }
}

TEST_CASE("recurrent sequences: a row's bits are those of the row alone, cut to its length") {
  for (const Op& op : kOps) {
    CAPTURE(op.name);
    for (const bool backwards : {false, true}) {
      const Tensors in = inputs_of(op, 5, 5, 19, DType::f32);
      const Tensors all = op.run(in, {length_of_each(), backwards});
      for (std::int64_t b = 0; b < 5; ++b) {
        const auto length = static_cast<std::int64_t>(length_of_each().at({b}));
        Tensors own{slice(slice(in[0], 1, b, b + 1), 0, 0, length), in[1],
                    slice(in[2], 0, b, b + 1)};
        if (op.gates == 4) own.push_back(slice(in[3], 0, b, b + 1));
        if (op.gates == 3) own.push_back(in[3]);
        const Tensors alone = op.run(own, {{}, backwards});
        const Tensor output = slice(all[0], 1, b, b + 1);
        CHECK(same_bits(slice(output, 0, 0, length), alone[0]));
        CHECK(sum(abs(slice(output, 0, length))).item() == 0);
        for (std::size_t k = 1; k < all.size(); ++k) {
          CHECK(same_bits(slice(all[k], 0, b, b + 1), alone[k]));
        }
      }
    }
  }
}

TEST_CASE("recurrent sequences: NaN in the padding reaches nothing, in either backward") {
  const Tensor outside = unsqueeze(ge(unsqueeze(arange(5, DType::i64), 1), length_of_each()), 2);
  for (const Op& op : kOps) {
    CAPTURE(op.name);
    const Tensors clean = inputs_of(op, 5, 5, 3);
    Tensors dirty = clean;
    dirty[0] = masked_fill(clean[0], outside, kNaN);
    for (const bool backwards : {false, true}) {
      const Function f = function_of(op, {length_of_each(), backwards});
      CHECK(same_bits(f(clean), f(dirty)));
      for (const bool composed : {false, true}) {
        const Tensors a = gradients(f, clean, composed), b = gradients(f, dirty, composed);
        for (std::size_t i = 0; i < a.size(); ++i) CHECK(same_bits(a[i], b[i]));
        CHECK(max(abs(masked_fill(b[0], logical_not(outside), 0))).item() == 0);
      }
    }
  }
}

TEST_CASE("recurrent sequences: the same bits without a graph, and for any number of threads") {
  for (const Op& op : kOps) {
    CAPTURE(op.name);
    const Tensors in = inputs_of(op, 6, 70, 40, DType::f32);
    const Function f = function_of(op, {});
    Tensors leaves = in;
    for (Tensor& x : leaves) x = leaf(x);
    CHECK(same_bits(f(in), f(leaves)));
    CHECK(same_for_any_threads([&] { return std::vector{f(in)}; }));
    CHECK(same_for_any_threads([&] { return gradients(f, in, false); }));
  }
}

TEST_CASE("recurrent sequences: what they refuse") {
  const Tensor x = zeros({5, 2, 12}), w = zeros({12, 3}), h = zeros({2, 3});
  CHECK_THROWS_WITH_AS(lstm_sequence(x, zeros({9, 3}), {h, h}),
                       "lstm_sequence: gates_x must be [time, batch, 4 * n], weight_hh [4 * n, n] "
                       "and the state [batch, n], got [5, 2, 12], [9, 3] and [2, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(lstm_sequence(x, w, {h, zeros({1, 3})}),
                       "lstm_sequence: h and c must be of one shape and dtype, got f32 [2, 3] and "
                       "f32 [1, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(lstm_sequence(x, zeros({12, 3}, DType::f64), {h, h}),
                       "lstm_sequence: gates_x, weight_hh and state must all be f32 or all f64, "
                       "got f32, f64 and f32",
                       Error);
  CHECK_THROWS_WITH_AS(lstm_sequence(x, w, {h, h}, {.lengths = tensor({1, 2})}),
                       "lstm_sequence: lengths must be i64 [2], got f32 [2]", Error);
  CHECK_THROWS_WITH_AS(lstm_sequence(x, w, {h, h}, {.lengths = tensor({1, 6}, DType::i64)}),
                       "lstm_sequence: length 6 is not in [0, 5]", Error);
  CHECK_THROWS_WITH_AS(gru_sequence(zeros({5, 2, 9}), zeros({9, 3}), zeros({3}), h),
                       "gru_sequence: bias_hh must be f32 [9], got f32 [3]", Error);
  CHECK_THROWS_WITH_AS(rnn_sequence(x, w, h),
                       "rnn_sequence: gates_x must be [time, batch, 1 * n], weight_hh [1 * n, n] "
                       "and the state [batch, n], got [5, 2, 12], [12, 3] and [2, 3]",
                       Error);
}
