// Self-attention in its plainest form: one head, no dropout, nothing packed. The place to read
// first; MultiheadAttention in nn/attention.h is several of these side by side.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/attend.h"
#include "nn/linear.h"

namespace gradzoo::nn {

/// Every token asks a question (q), offers an answer to others' questions (k) and says something
/// (v): softmax(q k^T / sqrt(d)) v. x [batch, time, width] -> [batch, time, d].
struct SelfAttention {
  Linear q_proj;  ///< [d, width]
  Linear k_proj;  ///< [d, width]
  Linear v_proj;  ///< [d, width]

  SelfAttention() = default;
  /// Throws unless both widths are at least 1.
  SelfAttention(std::int64_t width, std::int64_t d, Rng& rng);

  /// The output (as context) and the weights [batch, time, time]: row i says how much token i took
  /// from each token. `mask`: boolean (true = may attend) or float, of the shapes in nn/mask.h, or
  /// undefined: all may attend. A token with nothing to attend to gives zeros.
  Attended operator()(const Tensor& x, const Tensor& mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("q_proj", self.q_proj);
    visit("k_proj", self.k_proj);
    visit("v_proj", self.v_proj);
  }
};

}  // namespace gradzoo::nn
