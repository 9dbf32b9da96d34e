// The public door to the thread count of the kernels.
#include "core/threads.h"

#include "core/error.h"
#include "core/kernels/parallel.h"

namespace gradzoo {

int num_threads() { return kernels::num_threads(); }

void set_num_threads(int threads) {
  check(threads >= 1 && threads <= max_threads(),
        "threads: the number must be from 1 to {}, got {}", max_threads(), threads);
  kernels::set_num_threads(threads);
}

int max_threads() { return kernels::max_threads(); }

}  // namespace gradzoo
