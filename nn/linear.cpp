// The fully connected layer.
#include "nn/linear.h"

#include <cmath>

#include "core/ops/matmul.h"
#include "nn/init.h"

namespace gradzoo::nn {

Linear::Linear(std::int64_t in, std::int64_t out, Rng& rng, const LinearOptions& options) {
  check(in >= 1 && out >= 1, "Linear: the widths must be at least 1, got in {} and out {}", in,
        out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = init::uniform({out, in}, -bound, bound, rng);
  if (options.bias) bias = init::uniform({out}, -bound, bound, rng);
}

Tensor Linear::operator()(const Tensor& x) const { return linear(x, weight, bias); }

}  // namespace gradzoo::nn
