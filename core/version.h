// What this build is and what it runs on.
#pragma once

#include <string>

namespace gradzoo {

/// "0.1.0".
std::string version();

/// One line: version, BLAS and the core whose kernels it runs, threads, SIMD level.
std::string version_info();

}  // namespace gradzoo
