// A vector for each id.
#include "nn/embedding.h"

#include "core/create.h"
#include "core/ops/index.h"
#include "core/ops/view.h"
#include "nn/init.h"

namespace gradzoo::nn {

Embedding::Embedding(std::int64_t num, std::int64_t dim, Rng& rng, const EmbeddingOptions& options)
    : padding_idx(options.padding_idx) {
  check(num >= 1 && dim >= 1, "Embedding: the sizes must be at least 1, got num {} and dim {}", num,
        dim);
  check(padding_idx < num, "Embedding: padding_idx {} is not below num {}", padding_idx, num);
  weight = init::normal({num, dim}, 0, 1, rng);
  if (padding_idx >= 0) {
    const Tensor row = select(weight.detach(), 0, padding_idx);
    assign(row, zeros_like(row));
  }
}

Tensor Embedding::operator()(const Tensor& ids) const {
  return embedding(weight, ids, padding_idx);
}

}  // namespace gradzoo::nn
