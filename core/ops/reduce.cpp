// Reductions over any axes.
#include "core/ops/reduce.h"

#include "core/create.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/view.h"

namespace gradzoo {

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  fail("sum_to: not written");
}

}  // namespace gradzoo
