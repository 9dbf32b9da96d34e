// What ops over windows of images ask of their options.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/kernels/im2col.h"
#include "core/ops/conv.h"

namespace gradzoo {

inline constexpr std::int64_t kLargestExtent = INT32_MAX;  // no sum or product of two overflows

inline void check_option(const char* op, const char* name, const HeightWidth& value,
                         std::int64_t least) {
  check(value.height >= least && value.width >= least && value.height <= kLargestExtent &&
            value.width <= kLargestExtent,
        "{}: {} must be at least {}, got {} and {}", op, name, least, value.height, value.width);
}

inline void check_options(const char* op, const WindowOptions& o) {
  check_option(op, "the kernel", o.kernel, 1);
  check_option(op, "stride", o.stride, 1);
  check_option(op, "padding", o.padding, 0);
  check_option(op, "dilation", o.dilation, 1);
}

/// The windows on `planes` images of one channel. Throws when there is not one.
inline kernels::Windows make_windows(const char* op, std::int64_t planes, const HeightWidth& size,
                                     const WindowOptions& o) {
  check_options(op, o);
  const std::int64_t high = o.dilation.height * (o.kernel.height - 1) + 1;
  const std::int64_t wide = o.dilation.width * (o.kernel.width - 1) + 1;
  const std::int64_t down = size.height + 2 * o.padding.height - high;
  const std::int64_t across = size.width + 2 * o.padding.width - wide;
  check(down >= 0 && across >= 0,
        "{}: a window of {} x {} (dilation included) does not fit into {} x {} with padding {} x "
        "{}",
        op, high, wide, size.height, size.width, o.padding.height, o.padding.width);
  return {.planes = planes,
          .plane = {size.height, size.width},
          .kernel = {o.kernel.height, o.kernel.width},
          .stride = {o.stride.height, o.stride.width},
          .padding = {o.padding.height, o.padding.width},
          .dilation = {o.dilation.height, o.dilation.width},
          .count = {down / o.stride.height + 1, across / o.stride.width + 1}};
}

}  // namespace gradzoo
