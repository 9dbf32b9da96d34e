// What a module consists of, as a table for people.
#include "nn/summary.h"

#include <algorithm>
#include <unordered_map>

namespace gradzoo::nn {
namespace {

struct Row {
  std::string name, shape, count, note;
};

// 1234567 as "1,234,567".
std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// A heading, a row for each tensor, and the total.
std::vector<Row> rows_of(const char* kind, const NamedTensors& tensors) {
  std::vector<Row> rows{{kind, "shape", "count", ""}};
  std::unordered_map<const TensorImpl*, std::string> first_name;
  std::int64_t total = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto [first, is_new] = first_name.emplace(tensor.impl_ptr().get(), name);
    const std::string shape = to_string(tensor.shape());
    if (is_new) {
      total += tensor.numel();
      rows.push_back({name, shape, grouped(tensor.numel()), ""});
    } else {
      rows.push_back({name, shape, "", fmt::format("  tied to {}", first->second)});
    }
  }
  rows.push_back({"total", "", grouped(total), ""});
  return rows;
}

// Names to the left, shapes and counts to the right.
std::string aligned(const std::vector<Row>& rows) {
  std::size_t name = 0, shape = 0, count = 0;
  for (const Row& row : rows) {
    name = std::max(name, row.name.size());
    shape = std::max(shape, row.shape.size());
    count = std::max(count, row.count.size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}  {:>{}}  {:>{}}{}\n", row.name, name, row.shape, shape, row.count,
                        count, row.note);
  }
  return text;
}

}  // namespace

std::string summary_named(const NamedTensors& tensors) {
  NamedTensors parameters, buffers;
  for (const auto& named : tensors) {
    (named.second.requires_grad() ? parameters : buffers).push_back(named);
  }
  std::string text = aligned(rows_of("parameter", parameters));
  if (!buffers.empty()) {
    text += '\n';
    text += aligned(rows_of("buffer", buffers));
  }
  return text;
}

}  // namespace gradzoo::nn
