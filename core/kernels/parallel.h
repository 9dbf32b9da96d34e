// The only place where threads are started.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string_view>

#include "core/kernels/crowd_watch.h"

namespace gradzoo::kernels {

/// Threads that parallel_for uses; from GRADZOO_NUM_THREADS or OMP_NUM_THREADS, else one per core.
int num_threads();
/// The most threads that make sense: 4 per core.
int max_threads();
/// Takes effect at the next parallel_for, which uses them even if the machine seemed busy to the
/// calling thread. The caller has checked the range.
void set_num_threads(int threads);
/// The number that the text of such a variable asks for: a whole number from 1, of which a comma
/// may start a list for nested regions; cut at max_threads(). 0 when it is none.
int parse_thread_count(std::string_view text);
/// True inside the body of a parallel_for that runs on several threads.
bool in_parallel_region();

/// This thread's watch, made anew by set_num_threads.
CrowdWatch& crowd_watch();
/// True while this thread should leave the others alone, because the machine is busy.
bool working_alone();

/// Calls body(begin, end) for [0, n) cut into blocks of `block` (the last may be shorter), on
/// several threads when there is more than one block. The blocks do not depend on the number of
/// threads, so a kernel that computes each block by itself gives the same bits for any number.
/// Inside another parallel_for the blocks run one after the other. An exception cannot leave a
/// thread: the first one is thrown again by the caller when all blocks are done.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t block, const Body& body) {
  const std::int64_t blocks = (n + block - 1) / block;
  const auto run = [&](std::int64_t i) { body(i * block, std::min(n, (i + 1) * block)); };
  const int threads = static_cast<int>(std::min<std::int64_t>(blocks, num_threads()));
  if (threads <= 1 || in_parallel_region() || working_alone()) {
    for (std::int64_t i = 0; i < blocks; ++i) run(i);
    return;
  }
  std::exception_ptr error;
  const auto start = CrowdWatch::Clock::now();
  auto done = start;  // when the calling thread has done its share, the largest
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < blocks; ++i) {
      try {
        run(i);
      } catch (...) {
#pragma omp critical(gradzoo_parallel_for)
        if (error == nullptr) error = std::current_exception();
      }
    }
#pragma omp master
    done = CrowdWatch::Clock::now();
  }
  crowd_watch().note(done - start, CrowdWatch::Clock::now() - done);
  if (error != nullptr) std::rethrow_exception(error);
}

/// While it lives, OpenMP code that this thread calls into (an OpenBLAS built with OpenMP) stays on
/// this thread.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace gradzoo::kernels
