// Rows of the op table: reductions. The reference gathers the elements of each output in row-major
// order and hands them to a plain function.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Row = std::vector<double>;
using Inputs = std::vector<Tensor>;

// How the rows of the table call an op.
struct Axes {
  std::string name;
  Shape axes;
  bool keepdim;
};
const std::vector<Axes>& axes_variants() {
  static const std::vector<Axes> variants = {
      {"all axes", {}, false}, {"axis 1", {1}, false}, {"axes -1 and 0, keepdim", {-1, 0}, true}};
  return variants;
}

Row values_of(const Tensor& x) {
  if (x.dtype() == DType::boolean) {
    const std::vector<bool> values = x.to_vector<bool>();
    return Row(values.begin(), values.end());
  }
  if (x.dtype() == DType::i64) {
    const std::vector<std::int64_t> values = x.to_vector<std::int64_t>();
    return Row(values.begin(), values.end());
  }
  return x.to_vector<double>();
}

// f of the elements of each output.
Tensor by_rows(const Tensor& x, const Axes& variant, DType dtype, double (*f)(const Row&)) {
  std::vector<bool> reduced(static_cast<std::size_t>(x.dim()), variant.axes.empty());
  for (std::int64_t axis : variant.axes) {
    reduced[static_cast<std::size_t>(axis < 0 ? axis + x.dim() : axis)] = true;
  }
  Shape shape;
  std::int64_t outputs = 1;
  for (int i = 0; i < x.dim(); ++i) {
    const bool kept = !reduced[static_cast<std::size_t>(i)];
    if (kept) outputs *= x.size(i);
    if (kept || variant.keepdim) shape.push_back(kept ? x.size(i) : 1);
  }
  std::vector<Row> rows(static_cast<std::size_t>(outputs));
  const Row values = values_of(x);
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    std::int64_t rest = k, place = 0, step = 1;
    for (int i = x.dim() - 1; i >= 0; --i) {
      if (!reduced[static_cast<std::size_t>(i)]) {
        place += rest % x.size(i) * step;
        step *= x.size(i);
      }
      rest /= x.size(i);
    }
    rows[static_cast<std::size_t>(place)].push_back(values[static_cast<std::size_t>(k)]);
  }
  const Tensor y = empty(shape, DType::f64);
  for (std::size_t i = 0; i < rows.size(); ++i) mutable_data<double>(y)[i] = f(rows[i]);
  return to(y, dtype);
}

// Distinct magnitudes of at least 0.2, of both signs: away from every kink.
Tensor apart(const Shape& shape, Rng& rng) {
  const Tensor size = to(permutation(shape.numel(), rng), DType::f64) * 0.05 + 0.2;
  const Tensor sign = to(randint(0, 2, {shape.numel()}, rng), DType::f64) * 2.0 - 1.0;
  return reshape(size * sign, shape);
}

std::vector<Sample> ordinary(Rng& rng) {
  return {{"ordinary", {apart({2, 3, 4}, rng)}},
          {"size 1", {apart({1, 1, 1}, rng)}},
          {"longer than the lanes", {apart({1, 35, 2}, rng)}, false},
          {"wider than the lanes", {apart({2, 3, 37}, rng)}, false}};
}

std::vector<Sample> with_empty(Rng& rng) {
  std::vector<Sample> samples = ordinary(rng);
  samples.push_back({"empty rows", {zeros({2, 0, 3}, DType::f64)}});
  samples.push_back({"no rows", {zeros({0, 3, 2}, DType::f64)}});
  return samples;
}

using AxesOp = Tensor (*)(const Tensor&, const Shape&, bool);

// A row for each choice of axes.
void add_rows(std::vector<OpRow>& rows, const std::string& op, const std::string& option,
              const std::function<Tensor(const Tensor&, const Axes&)>& run, double (*f)(const Row&),
              const std::function<std::vector<Sample>(Rng&)>& samples, int derivatives = 2,
              DType dtype = DType::f64) {
  for (const Axes& variant : axes_variants()) {
    rows.push_back(
        {.op = op,
         .variant = option.empty() ? variant.name : option + ", " + variant.name,
         .run = [run, variant](const Inputs& in) { return run(in[0], variant); },
         .reference = [f, variant,
                       dtype](const Inputs& in) { return by_rows(in[0], variant, dtype, f); },
         .samples = samples,
         .derivatives = derivatives});
  }
}

std::function<Tensor(const Tensor&, const Axes&)> over_axes(AxesOp op) {
  return [op](const Tensor& x, const Axes& v) { return op(x, v.axes, v.keepdim); };
}

double plain_sum(const Row& row) { return std::accumulate(row.begin(), row.end(), 0.0); }

double plain_mean(const Row& row) { return plain_sum(row) / static_cast<double>(row.size()); }

double plain_prod(const Row& row) {
  return std::accumulate(row.begin(), row.end(), 1.0, std::multiplies<>());
}

// NaN if there is one, else the first that no other precedes.
template <class Before>
double plain_first(const Row& row, Before before) {
  double best = row[0];
  for (double value : row) {
    if (std::isnan(value)) return value;
    if (before(value, best)) best = value;
  }
  return best;
}
double plain_max(const Row& row) { return plain_first(row, std::greater<>()); }
double plain_min(const Row& row) { return plain_first(row, std::less<>()); }

