// Loading OpenBLAS, in such a way that it runs the right kernels.
//
// OpenBLAS picks its kernels for the processor in its own load-time constructor, and a release
// older than the processor falls back to kernels for one of 2004, 3 to 6 times slower. The way out
// is the variable OPENBLAS_CORETYPE, which that constructor reads. So the library is not linked:
// we look at the processor, set the variable for a moment, and load the library by hand.
#include "core/kernels/blas.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gradzoo::kernels {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";

// The values of openblas_get_parallel().
constexpr int kPthreads = 1;
constexpr int kOpenMp = 2;

// Sets an environment variable that is not set, and takes it away again when it goes: programs
// that we start later must not inherit our choice.
class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const char* value) : name_(name) {
    ours_ = value != nullptr && std::getenv(name) == nullptr && setenv(name, value, 1) == 0;
  }
  ~TemporaryVariable() {
    if (ours_) unsetenv(name_);
  }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  const char* name_;
  bool ours_ = false;
};

// Conservative: newer core types exist, but some releases compute wrong results with them.
const char* core_type_for(SimdLevel level) {
  if (level == SimdLevel::avx512) return "SkylakeX";
  if (level == SimdLevel::avx2) return "Haswell";
  return nullptr;
}

bool uses_avx2(std::string_view core) {
  for (const char* name : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids"}) {
    if (core == name) return true;
  }
  return false;
}

class Blas {
 public:
  Blas() {
    const SimdLevel level = processor_simd_level();
    const char* core_type = core_type_for(level);
    const bool users_choice = std::getenv("OPENBLAS_CORETYPE") != nullptr;
    {
      const TemporaryVariable core("OPENBLAS_CORETYPE", core_type);
      // The build with its own threads would start them here; nobody would use them.
      const TemporaryVariable threads("OPENBLAS_NUM_THREADS", "1");
      handle_ = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle_ == nullptr) {
      problem_ = std::string(kLibrary) +
                 " could not be loaded; install the package libopenblas0-openmp (Debian, Ubuntu)";
      return;
    }
    read_identity();
    if (core_type != nullptr && !users_choice && !uses_avx2(core_)) {
      std::fprintf(stderr,
                   "gradzoo: OpenBLAS runs its %s kernels, several times slower than this "
                   "processor allows; start the program with OPENBLAS_CORETYPE=%s\n",
                   core_.c_str(), core_type);
    }
  }

  void* symbol(const char* name) const {
    return handle_ == nullptr ? nullptr : dlsym(handle_, name);
  }
  const std::string& problem() const { return problem_; }
  std::string info() const {
    if (!problem_.empty()) return "no OpenBLAS";
    return "OpenBLAS " + version_ + " (" + core_ + " kernels, " + threading_ + ")";
  }

 private:
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

  void read_identity() {
    const auto config = function<char* (*)()>("openblas_get_config");
    const auto core = function<char* (*)()>("openblas_get_corename");
    const auto parallel = function<int (*)()>("openblas_get_parallel");
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY USE_OPENMP SkylakeX MAX_THREADS=128"
    const std::string text = config == nullptr ? "" : config();
    const std::size_t start = text.find(' ') + 1;
    version_ = text.substr(start, text.find(' ', start) - start);
    if (core != nullptr) core_ = core();
    if (text.find("USE64BITINT") != std::string::npos) {
      problem_ =
          std::string(kLibrary) + " was built with 64-bit integers, which gradzoo cannot use";
    }
    const int threading = parallel == nullptr ? 0 : parallel();
    threading_ = threading == kOpenMp ? "openmp" : threading == kPthreads ? "pthread" : "serial";
    // Only for a library that was in the process before us. The OpenMP build takes its number of
    // threads from OpenMP at each call, see OneThread.
    const auto set_threads = function<void (*)(int)>("openblas_set_num_threads");
    if (threading == kPthreads && set_threads != nullptr) set_threads(1);
  }

  void* handle_ = nullptr;
  std::string problem_;
  std::string version_ = "of an unknown version";
  std::string core_ = "unknown";
  std::string threading_ = "serial";
};

const Blas& blas() {
  static const Blas loaded;
  return loaded;
}

// With our own library, before the program starts threads that could read the environment.
[[maybe_unused]] const Blas& loaded_early = blas();

}  // namespace

SimdLevel processor_simd_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return SimdLevel::baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? SimdLevel::avx512 : SimdLevel::avx2;
#else
  return SimdLevel::baseline;
#endif
}

void* blas_symbol(const char* name) { return blas().symbol(name); }

const std::string& blas_problem() { return blas().problem(); }

std::string blas_info() { return blas().info(); }

}  // namespace gradzoo::kernels
