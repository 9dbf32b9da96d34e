// Streams of batches: complete, repeatable, and taken up where they were left.
#include "examples/common/stream.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

std::vector<Pair> numbered_pairs(std::int64_t count) {
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < count; ++i) pairs.push_back({Ids{4 + i}, Ids(1 + i % 3, 4 + i)});
  return pairs;
}

Ids counting(std::int64_t n) {
  Ids ids;
  for (std::int64_t i = 0; i < n; ++i) ids.push_back(i);
  return ids;
}

// One stream of each kind, made alike at every call.
std::vector<std::unique_ptr<BatchStream>> streams() {
  std::vector<std::unique_ptr<BatchStream>> all;
  all.push_back(std::make_unique<TaskBatches>(StreamOptions{.max_length = 5, .seed = 3}, 4));
  all.push_back(
      std::make_unique<PairBatches>(numbered_pairs(10), PairBatchesOptions{.batch_size = 3}));
  all.push_back(
      std::make_unique<PairBatches>(numbered_pairs(10), PairBatchesOptions{.max_tokens = 12}));
  all.push_back(std::make_unique<WindowBatches>(counting(50), 7, 3, 5));
  return all;
}

Ids content(const Batch& batch) {
  Ids all = batch.source.to_vector<std::int64_t>();
  for (const Tensor& part : {batch.lengths, batch.target_in, batch.target_out}) {
    const Ids ids = part.to_vector<std::int64_t>();
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

}  // namespace

TEST_CASE("TRN2: a stream taken up at any position continues with the same batches") {
  for (std::size_t kind = 0; kind < streams().size(); ++kind) {
    CAPTURE(kind);
    const auto whole = streams();
    for (int before = 0; before < 9; ++before) {
      const Ids position = whole[kind]->position();
      const auto later = streams();
      later[kind]->seek(position);
      const Ids next = content(whole[kind]->next());
      CHECK(content(later[kind]->next()) == next);
      CHECK(later[kind]->position() == whole[kind]->position());
    }
    CHECK(content(streams()[kind]->next()) == content(streams()[kind]->next()));
    CHECK(content(whole[kind]->next()) != content(whole[kind]->next()));
  }
}

TEST_CASE("an epoch of pairs holds each once, and the next has another order") {
  for (const PairBatchesOptions& options :
       {PairBatchesOptions{.batch_size = 3}, PairBatchesOptions{.max_tokens = 12}}) {
    PairBatches stream(numbered_pairs(10), options);
    std::vector<Ids> epochs;
    for (int epoch = 0; epoch < 2; ++epoch) {
      Ids seen;
      const std::int64_t batches = stream.batches_per_epoch();
      for (std::int64_t i = 0; i < batches; ++i) {
        const Ids part = stream.next().source.to_vector<std::int64_t>();
        seen.insert(seen.end(), part.begin(), part.end());
      }
      epochs.push_back(seen);
      std::sort(seen.begin(), seen.end());
      CHECK(seen == Ids{4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
      CHECK(stream.position()[0] == epoch);
    }
    CHECK(epochs[0] != epochs[1]);
  }
}

TEST_CASE("windows of a text: each id and what follows it") {
  WindowBatches stream(counting(9), 4, 200, 1);
  const Batch batch = stream.next();
  CHECK(batch.target_in.shape() == Shape{200, 4});
  CHECK(batch.source.shape() == Shape{200, 0});
  std::set<std::int64_t> starts;
  for (std::int64_t b = 0; b < 200; ++b) {
    const std::int64_t first = static_cast<std::int64_t>(batch.target_in.at({b, 0}));
    starts.insert(first);
    for (std::int64_t t = 0; t < 4; ++t) {
      CHECK(batch.target_in.at({b, t}) == static_cast<double>(first + t));
      CHECK(batch.target_out.at({b, t}) == static_cast<double>(first + t + 1));
    }
  }
  CHECK(starts == std::set<std::int64_t>{0, 1, 2, 3, 4});  // the last window ends with the text
}

TEST_CASE("what makes no stream is an error") {
  CHECK_THROWS_WITH_AS(PairBatches({}, {}), "data: there are no pairs to learn from", Error);
  CHECK_THROWS_WITH_AS(WindowBatches(counting(4), 4, 1, 1),
                       "data: a text of 4 tokens is too short for contexts of 4", Error);
  CHECK_THROWS_AS(TaskBatches({}, 0), Error);
  CHECK_THROWS_AS(make_windows(counting(5), {2}, 3), Error);
  for (std::size_t kind = 0; kind < streams().size(); ++kind) {
    for (const Ids& position : {Ids{}, Ids{-1}, Ids{0, -1}, Ids{0, 99}, Ids{0, 0, 0}}) {
      CAPTURE(kind);
      CHECK_THROWS_WITH_AS(streams()[kind]->seek(position),
                           "data: the saved position is none of this stream", Error);
    }
  }
}