double position_of(const Row& row, double wanted) {
  const auto same = [&](double v) { return v == wanted || (std::isnan(v) && std::isnan(wanted)); };
  return static_cast<double>(std::find_if(row.begin(), row.end(), same) - row.begin());
}

double plain_var(const Row& row) {
  const double mean = plain_mean(row);
  double total = 0;
  for (double value : row) total += (value - mean) * (value - mean);
  return total / static_cast<double>(row.size());
}

double plain_logsumexp(const Row& row) {
  double total = 0;
  for (double value : row) total += std::exp(value);
  return std::log(total);
}

template <int p>
double plain_norm(const Row& row) {
  double total = 0;
  for (double value : row) {
    total = p == 0 ? std::max(total, std::abs(value)) : total + std::pow(std::abs(value), p);
  }
  return p == 0 ? total : std::pow(total, 1.0 / std::max(p, 1));
}

void add_sums(std::vector<OpRow>& rows) {
  add_rows(rows, "sum", "", over_axes(sum), plain_sum, with_empty);
  add_rows(rows, "mean", "", over_axes(mean), plain_mean, with_empty);
  add_rows(rows, "prod", "", over_axes(prod), plain_prod, [](Rng& rng) {
    std::vector<Sample> samples = with_empty(rng);
    samples.push_back({"edge: one zero", {tensor({{{2, -1}, {0, 3}, {0.5, 1.5}}}, DType::f64)}});
    samples.push_back({"edge: zeros", {tensor({{{0, -1}, {0, 3}, {0.5, 0}}}, DType::f64)}});
    return samples;
  });
}

void add_extrema(std::vector<OpRow>& rows) {
  const auto samples = [](Rng& rng) {
    std::vector<Sample> samples = ordinary(rng);
    const Tensor odd =
        tensor({{{kNaN, 1}, {2, kInf}, {-1, kNaN}}, {{-kInf, 2}, {2, 2}, {2, -kInf}}}, DType::f64);
    samples.push_back({"edge: NaN, infinities and ties", {odd}, false});
    samples.push_back({"edge: nothing but -inf", {full({2, 2, 2}, -kInf, DType::f64)}, false});
    return samples;
  };
  add_rows(rows, "max", "", over_axes(max), plain_max, samples);
  add_rows(rows, "min", "", over_axes(min), plain_min, samples);
  for (const std::int64_t axis : {0, 1, -1, 3}) {  // 3: none
    for (const bool largest : {true, false}) {
      const Axes variant{"", axis == 3 ? Shape{} : Shape{axis}, axis == 1};
      const auto position = largest
                                ? [](const Row& row) { return position_of(row, plain_max(row)); }
                                : [](const Row& row) { return position_of(row, plain_min(row)); };
      rows.push_back(
          {.op = largest ? "argmax" : "argmin",
           .variant = axis == 3 ? "all elements" : fmt::format("axis {}", axis),
           .run =
               [=](const Inputs& in) {
                 const auto one = axis == 3 ? std::nullopt : std::optional<std::int64_t>(axis);
                 return largest ? argmax(in[0], one, axis == 1) : argmin(in[0], one, axis == 1);
               },
           .reference =
               [=](const Inputs& in) { return by_rows(in[0], variant, DType::i64, position); },
           .samples = samples,
           .derivatives = 0});
    }
  }
}

void add_moments(std::vector<OpRow>& rows) {
  const auto spread = [](Rng& rng) {
    std::vector<Sample> samples = with_empty(rng);
    samples[1].gradients = false;  // of one element: the kink of std at 0
    return samples;
  };
  add_rows(
      rows, "var", "correction 0",
      [](const Tensor& x, const Axes& v) { return var(x, v.axes, v.keepdim, 0); }, plain_var,
      spread);
  add_rows(
      rows, "std", "correction 0",
      [](const Tensor& x, const Axes& v) { return std(x, v.axes, v.keepdim, 0); },
      [](const Row& row) { return std::sqrt(plain_var(row)); }, spread);
  const auto unbiased = [](const Row& row) {
    const double n = static_cast<double>(row.size());
    return n <= 1 ? kNaN : plain_var(row) * n / (n - 1);
  };
  add_rows(
      rows, "var", "correction 1",
      [](const Tensor& x, const Axes& v) { return var(x, v.axes, v.keepdim); }, unbiased, spread);
  add_rows(rows, "logsumexp", "", over_axes(logsumexp), plain_logsumexp, [](Rng& rng) {
    std::vector<Sample> samples = with_empty(rng);
    samples.push_back({"edge: infinities", {tensor({{{kInf, -kInf}, {1, -kInf}}}, DType::f64)}});
    samples.back().gradients = false;
    return samples;
  });
}

