// Endless streams of training batches that can be left and taken up again at any place.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/common/tasks.h"

namespace gradzoo::examples {

class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual Batch next() = 0;
  /// Where the stream stands: seek(position()) of one made alike continues with the same batches.
  virtual Ids position() const = 0;
  /// Throws for a position that is none of this stream.
  virtual void seek(const Ids& position) = 0;
  /// Batches in one pass over the data; 0: there is no end to them.
  virtual std::int64_t batches_per_epoch() const { return 0; }
};

/// Examples of a task, `batch_size` at a time.
class TaskBatches : public BatchStream {
 public:
  TaskBatches(const StreamOptions& options, std::int64_t batch_size);
  Batch next() override;
  Ids position() const override;
  void seek(const Ids& position) override;

 private:
  TaskStream stream_;
  std::int64_t batch_size_;
};

/// How pairs become batches: at most `max_tokens` ids, padding included, in each (see
/// batches_by_length), or, when that is 0, `batch_size` pairs in random order.
struct PairBatchesOptions {
  std::int64_t batch_size = 64;
  std::int64_t max_tokens = 0;
  std::uint64_t seed = 1;
};

/// A fixed set of pairs again and again, in an order of its own in each epoch; the order is a
/// function of the seed and the epoch.
class PairBatches : public BatchStream {
 public:
  /// Throws when there are no pairs.
  PairBatches(std::vector<Pair> pairs, const PairBatchesOptions& options);
  Batch next() override;
  Ids position() const override;
  void seek(const Ids& position) override;
  std::int64_t batches_per_epoch() const override;

 private:
  void begin_epoch(std::int64_t epoch);

  std::vector<Pair> pairs_;
  PairBatchesOptions options_;
  std::vector<std::vector<std::size_t>> batches_;  // of this epoch
  std::int64_t epoch_ = 0;
  std::size_t place_ = 0;  // in batches_
};

/// Windows of one long text for a language model: `context` ids from a random place and, shifted by
/// one, what follows each. The sources are empty.
class WindowBatches : public BatchStream {
 public:
  /// Throws unless there are more than `context` ids.
  WindowBatches(Ids text, std::int64_t context, std::int64_t batch_size, std::uint64_t seed);
  Batch next() override;
  Ids position() const override;
  void seek(const Ids& position) override;

 private:
  Ids text_;
  std::int64_t context_, batch_size_;
  Rng rng_;
};

/// The window at each of `starts`: target_in and target_out [starts, context], empty sources.
Batch make_windows(const Ids& text, const Ids& starts, std::int64_t context);

}  // namespace gradzoo::examples
