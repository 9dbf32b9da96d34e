// The version line, and that OpenBLAS runs the kernels that this processor deserves.
#include "core/version.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <regex>

#include "core/kernels/blas.h"
#include "core/threads.h"

namespace gradzoo {
namespace {

TEST_CASE("version: numbers with dots") {
  CHECK(std::regex_match(version(), std::regex(R"(\d+\.\d+\.\d+)")));
}

TEST_CASE("version_info: version, BLAS and its kernels, threads, SIMD level, in one line") {
  const std::string line = version_info();
  CAPTURE(line);
  CHECK(line.find("gradzoo " + version() + ", OpenBLAS ") == 0);
  const std::regex form(
      R"(gradzoo [\d.]+, OpenBLAS [\w.]+ \(\w+ kernels, (openmp|pthread|serial)\), )"
      R"(\d+ threads?, (AVX-512|AVX2|baseline SIMD))");
  CHECK(std::regex_match(line, form));
  const int before = num_threads();
  set_num_threads(1);
  CHECK(version_info().find(", 1 thread, ") != std::string::npos);
  set_num_threads(2);
  CHECK(version_info().find(", 2 threads, ") != std::string::npos);
  set_num_threads(before);
}

TEST_CASE("blas: with no variable set, the kernels for this processor") {
  REQUIRE(kernels::blas_problem().empty());
  const std::string info = kernels::blas_info();
  CAPTURE(info);
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) {
    MESSAGE("not checked: OPENBLAS_CORETYPE is set");
  } else if (kernels::processor_simd_level() == kernels::SimdLevel::avx512) {
    CHECK(info.find("(SkylakeX kernels") != std::string::npos);
  } else if (kernels::processor_simd_level() == kernels::SimdLevel::avx2) {
    CHECK(info.find("(Haswell kernels") != std::string::npos);
  }
}

TEST_CASE("blas: loading it leaves nothing behind in the environment") {
  const char* core_type = std::getenv("OPENBLAS_CORETYPE");
  CHECK((core_type == nullptr || std::string(core_type) != "SkylakeX"));
}

TEST_CASE("blas: an unknown function is null, not a crash") {
  CHECK(kernels::blas_symbol("cblas_sgemm") != nullptr);
  CHECK(kernels::blas_symbol("cblas_no_such_function") == nullptr);
}

}  // namespace
}  // namespace gradzoo
