// The batch of hypotheses: checks around what the model does.
#include "models/decoder.h"

#include "core/create.h"
#include "core/ops/index.h"
#include "core/ops/view.h"

namespace gradzoo::models {

void Decoder::check_source(const Tensor& source) {
  check(source.dim() == 2, "Decoder: source must be [batch, time], got shape {}", source.shape());
}

Tensor Decoder::begin_symbols(const Tensor& source) {
  check_source(source);
  return full({source.size(0)}, static_cast<double>(kBos), DType::i64);
}

Tensor Decoder::last_tokens(const Tensor& prefix, const Tensor& lengths) {
  check(prefix.dim() == 2, "Decoder: prefix must be [batch, time], got shape {}", prefix.shape());
  check_rows("Decoder", lengths, prefix.size(0));
  for (const std::int64_t length : lengths.to_vector<std::int64_t>()) {
    check(length >= 1 && length <= prefix.size(1),
          "Decoder: a prefix has 1 to {} tokens, got length {}", prefix.size(1), length);
  }
  return squeeze(gather(prefix, 1, unsqueeze(lengths - 1, 1)), 1);
}

void Decoder::check_rows(const char* what, const Tensor& x, std::int64_t rows) {
  check(x.dtype() == DType::i64 && x.dim() == 1, "{}: must be given i64 [rows], got {} {}", what,
        x.dtype(), x.shape());
  check(rows < 0 || x.size(0) == rows, "{}: {} ids for {} rows", what, x.size(0), rows);
}

Tensor Decoder::step(const Tensor& tokens) {
  check_rows("Decoder::step", tokens, rows_);
  const NoGrad no_grad;
  const Tensor logits = step_(tokens);
  check(logits.dim() == 2 && logits.size(0) == rows_,
        "Decoder::step: the model's logits must be [{}, vocab], got shape {}", rows_,
        logits.shape());
  check(logits.size(1) > kEos,
        "Decoder::step: a vocabulary begins with pad, begin and end symbol, this one has {} ids",
        logits.size(1));
  return logits;
}

void Decoder::select(const Tensor& rows) {
  check_rows("Decoder::select", rows, -1);
  std::int64_t place = 0;
  bool same = rows.size(0) == rows_;
  for (const std::int64_t row : rows.to_vector<std::int64_t>()) {
    check(row >= 0 && row < rows_, "Decoder::select: row {} of {}", row, rows_);
    same = same && row == place++;
  }
  if (same) return;  // spares the model a copy of its state
  const NoGrad no_grad;
  select_(rows);
  rows_ = rows.size(0);
}

}  // namespace gradzoo::models
