// Values and gradients of one row of the op table.
#include "tests/core/op_table_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "core/gradcheck.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

// The elements of a tensor of any dtype.
std::vector<double> numbers(const Tensor& x) {
  const auto convert = [](const auto& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  switch (x.dtype()) {
    case DType::f32:
      return convert(x.to_vector<float>());
    case DType::f64:
      return x.to_vector<double>();
    case DType::i64:
      return convert(x.to_vector<std::int64_t>());
    case DType::boolean:
      return convert(x.to_vector<bool>());
  }
  return {};
}

// Ways to lay the same values out in memory. What lies between them is NaN (or a number that is
// no index), so that reading a wrong place shows.
enum class Layout { contiguous, transposed, step_two, offset };
constexpr Layout kStrided[] = {Layout::transposed, Layout::step_two, Layout::offset};

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::contiguous:
      return "contiguous";
    case Layout::transposed:
      return "transposed memory";
    case Layout::step_two:
      return "every second element";
    case Layout::offset:
      return "inside a larger tensor";
  }
  return "";
}

Tensor poison(const Shape& shape, DType dtype) {
  if (dtype == DType::i64) return full(shape, 1e15, dtype);
  return full(shape, dtype == DType::boolean ? 1 : std::nan(""), dtype);
}

Tensor lay_out(const Tensor& x, Layout layout) {
  if (layout == Layout::contiguous) return clone(x.detach());
  Shape larger = x.shape();
  Shape strides = x.shape();
  std::int64_t offset = 0;
  if (layout == Layout::transposed) {
    std::int64_t step = 1;
    for (int i = 0; i < x.dim(); ++i) {
      strides[i] = step;
      step *= std::max<std::int64_t>(x.shape()[i], 1);
    }
  } else {
    const bool step_two = layout == Layout::step_two;
    for (int i = 0; i < x.dim(); ++i) larger[i] = step_two ? 2 * x.shape()[i] : x.shape()[i] + 2;
    strides = contiguous_strides(larger);
    for (int i = 0; i < x.dim(); ++i) {
      if (!step_two) offset += strides[i];
      if (step_two) strides[i] *= 2;
    }
  }
  const Tensor y = view_of(poison(larger, x.dtype()), x.shape(), strides, offset);
  copy_into(y, x);
  return y;
}

Tensors lay_out(const Tensors& inputs, Layout layout) {
  Tensors out;
  for (const Tensor& input : inputs) out.push_back(lay_out(input, layout));
  return out;
}

// The floating inputs rounded to f32; as f32 or back in f64.
Tensors rounded(const Tensors& inputs, DType dtype) {
  Tensors out;
  for (const Tensor& input : inputs) {
    out.push_back(is_floating(input.dtype()) ? to(to(input, DType::f32), dtype) : input);
  }
  return out;
}

// Empty when `got` is `wanted`: NaN equals NaN, infinities are equal to themselves. The absolute
// part of the tolerance, for cancellation, is small against the largest value.
std::string compare(const Tensor& got, const Tensor& wanted, DType dtype, double rtol) {
  if (got.shape() != wanted.shape()) {
    return fmt::format("shape {}, must be {}", got.shape(), wanted.shape());
  }
  if (got.dtype() != dtype) return fmt::format("dtype {}, must be {}", got.dtype(), dtype);
  const std::vector<double> a = numbers(got);
  std::vector<double> b = numbers(wanted);
  const bool single = dtype == DType::f32;
  double scale = 0;
  for (double& value : b) {
    if (single) value = static_cast<float>(value);
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  const double smallest = single ? std::numeric_limits<float>::min() : 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double error = std::abs(a[i] - b[i]);
    const double allowed = rtol * (std::abs(b[i]) + 0.01 * scale) + smallest;
    if (std::isfinite(error) && error <= allowed) continue;
    return fmt::format("{:.17g} at {}, must be {:.17g} (error {:.3g}, allowed {:.3g})", a[i],
                       unravel_index(static_cast<std::int64_t>(i), wanted.shape()), b[i], error,
                       allowed);
  }
  return "";
}

class RowCheck {
 public:
  RowCheck(const OpRow& row, const Sample& sample, std::vector<std::string>& problems)
      : row_(row), sample_(sample), problems_(problems) {}

