// From a trained sequence-to-sequence model to its answers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace gradzoo::models {

/// Ids with a fixed meaning in every vocabulary.
inline constexpr std::int64_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3;

/// One id list per row of `tokens` [batch, time], cut before the first end symbol.
std::vector<std::vector<std::int64_t>> until_end(const Tensor& tokens);

/// The most likely token at each step, for sources [batch, time] with their lengths: one id list
/// per row, without begin and end symbols, of at most max_length tokens.
template <class Model>
std::vector<std::vector<std::int64_t>> greedy(const Model& model, const Tensor& source,
                                              const Tensor& lengths, std::int64_t max_length) {
  const NoGrad no_grad;
  const auto memory = model.encode(source, lengths);
  Tensor tokens = full({source.size(0), 1}, static_cast<double>(kBos), DType::i64);
  for (std::int64_t t = 0; t < max_length; ++t) {
    const Tensor logits = select(model.decode(tokens, memory), 1, -1);  // [b, vocab]
    tokens = concat({tokens, argmax(logits, -1, true)}, 1);
    const Tensor ended = any(eq(tokens, static_cast<double>(kEos)), {1});
    if (all(ended).item() != 0) break;
  }
  return until_end(slice(tokens, 1, 1));
}

}  // namespace gradzoo::models