void add_norms(std::vector<OpRow>& rows) {
  const auto with_p = [](double p) {
    return [p](const Tensor& x, const Axes& v) { return norm(x, v.axes, v.keepdim, p); };
  };
  add_rows(rows, "norm", "p 1", with_p(1), plain_norm<1>, with_empty);
  add_rows(rows, "norm", "p 2", with_p(2), plain_norm<2>, with_empty);
  add_rows(rows, "norm", "p 3", with_p(3), plain_norm<3>, with_empty);
  add_rows(rows, "norm", "p infinity", with_p(kInf), plain_norm<0>, with_empty);
}

void add_logic(std::vector<OpRow>& rows) {
  const auto samples = [](Rng& rng) {
    std::vector<Sample> samples;
    for (const Shape& shape : {Shape{2, 3, 4}, {1, 1, 1}, {2, 0, 3}, {0, 2, 2}, {2, 2, 70}}) {
      samples.push_back({fmt::format("half {}", shape), {eq(randint(0, 2, shape, rng), 1)}});
      samples.push_back({fmt::format("few {}", shape), {eq(randint(0, 9, shape, rng), 1)}});
      samples.push_back({fmt::format("most {}", shape), {ne(randint(0, 9, shape, rng), 1)}});
    }
    return samples;
  };
  add_rows(
      rows, "any", "", over_axes(any),
      [](const Row& row) { return std::count(row.begin(), row.end(), 1) > 0 ? 1.0 : 0.0; }, samples,
      0, DType::boolean);
  add_rows(
      rows, "all", "", over_axes(all),
      [](const Row& row) { return std::count(row.begin(), row.end(), 0) == 0 ? 1.0 : 0.0; },
      samples, 0, DType::boolean);
  add_rows(rows, "sum", "booleans are counted", over_axes(sum), plain_sum, samples, 0, DType::i64);
}

// y_i = join of x_0 … x_i along the axis.
Tensor plain_scan(const Tensor& x, int axis, double (*join)(double, double)) {
  const Tensor y = empty(x.shape(), DType::f64);
  const Row values = x.to_vector<double>();
  double* out = mutable_data<double>(y);
  std::int64_t step = 1;
  for (int i = axis + 1; i < x.dim(); ++i) step *= x.size(i);
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    const double value = values[static_cast<std::size_t>(k)];
    out[k] = k / step % x.size(axis) == 0 ? value : join(out[k - step], value);
  }
  return y;
}

void add_scans(std::vector<OpRow>& rows) {
  for (const int axis : {0, 1, 2}) {
    rows.push_back({.op = "cumsum",
                    .variant = fmt::format("axis {}", axis),
                    .run = [axis](const Inputs& in) { return cumsum(in[0], axis - 3); },
                    .reference =
                        [axis](const Inputs& in) {
                          return plain_scan(in[0], axis, [](double a, double b) { return a + b; });
                        },
                    .samples = with_empty});
    rows.push_back({.op = "cumprod",
                    .variant = fmt::format("axis {}", axis),
                    .run = [axis](const Inputs& in) { return cumprod(in[0], axis); },
                    .reference =
                        [axis](const Inputs& in) {
                          return plain_scan(in[0], axis, [](double a, double b) { return a * b; });
                        },
                    .samples =
                        [](Rng& rng) {
                          std::vector<Sample> samples = with_empty(rng);
                          const Tensor some = tensor({{{2, 0}, {0, 3}, {0.5, 0}}}, DType::f64);
                          samples.push_back({"edge: zeros", {some}});
                          return samples;
                        }});
  }
}

void add_sum_to(std::vector<OpRow>& rows) {
  for (const Shape& target : {Shape{3, 4}, {1, 4}, {2, 3, 1}, {3, 1}, {1}, {}, {2, 3, 4}}) {
    const int shift = 3 - target.rank();
    const auto reference = [target, shift](const Inputs& in) {
      const Tensor y = zeros(target, DType::f64);
      const Row values = in[0].to_vector<double>();
      for (std::int64_t k = 0; k < in[0].numel(); ++k) {
        std::int64_t rest = k, place = 0, step = 1;
        for (int i = 2; i >= 0; --i) {
          if (i >= shift && target[i - shift] != 1) {
            place += rest % in[0].size(i) * step;
            step *= in[0].size(i);
          }
          rest /= in[0].size(i);
        }
        mutable_data<double>(y)[place] += values[static_cast<std::size_t>(k)];
      }
      return y;
    };
    rows.push_back({.op = "sum_to",
                    .variant = to_string(target),
                    .run = [target](const Inputs& in) { return sum_to(in[0], target); },
                    .reference = reference,
                    .samples =
                        [target](Rng& rng) {
                          std::vector<Sample> all{{"ordinary", {apart({2, 3, 4}, rng)}}};
                          if (target.numel() == 1) {  // fits any tensor with three axes
                            all.push_back({"size 1", {apart({1, 1, 1}, rng)}});
                            all.push_back({"empty", {apart({2, 0, 4}, rng)}});
                          }
                          return all;
                        }});
  }
}

}  // namespace

std::vector<OpRow> reduce_rows() {
  std::vector<OpRow> rows;
  add_sums(rows);
  add_extrema(rows);
  add_moments(rows);
  add_norms(rows);
  add_logic(rows);
  add_scans(rows);
  add_sum_to(rows);
  return rows;
}

}  // namespace gradzoo::test
