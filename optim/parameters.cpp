// What optimizers do with their list of parameters.
#include "optim/parameters.h"

#include <unordered_set>

namespace gradzoo::optim {

std::vector<Tensor> checked_parameters(const char* optimizer, const std::vector<Tensor>& given) {
  std::vector<Tensor> unique;
  std::unordered_set<const TensorImpl*> seen;
  for (std::size_t i = 0; i < given.size(); ++i) {
    check(given[i].requires_grad() && given[i].is_leaf(),
          "{}: parameter {} is not a leaf that requires a gradient", optimizer, i);
    if (seen.insert(given[i].impl_ptr().get()).second) unique.push_back(given[i]);
  }
  return unique;
}

void zero_grad(const std::vector<Tensor>& parameters) {
  for (Tensor parameter : parameters) parameter.zero_grad();
}

}  // namespace gradzoo::optim
