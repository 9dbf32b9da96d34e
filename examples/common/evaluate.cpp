// Answering and counting.
#include "examples/common/evaluate.h"

#include <algorithm>

#include "core/scope.h"
#include "examples/common/stream.h"
#include "nn/loss.h"

namespace gradzoo::examples {
namespace {

constexpr std::size_t kBatch = 250;

// Calls f with the pairs, kBatch at a time.
template <class F>
void in_batches(const std::vector<Pair>& pairs, const F& f) {
  for (std::size_t from = 0; from < pairs.size(); from += kBatch) {
    const std::size_t to = std::min(pairs.size(), from + kBatch);
    f(make_batch({pairs.begin() + static_cast<std::ptrdiff_t>(from),
                  pairs.begin() + static_cast<std::ptrdiff_t>(to)}));
  }
}

// A mean over batches with different numbers of tokens.
struct MeanLoss {
  double sum = 0;
  std::int64_t tokens = 0;

  void add(const ZooModel& model, const Batch& batch) {
    const NoGrad no_grad;
    const Prediction p = predict(model, batch);
    const std::int64_t count = nn::token_count(p.targets, p.ignored);
    sum += static_cast<double>(count) *
           nn::sequence_cross_entropy(p.logits, p.targets, {.pad = p.ignored}).item();
    tokens += count;
  }
  double value() const { return sum / static_cast<double>(std::max<std::int64_t>(tokens, 1)); }
};

double share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(whole, 1));
}

}  // namespace

Evaluation evaluate(const ZooModel& model, const std::vector<Pair>& pairs) {
  Evaluation result;
  std::size_t exact = 0, right = 0, places = 0;
  in_batches(pairs, [&](const Batch& batch) {
    for (Ids& answer : answers(model, batch.source, batch.lengths, batch.target_out.size(1))) {
      const Ids& target = pairs[result.answers.size()].target;
      exact += answer == target ? 1 : 0;
      const std::size_t common = std::min(answer.size(), target.size());
      for (std::size_t i = 0; i < common; ++i) right += answer[i] == target[i] ? 1 : 0;
      places += std::max(answer.size(), target.size());
      result.answers.push_back(std::move(answer));
    }
  });
  result.exact_match = share(exact, pairs.size());
  result.token_accuracy = share(right, places);
  return result;
}

double mean_loss(const ZooModel& model, const std::vector<Pair>& pairs) {
  MeanLoss mean;
  in_batches(pairs, [&](const Batch& batch) { mean.add(model, batch); });
  return mean.value();
}

double mean_loss(const ZooModel& model, const Ids& text, std::int64_t context) {
  MeanLoss mean;
  Ids starts;
  for (std::int64_t at = 0; at + context < std::ssize(text); at += context) {
    starts.push_back(at);
    const bool last = at + 2 * context >= std::ssize(text);
    if (!last && starts.size() < kBatch) continue;
    mean.add(model, make_windows(text, starts, context));
    starts.clear();
  }
  return mean.value();
}

}  // namespace gradzoo::examples
