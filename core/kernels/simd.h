// Function multi-versioning: a function marked GRADZOO_SIMD is compiled for plain x86-64, for AVX2
// and for AVX-512, and the loader picks the best the processor has.
#pragma once

// Only GCC can do this for templates. The sanitizers' own set-up must run before any code of
// theirs, and the loader's choice comes earlier, so those builds use the plain version.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(GRADZOO_NO_SIMD)
#define GRADZOO_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define GRADZOO_MULTI_VERSIONED true
#else
#define GRADZOO_SIMD
#define GRADZOO_MULTI_VERSIONED false
#endif

// For the small functions called inside: a call would hide the loop's body from the vectoriser.
#define GRADZOO_INLINE inline __attribute__((always_inline))
