// How many threads: the environment, checked, or one per core.
#include "core/kernels/parallel.h"

#include <omp.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace gradzoo::kernels {
namespace {

// libgomp takes 99999999999 modulo 2^32 without a word, so the text is read here: a whole number
// from 1, cut at max_threads(); anything else is as if the variable were not set.
int from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const char* end = text + std::strlen(text);
  long long value = 0;
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc::result_out_of_range && text[0] != '-') return max_threads();
  if (error != std::errc{} || value < 1 || (stop != end && *stop != ',')) return 0;
  return static_cast<int>(std::min<long long>(value, max_threads()));
}

int initial_threads() {
  for (const char* name : {"GRADZOO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const int wanted = from_environment(name); wanted > 0) return wanted;
  }
  return std::max(1, omp_get_num_procs());
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{initial_threads()};
  return count;
}

}  // namespace

int max_threads() { return 4 * std::max(1, omp_get_num_procs()); }

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int threads) { thread_count().store(threads, std::memory_order_relaxed); }

bool in_parallel_region() { return omp_in_parallel() != 0; }

}  // namespace gradzoo::kernels
