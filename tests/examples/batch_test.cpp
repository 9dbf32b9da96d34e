// Padding, shifting, and batching by length.
#include "examples/common/batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

std::vector<Pair> random_pairs(std::int64_t count, std::int64_t longest) {
  Rng rng(5);
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto side = [&] { return Ids(static_cast<std::size_t>(rng.integer(1, longest + 1)), 4); };
    pairs.push_back({side(), side()});
  }
  return pairs;
}

// Ids of the padded batch, begin and end symbols included.
std::size_t tokens(const std::vector<Pair>& pairs, const std::vector<std::size_t>& batch) {
  std::size_t source = 0, target = 0;
  for (std::size_t i : batch) {
    source = std::max(source, pairs[i].source.size());
    target = std::max(target, pairs[i].target.size());
  }
  return batch.size() * (source + target + 1);
}

}  // namespace

TEST_CASE("a batch is padded at the end and shifted for teacher forcing") {
  const Batch batch = make_batch({{{4, 5, 6}, {6, 5, 4}}, {{7}, {7}}});
  CHECK(batch.source.to_vector<std::int64_t>() == Ids{4, 5, 6, 7, 0, 0});
  CHECK(batch.lengths.to_vector<std::int64_t>() == Ids{3, 1});
  CHECK(batch.target_in.to_vector<std::int64_t>() == Ids{1, 6, 5, 4, 1, 7, 0, 0});
  CHECK(batch.target_out.to_vector<std::int64_t>() == Ids{6, 5, 4, 2, 7, 2, 0, 0});
}

TEST_CASE("batches by length hold every pair once, within the budget, and waste little") {
  const std::vector<Pair> pairs = random_pairs(2000, 30);
  const auto batches = batches_by_length(pairs, 1000, 1);
  std::set<std::size_t> seen;
  std::size_t real = 0, with_padding = 0;
  for (const auto& batch : batches) {
    CHECK(!batch.empty());
    CHECK(tokens(pairs, batch) <= 1000);
    with_padding += tokens(pairs, batch);
    for (std::size_t i : batch) {
      CHECK(seen.insert(i).second);
      real += pairs[i].source.size() + pairs[i].target.size() + 1;
    }
  }
  CHECK(seen.size() == pairs.size());
  // Lengths of the two sides are independent here, the hardest case; in random order it is 0.55.
  CHECK(static_cast<double>(real) > 0.75 * static_cast<double>(with_padding));
}

TEST_CASE("batches by length are a function of the seed") {
  const std::vector<Pair> pairs = random_pairs(300, 9);
  CHECK(batches_by_length(pairs, 100, 1) == batches_by_length(pairs, 100, 1));
  CHECK(batches_by_length(pairs, 100, 1) != batches_by_length(pairs, 100, 2));
  CHECK(batches_by_length({}, 100, 1).empty());
  CHECK(batches_by_length({{{4}, {4}}}, 3, 1).size() == 1);
}

TEST_CASE("a pair that fits no batch is an error naming it") {
  CHECK_THROWS_WITH_AS(batches_by_length({{{4}, {4}}, {{4, 4, 4}, {4, 4}}}, 5, 1),
                       "batches_by_length: pair 2 has 6 tokens, more than the 5 of a batch", Error);
}
