// How the encoder, which cannot write, answers a source: it reads the source, the begin symbol and
// as many mask symbols as there may be tokens in an answer, and says what they hide.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"
#include "models/encoder.h"
#include "models/hypothesis.h"

namespace gradzoo::examples {

/// The masks behind each source: half of the places are for the source and its begin symbol, the
/// others for the answer and its end symbol.
std::int64_t blank_count(const models::EncoderConfig& config);

/// Sources with their blanks.
struct Blanks {
  Tensor ids;      ///< i64 [batch, time]
  Tensor lengths;  ///< i64 [batch]
  Tensor places;   ///< i64 [batch, blank_count]: where the masks are
};
/// source i64 [batch, source] with lengths i64 [batch]. The mask symbol is the model's last id.
Blanks with_blanks(const models::EncoderConfig& config, const Tensor& source,
                   const Tensor& lengths);

/// Logits [batch, blank_count, vocab - 1] of what the masks hide; the mask symbol itself is none.
Tensor fill_in(const models::Encoder& model, const Blanks& blanks);

/// The likeliest answer to each source, of at most max_length tokens, the end symbol counted.
std::vector<models::Hypothesis> fill_in(const models::Encoder& model, const Tensor& source,
                                        const Tensor& lengths, std::int64_t max_length);

}  // namespace gradzoo::examples
