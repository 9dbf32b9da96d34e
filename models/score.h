// What a model thinks of answers given to it: teacher forcing, no search.
#pragma once

#include <vector>

#include "core/scope.h"
#include "core/tensor.h"
#include "models/decode.h"

namespace gradzoo::models {

/// The log-probability of each target: logits [batch, time, vocab], targets i64 [batch, time] ->
/// [batch, time], 0 at padding.
Tensor token_log_probs(const Tensor& logits, const Tensor& targets);

/// token_log_probs of a whole batch: anything with source, lengths, target_in and target_out.
template <class Model, class Batch>
Tensor score(const Model& model, const Batch& batch) {
  const NoGrad no_grad;
  return token_log_probs(model(batch.source, batch.lengths, batch.target_in), batch.target_out);
}

/// Answers as targets for teacher forcing, i64 [answers, longest], padded at the end.
struct Targets {
  Tensor in;   ///< begin symbol, tokens
  Tensor out;  ///< tokens, end symbol if finished
};
Targets targets_of(const std::vector<Hypothesis>& answers);

/// The log-probability of each token (and of the end symbol) of answers, one for each row of
/// source: i64 [batch, time]. Their sum is what a search calls log_prob.
template <class Model>
Tensor score(const Model& model, const Tensor& source, const Tensor& lengths,
             const std::vector<Hypothesis>& answers) {
  const NoGrad no_grad;
  const Targets targets = targets_of(answers);
  return token_log_probs(model(source, lengths, targets.in), targets.out);
}

}  // namespace gradzoo::models
