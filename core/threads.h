// How many threads kernels use.
#pragma once

namespace gradzoo {

/// Threads of one kernel: GRADZOO_NUM_THREADS, else OMP_NUM_THREADS (both checked: a whole number
/// from 1, cut at 4 per core), else one per core. Results do not depend on it.
int num_threads();

/// Throws Error unless 1 <= threads <= max_threads().
void set_num_threads(int threads);

/// The most that set_num_threads takes: 4 per core.
int max_threads();

}  // namespace gradzoo
