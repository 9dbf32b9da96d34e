// Streams of batches from tasks, pairs and long texts.
#include "examples/common/stream.h"

#include "core/create.h"
#include "core/error.h"

namespace gradzoo::examples {
namespace {

// Positions come from files: what is none must not become a place in memory.
void check_position(const Ids& position, const Ids& largest) {
  bool fits = position.size() == largest.size();
  for (std::size_t i = 0; fits && i < largest.size(); ++i) {
    fits = position[i] >= 0 && position[i] <= largest[i];
  }
  check(fits, "data: the saved position is none of this stream");
}

}  // namespace

TaskBatches::TaskBatches(const StreamOptions& options, std::int64_t batch_size)
    : stream_(options), batch_size_(batch_size) {
  check(batch_size >= 1, "data: the batch size must be at least 1, got {}", batch_size);
}

Batch TaskBatches::next() { return make_batch(stream_.next(batch_size_)); }

Ids TaskBatches::position() const { return {static_cast<std::int64_t>(stream_.rng().counter())}; }

void TaskBatches::seek(const Ids& position) {
  check_position(position, {INT64_MAX});
  stream_.rng().set_counter(static_cast<std::uint64_t>(position[0]));
}

PairBatches::PairBatches(std::vector<Pair> pairs, const PairBatchesOptions& options)
    : pairs_(std::move(pairs)), options_(options) {
  check(!pairs_.empty(), "data: there are no pairs to learn from");
  check(options.max_tokens >= 1 || options.batch_size >= 1,
        "data: the batch size must be at least 1, got {}", options.batch_size);
  begin_epoch(0);
}

void PairBatches::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  place_ = 0;
  Rng rng(options_.seed);
  rng.set_counter(static_cast<std::uint64_t>(epoch));
  const std::uint64_t seed = rng.next();
  if (options_.max_tokens >= 1) {
    batches_ = batches_by_length(pairs_, options_.max_tokens, seed);
    return;
  }
  batches_.clear();
  Rng order(seed);
  for (std::int64_t i : permutation(std::ssize(pairs_), order).to_vector<std::int64_t>()) {
    if (batches_.empty() || std::ssize(batches_.back()) == options_.batch_size) {
      batches_.emplace_back();
    }
    batches_.back().push_back(static_cast<std::size_t>(i));
  }
}

Batch PairBatches::next() {
  if (place_ == batches_.size()) begin_epoch(epoch_ + 1);
  std::vector<Pair> pairs;
  for (std::size_t i : batches_[place_]) pairs.push_back(pairs_[i]);
  ++place_;
  return make_batch(pairs);
}

Ids PairBatches::position() const { return {epoch_, static_cast<std::int64_t>(place_)}; }

void PairBatches::seek(const Ids& position) {
  check_position(position, {INT64_MAX, INT64_MAX});
  begin_epoch(position[0]);
  check_position(position, {INT64_MAX, std::ssize(batches_)});
  place_ = static_cast<std::size_t>(position[1]);
}

std::int64_t PairBatches::batches_per_epoch() const { return std::ssize(batches_); }

WindowBatches::WindowBatches(Ids text, std::int64_t context, std::int64_t batch_size,
                             std::uint64_t seed)
    : text_(std::move(text)), context_(context), batch_size_(batch_size), rng_(seed) {
  check(context >= 1 && batch_size >= 1,
        "data: context and batch size must be at least 1, got {} and {}", context, batch_size);
  check(std::ssize(text_) > context, "data: a text of {} tokens is too short for contexts of {}",
        text_.size(), context);
}

Batch WindowBatches::next() {
  Ids starts;
  for (std::int64_t b = 0; b < batch_size_; ++b) {
    starts.push_back(rng_.integer(0, std::ssize(text_) - context_));
  }
  return make_windows(text_, starts, context_);
}

Ids WindowBatches::position() const { return {static_cast<std::int64_t>(rng_.counter())}; }

void WindowBatches::seek(const Ids& position) {
  check_position(position, {INT64_MAX});
  rng_.set_counter(static_cast<std::uint64_t>(position[0]));
}

Batch make_windows(const Ids& text, const Ids& starts, std::int64_t context) {
  Ids ins, outs;
  for (std::int64_t start : starts) {
    check(start >= 0 && start + context < std::ssize(text),
          "data: a window of {} from {} does not fit a text of {} tokens", context, start,
          text.size());
    const auto from = text.begin() + start;
    ins.insert(ins.end(), from, from + context);
    outs.insert(outs.end(), from + 1, from + 1 + context);
  }
  const std::int64_t rows = std::ssize(starts);
  return {zeros({rows, 0}, DType::i64), zeros({rows}, DType::i64),
          from_vector(ins, {rows, context}), from_vector(outs, {rows, context})};
}

}  // namespace gradzoo::examples
