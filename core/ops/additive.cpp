// Additive comparison of vectors. Backward computes each tanh again: that is cheaper than to write
// them to memory and read them back.
#include "core/ops/additive.h"

#include "core/kernels/additive.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

kernels::PairSizes sizes_of(const Tensor& query, const Tensor& keys) {
  return {query.size(0), query.size(1), keys.size(1), query.size(2)};
}

Grads fused_backward(const BackwardContext& c) {
  const Tensor query = row_major(c.saved(0)), keys = row_major(c.saved(1));
  const Tensor v = row_major(c.saved(2)), dy = row_major(c.grad);
  const Tensor dquery = empty(query.shape(), v.dtype()), dkeys = empty(keys.shape(), v.dtype());
  const Tensor dv = empty({query.size(0), v.size(0)}, v.dtype());  // of each row of the batch
  dispatch_floating("additive_scores", v.dtype(), [&]<class T>() {
    kernels::additive_scores_backward(query.data<T>(), keys.data<T>(), v.data<T>(), dy.data<T>(),
                                      sizes_of(query, keys), mutable_data<T>(dquery),
                                      mutable_data<T>(dkeys), mutable_data<T>(dv));
  });
  return {dquery, dkeys, sum(dv, {0})};
}

Grads composed_backward(const BackwardContext& c) {
  const Tensor query = c.saved(0), keys = c.saved(1), v = c.saved(2);
  const Tensor t = tanh(unsqueeze(query, 2) + unsqueeze(keys, 1));  // [b, q, k, n]
  const Tensor dy = unsqueeze(c.grad, 3);
  const Tensor dpairs = dy * (1 - square(t)) * v;
  return {sum(dpairs, {2}), sum(dpairs, {1}), sum(dy * t, {0, 1, 2})};
}

}  // namespace

Tensor additive_scores(const Tensor& query, const Tensor& keys, const Tensor& v) {
  check(is_floating(v.dtype()) && query.dtype() == v.dtype() && keys.dtype() == v.dtype(),
        "additive_scores: query, keys and v must all be f32 or all f64, got {}, {} and {}",
        query.dtype(), keys.dtype(), v.dtype());
  check(query.dim() == 3 && keys.dim() == 3 && query.size(0) == keys.size(0) &&
            v.shape() == Shape{query.size(2)} && v.shape() == Shape{keys.size(2)},
        "additive_scores: query must be [batch, queries, n], keys [batch, keys, n] and v [n], got "
        "{}, {} and {}",
        query.shape(), keys.shape(), v.shape());
  const Tensor q = row_major(query), k = row_major(keys), weights = row_major(v);
  const Tensor y = empty({q.size(0), q.size(1), k.size(1)}, v.dtype());
  dispatch_floating("additive_scores", v.dtype(), [&]<class T>() {
    kernels::additive_scores(q.data<T>(), k.data<T>(), weights.data<T>(), sizes_of(q, k),
                             mutable_data<T>(y));
  });
  return record(
      y,
      {"additive_scores", "q, k, v", "y = sum(v * t) for each query with each key, t = tanh(q + k)",
       "dq, dk = dy * v * (1 - t^2), summed over keys, queries; dv = sum(dy * t)"},
      {query, keys, v}, {query, keys, v}, [](const BackwardContext& c) {
        return modes().grad_enabled ? composed_backward(c) : fused_backward(c);
      });
}

}  // namespace gradzoo
