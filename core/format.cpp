// Tensors as text. Reading a tensor here runs no op: it leaves no step in a trace.
#include "core/format.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

namespace gradzoo {
namespace {

constexpr std::int64_t kWhole = 1000;  // a tensor of more elements is shortened
constexpr std::int64_t kEdge = 3;      // to this many at both ends of an axis
constexpr std::size_t kColumns = 80;   // rows are wrapped there

// Calls f(index) for the indices of an axis that are shown.
template <class F>
void for_shown(std::int64_t extent, bool shortened, F&& f) {
  for (std::int64_t i = 0; i < extent; ++i) {
    if (shortened && extent > 2 * kEdge && i == kEdge) i = extent - kEdge;
    f(i);
  }
}

// Calls f(position) for each element shown, in row-major order; positions count from the first.
template <class F>
void for_each_position(const Tensor& x, bool shortened, const F& f, int axis = 0,
                       std::int64_t position = 0) {
  if (axis == x.dim()) return f(position);
  for_shown(x.shape()[axis], shortened, [&](std::int64_t i) {
    for_each_position(x, shortened, f, axis + 1, position + i * x.strides()[axis]);
  });
}

double number_at(const Tensor& x, std::int64_t position) {
  switch (x.dtype()) {
    case DType::f32:
      return x.data<float>()[position];
    case DType::f64:
      return x.data<double>()[position];
    case DType::i64:
      return static_cast<double>(x.data<std::int64_t>()[position]);
    case DType::boolean:
      return x.data<bool>()[position] ? 1 : 0;
  }
  return 0;
}

// How all floating-point numbers of one tensor are written, so that they can be compared.
enum class Notation { integral, fixed, scientific, shortest };

// PyTorch's rule: four decimals unless they would hide small numbers or follow very large ones.
Notation notation_for(const Tensor& x, bool shortened) {
  bool integral = true;
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for_each_position(x, shortened, [&](std::int64_t position) {
    const double size = std::abs(number_at(x, position));
    if (!std::isfinite(size) || size == 0) return;
    integral = integral && size == std::floor(size);
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  });
  if (largest == 0) return Notation::integral;
  if (largest > 1e8 || largest / smallest > 1000) return Notation::scientific;
  if (integral) return Notation::integral;
  return smallest < 1e-4 ? Notation::scientific : Notation::fixed;
}

std::string cell(const Tensor& x, std::int64_t position, Notation notation) {
  if (x.dtype() == DType::boolean) return x.data<bool>()[position] ? "true" : "false";
  if (x.dtype() == DType::i64) return fmt::format("{}", x.data<std::int64_t>()[position]);
  const double value = number_at(x, position);
  if (std::isnan(value)) return "nan";  // whatever its sign
  if (std::isinf(value) || notation == Notation::shortest) return fmt::format("{:.4g}", value);
  if (notation == Notation::integral) return fmt::format("{:.0f}.", value);
  if (notation == Notation::scientific) return fmt::format("{:.4e}", value);
  return fmt::format("{:.4f}", value);
}

// Sets the cells of a tensor in brackets, in the order in which for_each_position gives them.
class Layout {
 public:
  Layout(const Tensor& x, bool shortened, bool one_line, std::vector<std::string> cells)
      : x_(x), shortened_(shortened), one_line_(one_line), cells_(std::move(cells)) {
    for (const std::string& text : cells_) width_ = std::max(width_, text.size());
  }

  std::string text() {
    put(0);
    return std::move(out_);
  }

 private:
  void put(int axis) {
    if (axis == x_.dim()) {
      const std::string& text = cells_[next_++];
      if (!one_line_ && x_.dim() > 0) out_.append(width_ - text.size(), ' ');
      out_ += text;
      return;
    }
    const std::int64_t extent = x_.shape()[axis];
    const bool last_axis = axis == x_.dim() - 1;
    const std::size_t indent = static_cast<std::size_t>(axis) + 1;
    const std::size_t per_line = std::max<std::size_t>((kColumns - indent) / (width_ + 2), 1);
    std::size_t shown = 0;
    const auto separate = [&] {
      out_ += ",";
      if (one_line_ || (last_axis && shown % per_line != 0)) {
        out_ += " ";
      } else {
        out_.append(last_axis ? 1 : static_cast<std::size_t>(x_.dim() - 1 - axis), '\n');
        out_.append(indent, ' ');
      }
    };
    out_ += "[";
    for_shown(extent, shortened_, [&](std::int64_t i) {
      if (i > 0) separate();
      if (shown == static_cast<std::size_t>(kEdge) && i != kEdge) {
        out_ += "...";
        separate();
      }
      put(axis + 1);
      ++shown;
    });
    out_ += "]";
  }

  const Tensor& x_;
  const bool shortened_;
  const bool one_line_;
  const std::vector<std::string> cells_;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
  std::string out_;
};

std::string layout(const Tensor& x, bool shortened, bool one_line) {
  if (x.numel() == 0) return "[]";  // the shape says the rest
  const Notation notation = one_line                 ? Notation::shortest
                            : is_floating(x.dtype()) ? notation_for(x, shortened)
                                                     : Notation::integral;
  std::vector<std::string> cells;
  for_each_position(x, shortened,
                    [&](std::int64_t position) { cells.push_back(cell(x, position, notation)); });
  return Layout(x, shortened, one_line, std::move(cells)).text();
}

std::string statistics(const Tensor& x) {
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest, sum = 0;
  std::int64_t finite = 0;
  for_each_position(x, false, [&](std::int64_t position) {
    const double value = number_at(x, position);
    if (!std::isfinite(value)) return;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
    sum += value;
    ++finite;
  });
  const std::int64_t others = x.numel() - finite;
  if (finite == 0) return fmt::format("all {} not finite", others);
  std::string text = fmt::format("min {:.4g} mean {:.4g} max {:.4g}", smallest,
                                 sum / static_cast<double>(finite), largest);
  if (others > 0) text += fmt::format(", {} not finite", others);
  return text;
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return fmt::format("{} {} {}", layout(tensor, tensor.numel() > kWhole, false), tensor.dtype(),
                     tensor.shape());
}

std::string summary(const Tensor& tensor, std::int64_t most) {
  if (!tensor.defined()) return "undefined";
  return tensor.numel() <= most ? layout(tensor, false, true) : statistics(tensor);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace gradzoo
