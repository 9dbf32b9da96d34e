// Layer normalisation with learned scale and shift.
#include "nn/layer_norm.h"

#include "core/ops/norm.h"
#include "nn/init.h"

namespace gradzoo::nn {

LayerNorm::LayerNorm(std::int64_t dim)
    : weight(init::constant({dim}, 1)), bias(init::constant({dim}, 0)) {}

Tensor LayerNorm::operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

}  // namespace gradzoo::nn
