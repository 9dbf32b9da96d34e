// Answering and counting.
#include "examples/common/evaluate.h"

#include <algorithm>

#include "core/error.h"
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

Evaluation compared(std::vector<Ids> answers, const std::vector<Pair>& pairs) {
  check(answers.size() == pairs.size(), "compared: {} answers for {} pairs", answers.size(),
        pairs.size());
  std::size_t exact = 0, right = 0, places = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Ids &answer = answers[p], &target = pairs[p].target;
    exact += answer == target ? 1 : 0;
    const std::size_t common = std::min(answer.size(), target.size());
    for (std::size_t i = 0; i < common; ++i) right += answer[i] == target[i] ? 1 : 0;
    places += std::max(answer.size(), target.size());
  }
  return {std::move(answers), share(exact, pairs.size()), share(right, places)};
}

Evaluation evaluate(const ZooModel& model, const std::vector<Pair>& pairs) {
  std::int64_t longest = 0;
  for (const Pair& pair : pairs) longest = std::max(longest, std::ssize(pair.target));
  std::vector<Ids> all;
  in_batches(pairs, [&](const Batch& batch) {
    for (Ids& answer : answers(model, batch.source, batch.lengths, longest + 1)) {
      all.push_back(std::move(answer));
    }
  });
  return compared(std::move(all), pairs);
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
