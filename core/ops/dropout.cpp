// Dropout: a random boolean for each element says whether it stays. These booleans are all that
// backward needs.
#include "core/ops/dropout.h"

#include "core/create.h"
#include "core/kernels/dropout.h"
#include "core/kernels/random.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/view.h"
#include "core/random.h"

namespace gradzoo {
namespace {

Tensor scale_kept(const Tensor& x, const Tensor& kept, double scale) {
  const Tensor packed = contiguous(x.detach());
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_floating("dropout", x.dtype(), [&]<class T>() {
    kernels::scale_kept(packed.data<T>(), kept.data<bool>(), static_cast<T>(scale), x.numel(),
                        mutable_data<T>(y));
  });
  return y;
}

// Each true with probability p.
Tensor random_booleans(const Shape& shape, double p, Rng& rng) {
  const Tensor y = empty(shape, DType::boolean);
  const std::uint64_t first = rng.advance(static_cast<std::uint64_t>((y.numel() + 1) / 2));
  kernels::bernoulli(rng.seed(), first, y.numel(), p, true, mutable_data<bool>(y));
  return y;
}

}  // namespace

Tensor dropout(const Tensor& x, double p) {
  check(p >= 0 && p <= 1, "dropout: p must be in [0, 1], got {}", p);
  check(is_floating(x.dtype()), "dropout: x must be f32 or f64, got {}", x.dtype());
  if (modes().training == nullptr || p == 0) return x;
  const Tensor kept = random_booleans(x.shape(), 1 - p, *modes().training);
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  return record(scale_kept(x, kept, scale),
                {"dropout", "x", "y = x / (1 - p) where kept (at random, 1 - p of them), else 0",
                 "dx = dy / (1 - p) where kept, else 0"},
                {x}, {kept}, [scale](const BackwardContext& c) -> Grads {
                  if (!modes().grad_enabled) return {scale_kept(c.grad, c.saved(0), scale)};
                  return {where(c.saved(0), c.grad * scale, zeros_like(c.grad))};
                });
}

}  // namespace gradzoo
