// Task streams and batches.
#include "examples/common/tasks.h"

#include <doctest/doctest.h>

#include <set>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

TEST_CASE("copy and reverse are what they say") {
  CHECK(target_of(task_named("copy"), {4, 5, 6}) == Ids{4, 5, 6});
  CHECK(target_of(task_named("reverse"), {4, 5, 6}) == Ids{6, 5, 4});
  CHECK_THROWS_WITH_AS(task_named("revers"), "task: 'revers' is not known; allowed: copy, reverse",
                       Error);
}

TEST_CASE("a batch is padded at the end and shifted for teacher forcing") {
  const Batch batch = make_batch({{{4, 5, 6}, {6, 5, 4}}, {{7}, {7}}});
  CHECK(batch.source.to_vector<std::int64_t>() == Ids{4, 5, 6, 7, 0, 0});
  CHECK(batch.lengths.to_vector<std::int64_t>() == Ids{3, 1});
  CHECK(batch.target_in.to_vector<std::int64_t>() == Ids{1, 6, 5, 4, 1, 7, 0, 0});
  CHECK(batch.target_out.to_vector<std::int64_t>() == Ids{6, 5, 4, 2, 7, 2, 0, 0});
}

TEST_CASE("streams depend on the seed, keep to their lengths, and share no sequence") {
  const StreamOptions train{.num_symbols = 5, .min_length = 1, .max_length = 6, .seed = 1};
  StreamOptions held_out = train;
  held_out.split = Split::held_out;
  const std::vector<Pair> a = TaskStream(train).next(3000);
  const std::vector<Pair> b = TaskStream(held_out).next(3000);
  const std::vector<Pair> again = TaskStream(train).next(3000);
  std::set<Ids> seen;
  std::set<std::size_t> lengths;
  for (std::size_t i = 0; i < a.size(); ++i) {
    seen.insert(a[i].source);
    lengths.insert(a[i].source.size());
    CHECK(a[i].source == again[i].source);
  }
  CHECK(lengths == std::set<std::size_t>{1, 2, 3, 4, 5, 6});
  std::size_t shared = 0;
  for (const Pair& pair : b) shared += seen.count(pair.source);
  CHECK(shared == 0);
  CHECK(TaskStream(train).vocab() == 9);
}

TEST_CASE("a stream that cannot deliver says so") {
  CHECK_THROWS_AS(TaskStream({.min_length = 0}), Error);
  CHECK_THROWS_AS(TaskStream({.min_length = 5, .max_length = 4}), Error);
  TaskStream one_sequence(
      {.split = Split::train, .num_symbols = 1, .min_length = 1, .max_length = 1});
  TaskStream other({.split = Split::held_out, .num_symbols = 1, .min_length = 1, .max_length = 1});
  int failed = 0;
  for (TaskStream* stream : {&one_sequence, &other}) {
    try {
      stream->next(1);
    } catch (const Error&) {
      ++failed;
    }
  }
  CHECK(failed == 1);  // the one sequence there is belongs to one split
}

TEST_CASE("symbols are shown as letters") { CHECK(to_text({4, 5, 29, 30, 1}) == "a b z 26 <1>"); }
