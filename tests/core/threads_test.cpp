// Thread counts from texts and options, and parallel_for.
#include "core/threads.h"

#include <doctest/doctest.h>
#include <omp.h>

#include <atomic>
#include <climits>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/kernels/parallel.h"

namespace gradzoo {
namespace {

// Sets the number of threads, and the old one again at the end of a test.
class Threads {
 public:
  explicit Threads(int threads) : before_(num_threads()) { set_num_threads(threads); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

TEST_CASE("threads: a count read from a variable is a whole number from 1, cut at the most") {
  using kernels::parse_thread_count;
  CHECK(parse_thread_count("1") == 1);
  CHECK(parse_thread_count("2") == 2);
  CHECK(parse_thread_count("2,1") == 2);  // OMP_NUM_THREADS may list nested regions
  CHECK(parse_thread_count("99999999999") == max_threads());
  CHECK(parse_thread_count("99999999999999999999999999") == max_threads());
  CHECK(parse_thread_count("99999999999999999999999999,1") == max_threads());
  CHECK(parse_thread_count("4294967297") == max_threads());  // 1 modulo 2^32
  for (const char* text : {"", "0", "-1", "2x", "x", " 2", "+2", "1.5", "0x2", ",", "0,2",
                           "-99999999999999999999999999", "99999999999999999999999999x"}) {
    CAPTURE(text);
    CHECK(parse_thread_count(text) == 0);
  }
}

TEST_CASE("threads: a count that is set is checked") {
  CHECK(num_threads() >= 1);
  CHECK(num_threads() <= max_threads());
  const Threads guard(max_threads());
  CHECK(num_threads() == max_threads());
  for (const int bad : {0, -1, max_threads() + 1, INT_MAX}) {
    CHECK_THROWS_WITH_AS(set_num_threads(bad), doctest::Contains(std::to_string(bad).c_str()),
                         Error);
  }
  CHECK(num_threads() == max_threads());
}

using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;

Blocks blocks_of(std::int64_t n, std::int64_t block) {
  Blocks blocks(static_cast<std::size_t>((n + block - 1) / block), {-1, -1});
  kernels::parallel_for(n, block, [&](std::int64_t begin, std::int64_t end) {
    blocks[static_cast<std::size_t>(begin / block)] = {begin, end};
  });
  return blocks;
}

TEST_CASE("parallel_for: the blocks cover [0, n) once, whatever the number of threads") {
  for (const int threads : {1, 2, 3}) {
    const Threads guard(threads);
    CHECK(blocks_of(0, 4).empty());
    CHECK(blocks_of(1, 4) == Blocks{{0, 1}});
    CHECK(blocks_of(4, 4) == Blocks{{0, 4}});
    CHECK(blocks_of(5, 4) == Blocks{{0, 4}, {4, 5}});
    CHECK(blocks_of(11, 4) == Blocks{{0, 4}, {4, 8}, {8, 11}});
  }
}

TEST_CASE("parallel_for: one block stays on the calling thread, nested ones run in order") {
  const Threads guard(2);
  CHECK(!kernels::in_parallel_region());
  kernels::parallel_for(4, 4,
                        [](std::int64_t, std::int64_t) { CHECK(!kernels::in_parallel_region()); });
  std::atomic<int> inside = 0, in_order = 0;
  kernels::parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
    inside += kernels::in_parallel_region();
    std::vector<std::int64_t> begins;  // of this thread alone: a data race if the inner one forked
    kernels::parallel_for(3, 1, [&](std::int64_t begin, std::int64_t) { begins.push_back(begin); });
    in_order += begins == std::vector<std::int64_t>{0, 1, 2};
  });
  CHECK(inside == 2);
  CHECK(in_order == 2);
}

TEST_CASE(
    "CrowdWatch: many interruptions in a short time, and work stays on one thread for a while") {
  using namespace std::chrono_literals;
  kernels::CrowdWatch watch;
  auto now = kernels::CrowdWatch::Clock::now();
  std::int64_t interruptions = 1000;  // from before: they do not count
  const auto alone = [&] { return watch.alone(now, [&] { return interruptions; }); };
  CHECK_FALSE(alone());
  interruptions += 2;
  now += 51ms;
  CHECK_FALSE(alone());  // two are nothing
  interruptions += 30;
  now += 10s;
  CHECK_FALSE(alone());  // nor are thirty in ten seconds
  interruptions += 10;
  now += 51ms;
  CHECK(alone());
  now += 499ms;
  CHECK(alone());
  interruptions += 100;
  now += 2ms;
  CHECK_FALSE(alone());  // another try
  for (int i = 0; i < 3; ++i) {
    watch.note(1ms, 900us);  // uneven, but no stall
    watch.note(3ms, 5ms);
  }
  now += 51ms;
  CHECK_FALSE(alone());
  for (int i = 0; i < 3; ++i) watch.note(10us, 4ms);
  now += 51ms;
  CHECK(alone());
}

TEST_CASE(
    "parallel_for: a busy machine keeps work on the calling thread; a new count tries again") {
  const Threads guard(2);
  const auto threads_inside = [] {
    std::atomic<int> inside = 0;
    kernels::parallel_for(2, 1, [&](auto, auto) { inside += kernels::in_parallel_region(); });
    return inside.load();
  };
  CHECK(threads_inside() == 2);
  for (int i = 0; i < 100; ++i) kernels::crowd_watch().note({}, std::chrono::seconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  CHECK(threads_inside() == 0);
  set_num_threads(2);
  CHECK(threads_inside() == 2);
}

TEST_CASE("parallel_for: an exception reaches the caller, after all blocks") {
  for (const int threads : {1, 2, 3}) {
    const Threads guard(threads);
    CHECK_THROWS_WITH_AS(kernels::parallel_for(8, 1,
                                               [](std::int64_t begin, std::int64_t) {
                                                 if (begin == 5) throw std::runtime_error("five");
                                               }),
                         "five", std::runtime_error);
    CHECK(blocks_of(2, 1) == Blocks{{0, 1}, {1, 2}});  // and the next one runs
  }
}

TEST_CASE("OneThread: OpenMP code of others stays on this thread, and is free again after it") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  {
    const kernels::OneThread one;
    CHECK(omp_get_max_threads() == 1);
  }
  CHECK(omp_get_max_threads() == 3);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace gradzoo
