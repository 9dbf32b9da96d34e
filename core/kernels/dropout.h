// Dropping elements and scaling the others.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

/// y = x * scale where `kept`, else 0, whatever x is there.
template <class T>
void scale_kept(const T* x, const bool* kept, T scale, std::int64_t n, T* y);

}  // namespace gradzoo::kernels
