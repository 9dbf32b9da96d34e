// Einstein summation, by diagonals, sums, permutations and one product of matrices.
#include "core/ops/einsum.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "core/create.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// One character for each axis: its letter, or a digit for an axis under "...".
using Labels = std::string;

struct Operand {
  Tensor x;
  Labels labels;
};

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

int axis_of(const Labels& labels, char label) { return static_cast<int>(labels.find(label)); }

constexpr const char* kDots = "...";

// The term with "..." replaced by the digits [from, to).
Labels with_digits(Labels term, std::int64_t from, std::int64_t to) {
  Labels digits;
  for (std::int64_t i = from; i < to; ++i) digits += static_cast<char>('0' + i);
  const std::size_t dots = term.find(kDots);
  return dots == Labels::npos ? term : term.replace(dots, 3, digits);
}

// Checks a term's characters; how many axes it names.
std::int64_t count_letters(const std::string& equation, const std::string& term) {
  const Labels letters = with_digits(term, 0, 0);
  for (const char c : letters) {
    check(std::isalpha(static_cast<unsigned char>(c)) != 0,
          "einsum: '{}': a term is made of letters and at most one '...', got '{}'", equation,
          term);
  }
  return static_cast<std::int64_t>(letters.size());
}

std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

// The letters that occur once, in alphabetical order, after the axes under "...".
std::string implicit_output(const std::string& inputs) {
  std::string letters;
  for (const char c : inputs) {
    if (c != ',' && c != '.' && std::count(inputs.begin(), inputs.end(), c) == 1) letters += c;
  }
  std::sort(letters.begin(), letters.end());
  return kDots + letters;
}

// Fills in the labels of the operands; returns those of the result.
Labels parse(const std::string& equation, std::vector<Operand>& operands) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  const std::vector<std::string> terms = split_terms(inputs);
  check(terms.size() == operands.size() && terms.size() <= 2,
        "einsum: '{}' has {} terms for {} operands; there must be one for each, of one or two",
        equation, terms.size(), operands.size());
  std::vector<std::int64_t> covered;  // by "..."
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Shape& shape = operands[i].x.shape();
    covered.push_back(shape.rank() - count_letters(equation, terms[i]));
    const bool dots = terms[i].find(kDots) != std::string::npos;
    check(dots ? covered[i] >= 0 : covered[i] == 0,
          "einsum: '{}': the term '{}' does not fit an operand of shape {}", equation, terms[i],
          shape);
  }
  const std::int64_t most = *std::max_element(covered.begin(), covered.end());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    operands[i].labels = with_digits(terms[i], most - covered[i], most);  // aligned at the last
  }
  const std::string out =
      arrow == std::string::npos ? implicit_output(inputs) : text.substr(arrow + 2);
  count_letters(equation, out);
  for (const char c : out) {
    check(c == '.' || (has(inputs, c) && std::count(out.begin(), out.end(), c) == 1),
          "einsum: '{}': each letter of the result must occur once there and in an operand, got "
          "'{}'",
          equation, c);
  }
  return with_digits(out, 0, most);
}

// The elements whose indices along axes i < j are equal; axis j vanishes.
Tensor diagonal(const Tensor& x, int i, int j) {
  Shape shape = x.shape();
  Shape strides = x.strides();
  strides[i] += strides[j];
  shape.erase(j);
  strides.erase(j);
  const Tensor y = view_of(x, shape, strides, x.impl().offset);
  return record(y,
                {"diagonal", "x", "y = x where two of its indices are equal",
                 "dx = dy where they are equal, 0 elsewhere"},
                {x}, {}, [i, j](const BackwardContext& c) -> Grads {
                  Shape square = Shape::filled(c.shape(0).rank(), 1);
                  square[i] = square[j] = c.shape(0)[i];
                  const Tensor on = reshape(eye(square[i], -1, DType::boolean), square);
                  return {where(on, unsqueeze(c.grad, j), scalar(0, c.grad.dtype()))};
                });
}

void take_diagonals(const std::string& equation, Operand& operand) {
  for (int j = 0; j < operand.x.dim(); ++j) {
    const char label = operand.labels[static_cast<std::size_t>(j)];
    const int i = axis_of(operand.labels, label);
    if (i == j) continue;
    const Shape& shape = operand.x.shape();
    check(shape[i] == shape[j], "einsum: '{}': '{}' stands for extents {} and {} in shape {}",
          equation, label, shape[i], shape[j], shape);
    operand.x = diagonal(operand.x, i, j);
    operand.labels.erase(static_cast<std::size_t>(j), 1);
    --j;
  }
}

