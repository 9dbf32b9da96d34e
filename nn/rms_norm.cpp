// Normalisation by the root mean square, with a learned scale.
#include "nn/rms_norm.h"

#include "core/ops/norm.h"
#include "nn/init.h"

namespace gradzoo::nn {

RmsNorm::RmsNorm(std::int64_t dim) {
  check(dim >= 1, "RmsNorm: dim must be at least 1, got {}", dim);
  weight = init::constant({dim}, 1);
}

Tensor RmsNorm::operator()(const Tensor& x) const { return rms_norm(x, weight, eps); }

}  // namespace gradzoo::nn
