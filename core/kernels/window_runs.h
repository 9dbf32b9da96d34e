// Runs of windows: those of one row that meet one row of a plane, with one element of the kernel.
// In a run, neighbours are `stride` apart in the plane.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/kernels/im2col.h"

namespace gradzoo::kernels {

inline std::int64_t product(const Windows::Two& two) { return two[0] * two[1]; }

/// The windows along one axis for which an element of the kernel lies inside the plane.
struct Range {
  Range(const Windows& w, std::size_t axis, std::int64_t element)
      : shift(element * w.dilation[axis] - w.padding[axis]) {
    const auto first_at = [&](std::int64_t position) {  // the first window at or after it
      const std::int64_t way = std::max<std::int64_t>(position - shift, 0);
      return std::min((way + w.stride[axis] - 1) / w.stride[axis], w.count[axis]);
    };
    begin = first_at(0);
    end = first_at(w.plane[axis]);
  }
  std::int64_t shift;  ///< where the element of window 0 is
  std::int64_t begin, end;
};

/// The runs of one element of the kernel: `number` of them, each of `length`, from `column` on in
/// the windows of a plane and from `plane` on in the plane.
struct Runs {
  Runs(const Windows& w, std::int64_t element)
      : rows(w, 0, element / w.kernel[1]),
        cols(w, 1, element % w.kernel[1]),
        number(std::max<std::int64_t>(rows.end - rows.begin, 0)),
        length(std::max<std::int64_t>(cols.end - cols.begin, 0)),
        column(rows.begin * w.count[1] + cols.begin),
        plane((rows.begin * w.stride[0] + rows.shift) * w.plane[1] + cols.begin * w.stride[1] +
              cols.shift),
        one(w.stride[0] == 1 && w.stride[1] == 1 && w.plane[1] == w.count[1]) {}
  bool empty() const { return number == 0 || length == 0; }
  /// The length of all runs as one, with what is between them.
  std::int64_t whole(const Windows& w) const { return (number - 1) * w.count[1] + length; }

  Range rows, cols;
  std::int64_t number, length, column, plane;
  bool one;  ///< neighbours are neighbours in both, from one run to the next too
};

}  // namespace gradzoo::kernels