// An axis of extent 1 that is stretched to that of the other operand is no axis at all.
void drop_stretched(const std::string& equation, Operand& operand, const Operand& other) {
  for (int i = operand.x.dim() - 1; i >= 0; --i) {
    const char label = operand.labels[static_cast<std::size_t>(i)];
    if (!has(other.labels, label)) continue;
    const std::int64_t mine = operand.x.size(i);
    const std::int64_t theirs = other.x.size(axis_of(other.labels, label));
    check(mine == theirs || mine == 1 || theirs == 1,
          "einsum: '{}': an axis stands for extents {} and {} in shapes {} and {}", equation, mine,
          theirs, operand.x.shape(), other.x.shape());
    if (mine != 1 || theirs == 1) continue;
    operand.x = squeeze(operand.x, i);
    operand.labels.erase(static_cast<std::size_t>(i), 1);
  }
}

// Sums over the axes whose labels are not in `kept`.
void sum_others(Operand& operand, const Labels& kept) {
  Shape axes;
  Labels labels;
  for (int i = 0; i < operand.x.dim(); ++i) {
    const char label = operand.labels[static_cast<std::size_t>(i)];
    if (has(kept, label)) {
      labels += label;
    } else {
      axes.push_back(i);
    }
  }
  if (!axes.empty()) operand.x = sum(operand.x, axes);
  operand.labels = labels;
}

// The axes in this order; those that the operand does not have get extent 1.
Tensor arranged(const Operand& operand, const Labels& order) {
  Shape axes;
  for (const char label : order) {
    if (has(operand.labels, label)) axes.push_back(axis_of(operand.labels, label));
  }
  Tensor x = permute(operand.x, axes);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!has(operand.labels, order[i])) x = unsqueeze(x, static_cast<std::int64_t>(i));
  }
  return x;
}

// [batch, rows, cols]: each group of labels but the first as one axis.
Tensor as_matrices(const Operand& operand, const Labels& batch, const Labels& rows,
                   const Labels& cols) {
  const Tensor x = arranged(operand, batch + rows + cols);
  const int first = static_cast<int>(batch.size());
  const int second = first + static_cast<int>(rows.size());
  Shape shape = x.shape().sub(0, first);
  shape.push_back(x.shape().sub(first, second).numel());
  shape.push_back(x.shape().sub(second, x.dim()).numel());
  return reshape(x, shape);
}

Tensor contract(const std::string& equation, Operand a, Operand b, const Labels& output) {
  sum_others(a, b.labels + output);
  sum_others(b, a.labels + output);
  Labels batch, summed, rows, cols;
  for (const char label : a.labels) {
    (!has(b.labels, label) ? rows : has(output, label) ? batch : summed) += label;
  }
  for (const char label : b.labels) {
    if (!has(a.labels, label)) cols += label;
  }
  if (summed.empty()) return arranged(a, output) * arranged(b, output);
  check(batch.size() <= kMaxRank - 2,
        "einsum: '{}': at most {} axes may be in both operands and the result, got {}", equation,
        kMaxRank - 2, batch.size());
  const Tensor y = matmul(as_matrices(a, batch, rows, summed), as_matrices(b, batch, summed, cols));
  Shape shape;
  for (const char label : batch + rows + cols) {
    const Operand& owner = has(a.labels, label) ? a : b;
    shape.push_back(owner.x.size(axis_of(owner.labels, label)));
  }
  return arranged({reshape(y, shape), batch + rows + cols}, output);
}

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  std::vector<Operand> terms;
  for (const Tensor& x : operands) {
    check(is_floating(x.dtype()) && x.dtype() == operands[0].dtype(),
          "einsum: '{}': the operands must be all f32 or all f64, got {} and {}", equation,
          operands[0].dtype(), x.dtype());
    terms.push_back({x, ""});
  }
  const Labels output = parse(equation, terms);
  for (Operand& term : terms) take_diagonals(equation, term);
  if (terms.size() == 1) {
    sum_others(terms[0], output);
    return arranged(terms[0], output);
  }
  Operand narrowed = terms[0];
  drop_stretched(equation, narrowed, terms[1]);
  drop_stretched(equation, terms[1], terms[0]);
  return contract(equation, narrowed, terms[1], output);
}

}  // namespace gradzoo
