// Products over axes: the gradient is the product of the others, never a quotient.
#include <vector>

#include "core/create.h"
#include "core/kernels/reduce.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduce.h"
#include "core/ops/reduction.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// Along the last axis: element i is the product of the elements before it.
Tensor product_before(const Tensor& x) {
  const Tensor ones_first = pad(slice(x, -1, 0, x.size(-1) - 1), {{1, 0}}, 1);
  return cumprod(ones_first, -1);
}

// For every element of x the product of the others that are reduced with it.
Tensor product_of_others(const Tensor& x, const Shape& kept) {
  Shape order;  // the reduced axes behind the others
  Shape flat;
  for (int i = 0; i < x.dim(); ++i) {
    if (kept[i] == x.shape()[i]) {
      order.push_back(i);
      flat.push_back(kept[i]);
    }
  }
  const int kept_axes = order.rank();
  for (int i = 0; i < x.dim(); ++i) {
    if (kept[i] != x.shape()[i]) order.push_back(i);
  }
  if (kept_axes == x.dim()) return ones_like(x);
  flat.push_back(x.numel() / flat.numel());
  const Tensor sorted = permute(x, order);
  const Tensor rows = reshape(sorted, flat);
  const Tensor after = flip(product_before(flip(rows, {-1})), {-1});
  Shape back = order;
  for (int i = 0; i < order.rank(); ++i) back[static_cast<int>(order[i])] = i;
  return permute(reshape(product_before(rows) * after, sorted.shape()), back);
}

}  // namespace

Tensor prod(const Tensor& x, const Shape& axes, bool keepdim) {
  const Reduction r("prod", x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, x.dtype());
  dispatch_numeric("prod", x.dtype(), [&]<class T>() {
    kernels::prod(make_fold(x, r.reduced), x.data<T>(), mutable_data<T>(y));
  });
  return record(y,
                {"prod", "x", "y = product of x over some axes", "dx = dy * product of the others"},
                {x}, {x}, [kept = r.kept](const BackwardContext& c) -> Grads {
                  if (c.saved(0).numel() == 0) return {zeros_like(c.saved(0))};
                  return {unreduced(c.grad, kept) * product_of_others(c.saved(0), kept)};
                });
}

}  // namespace gradzoo
