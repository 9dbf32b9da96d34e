// Losses of models: of sequences over their tokens, and of the two sides of a GAN.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

struct SequenceLossOptions {
  std::int64_t pad = 0;  ///< targets with this id are padding and count for nothing
  double label_smoothing =
      0;  ///< in [0, 1]: that much is spread evenly over all K classes, eps / K
};

/// The mean over all tokens that are not padding of -log softmax(logits)[target]: logits [batch,
/// time, classes], targets i64 [batch, time] -> a scalar. 0 with gradient 0 where all is padding.
/// Throws when shapes do not fit and for a target that is neither a class nor padding.
Tensor sequence_cross_entropy(const Tensor& logits, const Tensor& targets,
                              const SequenceLossOptions& options = {});

/// How many of the targets are no padding: the weight of a batch in a mean over several.
std::int64_t token_count(const Tensor& targets, std::int64_t pad = 0);

/// What a discriminator minimises (hinge form, Lim and Ye 2017): mean relu(1 - real) + mean
/// relu(1 + fake), for its scores of real and of generated samples, of any shapes. Scores beyond
/// the margin, and on it, get no gradient. The mean of no scores is NaN.
Tensor hinge_discriminator_loss(const Tensor& real, const Tensor& fake);
/// What the generator minimises: -mean fake.
Tensor hinge_generator_loss(const Tensor& fake);

}  // namespace gradzoo::nn
