// Modules are data: a layer is a struct of tensors, other modules and numbers, with a const
// operator() and one static member that names its fields:
//
//     static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
//
// Everything else is a free function over that. Copies of a module share their weights, as copies
// of a Tensor share their numbers; clone() in nn/clone.h makes independent ones.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor.h"

namespace gradzoo::nn {

/// Something with `fields`: a module, or a config of plain numbers.
template <class T>
concept HasFields = requires(T& object) {
  T::fields(object, [](auto&&...) {});
};

namespace detail {

// What for_each_tensor does with a field, by the field's type; by default nothing.
template <class Field>
struct Walk {
  template <class F>
  static void over(const std::string&, auto&, const F&) {}
};

template <>
struct Walk<Tensor> {
  template <class F>
  static void over(const std::string& name, auto& tensor, const F& f) {
    f(name, tensor);
  }
};

template <HasFields Module>
struct Walk<Module> {
  template <class F>
  static void over(const std::string& name, auto& module, const F& f) {
    Module::fields(module, [&]<class Field>(const char* part, Field& field, auto&&...) {
      Walk<std::remove_const_t<Field>>::over(name.empty() ? part : name + "." + part, field, f);
    });
  }
};

template <class Item>
struct Walk<std::vector<Item>> {
  template <class F>
  static void over(const std::string& name, auto& items, const F& f) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      Walk<Item>::over(name + "." + std::to_string(i), items[i], f);
    }
  }
};

template <class Held>
struct Walk<std::optional<Held>> {
  template <class F>
  static void over(const std::string& name, auto& maybe, const F& f) {
    if (maybe.has_value()) Walk<Held>::over(name, *maybe, f);
  }
};

template <class... Alternatives>
struct Walk<std::variant<Alternatives...>> {
  template <class F>
  static void over(const std::string& name, auto& variant, const F& f) {
    std::visit(
        [&]<class Held>(Held& held) { Walk<std::remove_const_t<Held>>::over(name, held, f); },
        variant);
  }
};

}  // namespace detail

/// Calls f(name, tensor) for each defined tensor of the module, in order of declaration, a tied
/// one under each of its names. Names are joined by dots, elements of a vector are numbered, and
/// what an optional or a variant holds has the name of the field.
template <class Module, class F>
void for_each_tensor(Module& module, const F& f) {
  detail::Walk<std::remove_const_t<Module>>::over("", module,
                                                  [&](const std::string& name, auto& t) {
                                                    if (t.defined()) f(name, t);
                                                  });
}

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Every tensor with its name: what a checkpoint holds. A tied one is listed under each name.
template <class Module>
NamedTensors named_tensors(const Module& module) {
  NamedTensors all;
  for_each_tensor(module,
                  [&](const std::string& name, const Tensor& t) { all.emplace_back(name, t); });
  return all;
}

/// The tensors of `all` that require a gradient, each once, under the first of its names.
NamedTensors unique_parameters(const NamedTensors& all);

/// The parameters (tensors that require a gradient) with their names; a tied one once.
template <class Module>
NamedTensors named_parameters(const Module& module) {
  return unique_parameters(named_tensors(module));
}

/// The parameters; a tied one once.
template <class Module>
std::vector<Tensor> parameters(const Module& module) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : named_parameters(module)) tensors.push_back(tensor);
  return tensors;
}

/// Number of trainable numbers; a tied tensor counts once.
template <class Module>
std::int64_t parameter_count(const Module& module) {
  std::int64_t count = 0;
  for (const Tensor& tensor : parameters(module)) count += tensor.numel();
  return count;
}

/// `tensor` as a leaf that backward() fills the gradient of.
Tensor parameter(const Tensor& tensor);

}  // namespace gradzoo::nn
