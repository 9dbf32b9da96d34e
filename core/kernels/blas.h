// Loading OpenBLAS, in such a way that it runs the right kernels.
#pragma once

#include <string>

namespace gradzoo::kernels {

/// What the processor (and the operating system) can do, as far as kernels ask.
enum class SimdLevel { baseline, avx2, avx512 };
SimdLevel processor_simd_level();

/// A function of OpenBLAS; null when the library could not be loaded or has no such function.
void* blas_symbol(const char* name);

/// Why there is no OpenBLAS, with the cure, in one line; empty when there is one.
const std::string& blas_problem();

/// "OpenBLAS 0.3.21 (SkylakeX kernels, openmp)", or "no OpenBLAS".
std::string blas_info();

}  // namespace gradzoo::kernels
