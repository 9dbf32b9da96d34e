// Greedy decoding of held-out pairs, and counting.
#include "examples/common/evaluate.h"

#include <algorithm>
#include <utility>

#include "models/decode.h"

namespace gradzoo::examples {

Evaluation evaluate(const models::Transformer& model, const std::vector<Pair>& pairs) {
  constexpr std::size_t batch_size = 250;
  Evaluation result;
  std::size_t exact = 0, right = 0, places = 0;
  for (std::size_t from = 0; from < pairs.size(); from += batch_size) {
    const std::size_t to = std::min(pairs.size(), from + batch_size);
    const std::vector<Pair> part(pairs.begin() + static_cast<std::ptrdiff_t>(from),
                                 pairs.begin() + static_cast<std::ptrdiff_t>(to));
    const Batch batch = make_batch(part);
    // One more than the longest target: a model that does not stop is wrong, not endless.
    models::Decoder decoder(model, batch.source, batch.lengths);
    for (models::Hypothesis& hypothesis :
         models::greedy(std::move(decoder), {.max_length = batch.target_out.size(1)})) {
      Ids& answer = hypothesis.tokens;
      const Ids& target = pairs[result.answers.size()].target;
      exact += answer == target ? 1 : 0;
      const std::size_t common = std::min(answer.size(), target.size());
      for (std::size_t i = 0; i < common; ++i) right += answer[i] == target[i] ? 1 : 0;
      places += std::max(answer.size(), target.size());
      result.answers.push_back(std::move(answer));
    }
  }
  if (!pairs.empty()) {
    result.exact_match = static_cast<double>(exact) / static_cast<double>(pairs.size());
    result.token_accuracy =
        static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(places, 1));
  }
  return result;
}

}  // namespace gradzoo::examples
