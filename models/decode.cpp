// From token tensors to lists of ids.
#include "models/decode.h"

namespace gradzoo::models {

std::vector<std::vector<std::int64_t>> until_end(const Tensor& tokens) {
  check(tokens.dim() == 2, "until_end: tokens must be [batch, time], got shape {}", tokens.shape());
  const std::vector<std::int64_t> ids = tokens.to_vector<std::int64_t>();
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(tokens.size(0)));
  const std::size_t width = static_cast<std::size_t>(tokens.size(1));
  for (std::size_t b = 0; b < rows.size(); ++b) {
    for (std::size_t t = 0; t < width && ids[b * width + t] != kEos; ++t) {
      rows[b].push_back(ids[b * width + t]);
    }
  }
  return rows;
}

}  // namespace gradzoo::models
