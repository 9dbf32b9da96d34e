// Masks behind a source, and what they hide.
#include "examples/common/blanks.h"

#include <algorithm>

#include "core/create.h"
#include "core/ops.h"
#include "core/scope.h"
#include "examples/common/batch.h"
#include "models/special_ids.h"

namespace gradzoo::examples {

std::int64_t blank_count(const models::EncoderConfig& config) {
  return (config.max_length - 1) / 2;
}

Blanks with_blanks(const models::EncoderConfig& config, const Tensor& source,
                   const Tensor& lengths) {
  const std::int64_t blanks = blank_count(config);
  const Ids ids = source.to_vector<std::int64_t>();
  std::vector<Ids> rows;
  Ids places, full;
  std::int64_t first = 0;
  for (std::int64_t length : lengths.to_vector<std::int64_t>()) {
    const auto from = ids.begin() + first;
    first += source.size(1);
    rows.emplace_back(from, from + length);
    rows.back().push_back(models::kBos);
    for (std::int64_t i = 0; i < blanks; ++i) {
      places.push_back(std::ssize(rows.back()));
      rows.back().push_back(config.vocab - 1);
    }
    full.push_back(std::ssize(rows.back()));
  }
  const std::int64_t batch = std::ssize(rows);
  return {padded(rows), from_vector(full, {batch}), from_vector(places, {batch, blanks})};
}

Tensor fill_in(const models::Encoder& model, const Blanks& blanks) {
  const Tensor states = model(blanks.ids, blanks.lengths);  // [b, t, d]
  const Tensor places =
      expand(unsqueeze(blanks.places, 2), {states.size(0), blanks.places.size(1), states.size(2)});
  return slice(model.token_logits(gather(states, 1, places)), 2, 0, model.config.vocab - 1);
}

std::vector<models::Hypothesis> fill_in(const models::Encoder& model, const Tensor& source,
                                        const Tensor& lengths, std::int64_t max_length) {
  const NoGrad no_grad;
  const Tensor logits = fill_in(model, with_blanks(model.config, source, lengths));
  const Tensor best = argmax(logits, -1);  // [b, blanks]
  const Tensor likely = gather(log_softmax(to(logits, DType::f64)), 2, unsqueeze(best, 2));
  const auto tokens = best.to_vector<std::int64_t>();
  const auto log_probs = likely.to_vector<double>();
  std::vector<models::Hypothesis> answers(static_cast<std::size_t>(best.size(0)));
  for (std::size_t row = 0; row < answers.size(); ++row) {
    models::Hypothesis& answer = answers[row];
    const std::int64_t longest = std::min(max_length, best.size(1));
    for (std::int64_t i = 0; i < longest && !answer.finished; ++i) {
      const std::size_t at =
          row * static_cast<std::size_t>(best.size(1)) + static_cast<std::size_t>(i);
      answer.log_prob += log_probs[at];
      answer.finished = tokens[at] == models::kEos;
      if (!answer.finished) answer.tokens.push_back(tokens[at]);
    }
    answer.score = answer.log_prob;
  }
  return answers;
}

}  // namespace gradzoo::examples
