// How many threads: the environment, checked, or one per core.
#include "core/kernels/parallel.h"

#include <omp.h>
#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <cstdlib>

namespace gradzoo::kernels {
namespace {

int initial_threads() {
  for (const char* name : {"GRADZOO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* text = std::getenv(name);
    const int wanted = text == nullptr ? 0 : parse_thread_count(text);
    if (wanted > 0) return wanted;
  }
  return std::max(1, omp_get_num_procs());
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{initial_threads()};
  return count;
}

}  // namespace

int max_threads() { return 4 * std::max(1, omp_get_num_procs()); }

// libgomp takes 99999999999 modulo 2^32 without a word, so the text is read here.
int parse_thread_count(std::string_view text) {
  const char* end = text.data() + text.size();
  long long value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool too_large = error == std::errc::result_out_of_range && text.front() != '-';
  if (!too_large && (error != std::errc{} || value < 1)) return 0;
  if (stop != end && *stop != ',') return 0;
  return too_large ? max_threads() : static_cast<int>(std::min<long long>(value, max_threads()));
}

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int threads) {
  thread_count().store(threads, std::memory_order_relaxed);
  crowd_watch() = CrowdWatch();
}

CrowdWatch& crowd_watch() {
  thread_local CrowdWatch watch;
  return watch;
}

bool working_alone() {
  return crowd_watch().alone(CrowdWatch::Clock::now(), [] {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::int64_t>(usage.ru_nivcsw);
  });
}

bool in_parallel_region() { return omp_in_parallel() != 0; }

OneThread::OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }

OneThread::~OneThread() { omp_set_num_threads(before_); }

}  // namespace gradzoo::kernels
