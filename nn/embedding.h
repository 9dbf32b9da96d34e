// A vector for each id.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn {

struct EmbeddingOptions {
  /// The row that starts at 0 and gets no gradient; none when negative.
  std::int64_t padding_idx = -1;
};

/// ids i64 [...] -> [..., dim].
struct Embedding {
  Tensor weight;  ///< [num, dim]
  std::int64_t padding_idx = -1;

  Embedding() = default;
  /// Weights normal with mean 0 and standard deviation 1, as in PyTorch.
  Embedding(std::int64_t num, std::int64_t dim, Rng& rng, const EmbeddingOptions& options = {});

  Tensor operator()(const Tensor& ids) const;

  static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
};

}  // namespace gradzoo::nn
