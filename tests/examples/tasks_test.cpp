// Task streams and batches.
#include "examples/common/tasks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

Ids answer(Task task, const std::string& source) {
  return target_of(task, task_vocabulary(task, 20).encode(source));
}

std::string answer_text(Task task, const std::string& source) {
  return task_vocabulary(task, 20).decode(answer(task, source));
}

}  // namespace

TEST_CASE("the tasks are what they say") {
  CHECK(answer_text(Task::copy, "c a b a") == "c a b a");
  CHECK(answer_text(Task::reverse, "c a b a") == "a b a c");
  CHECK(answer_text(Task::sort, "c a t b a") == "a a b c t");
  CHECK(answer_text(Task::add, "12+345") == "357");
  CHECK(answer_text(Task::add, "999+1") == "1000");
  CHECK(answer_text(Task::add, "0+0") == "0");
  CHECK(answer_text(Task::add, "99999999999999999999+1") == "100000000000000000000");
  for (const char* wrong : {"", "12", "+", "1+", "+1", "1+2+3"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(answer(Task::add, wrong),
                         "add: a source is two numbers with a + between them", Error);
  }
}

TEST_CASE("the vocabulary of a task names its symbols") {
  const Vocabulary letters = task_vocabulary(Task::copy, 30);
  CHECK(letters.size() == 34);
  CHECK(letters.decode({4, 5, 29, 30, 1}) == "a b z s26 <bos>");
  CHECK(task_vocabulary(Task::add, 30).size() == 15);
  CHECK(task_vocabulary(Task::add, 30).encode("10+9") == Ids{5, 4, 14, 13});
}

TEST_CASE("additions: numbers of the digits asked for, that do not begin with 0, held out apart") {
  StreamOptions options{.task = Task::add, .min_length = 1, .max_length = 3};
  std::set<Ids> seen;
  std::set<std::size_t> digits;
  for (const Pair& pair : TaskStream(options).next(2000)) {
    seen.insert(pair.source);
    const auto plus = std::find(pair.source.begin(), pair.source.end(), 14);
    const std::size_t left = static_cast<std::size_t>(plus - pair.source.begin());
    digits.insert(left);
    CHECK((left == 1 || pair.source.front() != 4));
    CHECK(pair.target == target_of(Task::add, pair.source));
  }
  CHECK(digits == std::set<std::size_t>{1, 2, 3});
  options.split = Split::held_out;
  std::size_t shared = 0;
  for (const Pair& pair : TaskStream(options).next(500)) shared += seen.count(pair.source);
  CHECK(shared == 0);
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
