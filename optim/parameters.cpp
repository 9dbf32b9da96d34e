// Lists of parameters without repeats.
#include "optim/parameters.h"

#include <unordered_map>
#include <unordered_set>

namespace gradzoo::optim {

Parameters::Parameters(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) named_.emplace_back("", tensor);
}

std::vector<Parameter> unique_parameters(const char* user, const std::vector<Parameters>& groups) {
  std::vector<Parameter> unique;
  std::unordered_map<const TensorImpl*, std::size_t> group_of;
  std::unordered_set<std::string> names;
  std::size_t number = 0;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const auto& [given_name, tensor] : groups[group].named()) {
      const std::string name = given_name.empty() ? std::to_string(number) : given_name;
      ++number;
      check(tensor.requires_grad() && tensor.is_leaf(),
            "{}: parameter {} is not a leaf that requires a gradient", user, name);
      check(tensor.is_contiguous(), "{}: parameter {} is not contiguous", user, name);
      const auto [seen, is_new] = group_of.emplace(tensor.impl_ptr().get(), group);
      check(seen->second == group, "{}: parameter {} is in groups {} and {}", user, name,
            seen->second, group);
      if (!is_new) continue;
      check(names.insert(name).second, "{}: two parameters have the name {}", user, name);
      unique.push_back({name, tensor, group});
    }
  }
  return unique;
}

}  // namespace gradzoo::optim
