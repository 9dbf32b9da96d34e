// What this build is and what it runs on.
#include "core/version.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/kernels/blas.h"
#include "core/kernels/simd.h"
#include "core/threads.h"

namespace gradzoo {
namespace {

using kernels::SimdLevel;

#if defined(__AVX512F__)
constexpr SimdLevel kCompiledFor = SimdLevel::avx512;
#elif defined(__AVX2__)
constexpr SimdLevel kCompiledFor = SimdLevel::avx2;
#else
constexpr SimdLevel kCompiledFor = SimdLevel::baseline;
#endif

// What our own kernels use on this processor.
const char* simd_name() {
  const SimdLevel level = GRADZOO_MULTI_VERSIONED
                              ? std::max(kCompiledFor, kernels::processor_simd_level())
                              : kCompiledFor;
  if (level == SimdLevel::avx512) return "AVX-512";
  return level == SimdLevel::avx2 ? "AVX2" : "baseline SIMD";
}

}  // namespace

std::string version() { return GRADZOO_VERSION; }

std::string version_info() {
  return fmt::format("gradzoo {}, {}, {} thread{}, {}", version(), kernels::blas_info(),
                     num_threads(), num_threads() == 1 ? "" : "s", simd_name());
}

}  // namespace gradzoo