  void run() {
    const bool floating = std::any_of(sample_.inputs.begin(), sample_.inputs.end(),
                                      [](const Tensor& x) { return is_floating(x.dtype()); });
    attempt("values", [&] { check_values(sample_.inputs, sample_.inputs, row_.rtol_f64); });
    if (!floating) return;
    attempt("f32 values", [&] {
      check_values(rounded(sample_.inputs, DType::f32), rounded(sample_.inputs, DType::f64),
                   row_.rtol_f32);
    });
    attempt("gradients", [&] { check_gradients(); });
  }

 private:
  template <class F>
  void attempt(const char* stage, const F& f) {
    try {
      f();
    } catch (const std::exception& error) {
      problem(stage, fmt::format("threw: {}", error.what()));
    }
  }

  void problem(const std::string& stage, const std::string& what) {
    if (what.empty()) return;
    const std::string variant = row_.variant.empty() ? "" : " (" + row_.variant + ")";
    problems_.push_back(
        fmt::format("{}{}, sample '{}', {}: {}", row_.op, variant, sample_.name, stage, what));
  }

  void check_values(const Tensors& inputs, const Tensors& exact, double rtol) {
    const Tensor wanted = row_.reference(exact);
    const bool single = std::any_of(inputs.begin(), inputs.end(),
                                    [](const Tensor& x) { return x.dtype() == DType::f32; });
    // `to` alone may give another floating type than it got.
    const DType dtype =
        single && wanted.dtype() == DType::f64 && row_.op != "to" ? DType::f32 : wanted.dtype();
    const std::string type = single ? "f32, " : "";
    problem(type + "values", compare(row_.run(inputs), wanted, dtype, rtol));
    for (const Layout layout : kStrided) {
      const Tensors strided = lay_out(inputs, layout);
      const std::string stage = type + name_of(layout);
      problem(stage, compare(row_.run(strided), wanted, dtype, rtol));
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        problem(stage + ", the input afterwards",
                compare(strided[i], inputs[i], inputs[i].dtype(), 0));
      }
    }
  }

  void check_gradients() {
    if (!sample_.gradients) return;
    if (row_.derivatives == 0) {
      check_refusal();
      return;
    }
    for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::step_two}) {
      const Tensors leaves = lay_out(sample_.inputs, layout);
      const GradcheckResult first = gradcheck(row_.run, leaves);
      problem(name_of(layout), first ? "" : first.report);
      // The formulas do not know about strides: once is enough for the second order.
      if (row_.derivatives < 2 || layout != Layout::contiguous) continue;
      const GradcheckResult second = gradgradcheck(row_.run, leaves);
      problem(name_of(layout), second ? "" : second.report);
    }
  }

  // An op without a gradient by nature must say so, not give zeros.
  void check_refusal() {
    Tensors inputs = lay_out(sample_.inputs, Layout::contiguous);
    Tensors leaves;
    for (Tensor& input : inputs) {
      if (is_floating(input.dtype())) leaves.push_back(input.requires_grad_());
    }
    const Tensor y = row_.run(inputs);
    if (!is_floating(y.dtype())) return;
    try {
      grad({y}, leaves, {.grad_outputs = {ones_like(y.detach())}, .allow_unused = true});
    } catch (const Error&) {
      return;
    }
    problem("gradients", "the op has no derivative, but gives one when asked");
  }

  const OpRow& row_;
  const Sample& sample_;
  std::vector<std::string>& problems_;
};

}  // namespace

std::vector<OpRow> all_rows() {
  std::vector<OpRow> rows;
  for (const auto& family :
       {additive_rows(), binary_rows(), conv_rows(), create_rows(), index_rows(), loss_rows(),
        matmul_rows(), norm_rows(), pool_rows(), recurrent_rows(), reduce_rows(), softmax_rows(),
        unary_rows(), view_rows()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  return rows;
}

std::vector<std::string> problems_of(const OpRow& row, std::uint64_t seed) {
  std::vector<std::string> problems;
  Rng rng(seed);
  const std::vector<Sample> samples = row.samples(rng);
  if (samples.empty()) problems.push_back(row.op + ": the row has no samples");
  for (const Sample& sample : samples) RowCheck(row, sample, problems).run();
  return problems;
}

}  // namespace gradzoo::test
