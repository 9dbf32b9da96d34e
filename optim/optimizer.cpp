// Counts in tensors.
#include "optim/optimizer.h"

namespace gradzoo::optim {

Tensor make_count() { return zeros({}, DType::i64); }

std::int64_t read_count(const Tensor& count) { return *count.data<std::int64_t>(); }

void increment_count(const Tensor& count) { ++*mutable_data<std::int64_t>(count); }

}  // namespace gradzoo::optim
