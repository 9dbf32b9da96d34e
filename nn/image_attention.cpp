// Self-attention over the positions of an image.
#include "nn/image_attention.h"

#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/softmax.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/init.h"

namespace gradzoo::nn {

template <class Convolution>
BasicImageAttention<Convolution>::BasicImageAttention(std::int64_t channels, Rng& rng,
                                                      const ImageAttentionOptions& options) {
  check(options.reduction >= 1 && channels >= options.reduction,
        "ImageAttention: there must be at least one of {} channels after a reduction by {}",
        channels, options.reduction);
  const std::int64_t inner = channels / options.reduction;
  f = Convolution(channels, inner, 1, rng, {.bias = options.bias});
  g = Convolution(channels, inner, 1, rng, {.bias = options.bias});
  h = Convolution(channels, inner, 1, rng, {.bias = options.bias});
  v = Convolution(inner, channels, 1, rng, {.bias = options.bias});
  gamma = init::constant({1}, 0);
}

template <class Convolution>
Attended BasicImageAttention<Convolution>::with_weights(const Tensor& x) const {
  const Scope scope("ImageAttention");
  check(x.dim() == 4, "ImageAttention: x must be [batch, channels, height, width], got {}",
        x.shape());
  const std::int64_t batch = x.size(0), height = x.size(2), width = x.size(3);

  // 1. Each position's key, query and value, as columns.
  const auto columns = [&](const Tensor& image) {
    return reshape(image, {batch, image.size(1), height * width});
  };
  const Tensor keys = columns(f(x));     // [b, inner, n]
  const Tensor queries = columns(g(x));  // [b, inner, n]
  const Tensor values = columns(h(x));   // [b, inner, n]

  // 2. Each query's weights over all positions.
  const Tensor weights = softmax(matmul(transpose(queries), keys));  // [b, n, n]

  // 3. Each position takes the values in those parts, and is added to the image once widened.
  const Tensor mixed = matmul(values, transpose(weights));  // [b, inner, n]
  const Tensor o = v(reshape(mixed, {batch, mixed.size(1), height, width}));
  return {gamma * o + x, weights};
}

template <class Convolution>
Tensor BasicImageAttention<Convolution>::operator()(const Tensor& x) const {
  return with_weights(x).context;
}

template struct BasicImageAttention<Conv2d>;
template struct BasicImageAttention<SpectralConv2d>;

}  // namespace gradzoo::nn
