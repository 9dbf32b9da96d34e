// Rows of the op table: functions of one tensor.
#include <cmath>
#include <limits>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Function {
  std::string op;
  std::string variant;
  std::function<Tensor(const Tensor&)> run;
  double (*value)(double);
  double low, high;                // where random samples lie
  std::vector<double> edges = {};  // values only, without gradients
  std::vector<double> kinks = {};  // random samples keep away from them
  int derivatives = 2;
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

double softplus_of(double x) {
  return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

// x f(x), whose limit at -inf is 0.
double gated(double x, double gate) { return x == -kInf ? 0 : x * gate; }

double gelu_erf(double x) { return gated(x, 0.5 * std::erfc(-x / std::sqrt(2.0))); }

double gelu_tanh(double x) {
  const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * std::pow(x, 3));
  return gated(x, sigmoid_of(2 * u));  // (1 + tanh(u)) / 2, without the cancellation
}

double sign_of(double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); }

const std::vector<double> kEverywhere = {0, -0.0, 1e-30, -1e-30, 1e4, -1e4, kInf, -kInf, kNaN};

std::vector<Function> exponentials() {
  using X = const Tensor&;
  using D = double;
  return {
      {"exp", "", [](X x) { return exp(x); }, [](D x) { return std::exp(x); }, -4, 4, kEverywhere},
      {"log",
       "",
       [](X x) { return log(x); },
       [](D x) { return std::log(x); },
       0.1,
       4,
       {0, 1, 1e-30, 1e30, -1, kInf, kNaN}},
      {"log1p",
       "",
       [](X x) { return log1p(x); },
       [](D x) { return std::log1p(x); },
       -0.9,
       4,
       {0, -0.0, 1e-20, -1, -2, kInf, kNaN}},
      {"sigmoid", "", [](X x) { return sigmoid(x); }, sigmoid_of, -5, 5, kEverywhere},
      {"log_sigmoid", "", [](X x) { return log_sigmoid(x); }, [](D x) { return -softplus_of(-x); },
       -5, 5, kEverywhere},
      {"softplus", "", [](X x) { return softplus(x); }, softplus_of, -5, 5, kEverywhere},
      {"tanh", "", [](X x) { return tanh(x); }, [](D x) { return std::tanh(x); }, -3, 3,
       kEverywhere},
      {"silu", "", [](X x) { return silu(x); }, [](D x) { return gated(x, sigmoid_of(x)); }, -5, 5,
       kEverywhere},
      {"gelu", "erf", [](X x) { return gelu(x); }, gelu_erf, -4, 4, kEverywhere},
      {"gelu", "tanh", [](X x) { return gelu(x, Gelu::tanh); }, gelu_tanh, -4, 4, kEverywhere},
  };
}

std::vector<Function> algebra() {
  using X = const Tensor&;
  using D = double;
  return {
      {"neg", "", [](X x) { return neg(x); }, [](D x) { return -x; }, -4, 4, kEverywhere},
      {"square", "", [](X x) { return square(x); }, [](D x) { return x * x; }, -4, 4, kEverywhere},
      {"reciprocal",
       "",
       [](X x) { return reciprocal(x); },
       [](D x) { return 1 / x; },
       0.2,
       4,
       {0, -0.0, kInf, -kInf, kNaN, -3}},
      {"sqrt",
       "",
       [](X x) { return sqrt(x); },
       [](D x) { return std::sqrt(x); },
       0.1,
       4,
       {0, -1, 1e-30, kInf, kNaN}},
      {"rsqrt",
       "",
       [](X x) { return rsqrt(x); },
       [](D x) { return 1 / std::sqrt(x); },
       0.2,
       4,
       {0, -1, 1e-30, kInf, kNaN}},
      {"sin",
       "",
       [](X x) { return sin(x); },
       [](D x) { return std::sin(x); },
       -4,
       4,
       {0, -0.0, 1000, kInf, kNaN}},
      {"cos",
       "",
       [](X x) { return cos(x); },
       [](D x) { return std::cos(x); },
       -4,
       4,
       {0, -0.0, 1000, kInf, kNaN}},
  };
}

std::vector<Function> pieces() {
  using X = const Tensor&;
  using D = double;
  return {
      {"abs",
       "",
       [](X x) { return abs(x); },
       [](D x) { return std::abs(x); },
       -4,
       4,
       kEverywhere,
       {0}},
      {"relu",
       "",
       [](X x) { return relu(x); },
       [](D x) { return x < 0 ? 0 : x; },
       -4,
       4,
       kEverywhere,
       {0}},
      {"leaky_relu",
       "slope 0.2",
       [](X x) { return leaky_relu(x, 0.2); },
       [](D x) { return x < 0 ? 0.2 * x : x; },
       -4,
       4,
       kEverywhere,
       {0}},
      {"clamp",
       "",
       [](X x) { return clamp(x, -1.5, 2); },
       [](D x) { return x < -1.5 ? -1.5
                        : x > 2  ? 2
                                 : x; },
       -4,
       4,
       {-1.5, 2, 0, kInf, -kInf, kNaN},
       {-1.5, 2}},
      {"sign", "", [](X x) { return sign(x); }, sign_of, -4, 4, kEverywhere, {}, 0},
      {"floor",
       "",
       [](X x) { return floor(x); },
       [](D x) { return std::floor(x); },
       -4,
       4,
       {0, -0.0, 2, -2, -0.5, kInf, kNaN},
       {-4, -3, -2, -1, 0, 1, 2, 3, 4},
       0},
  };
}

double away_from(const std::vector<double>& kinks, double x) {
  for (double kink : kinks) {
    if (std::abs(x - kink) < 0.05) return kink + 0.1;
  }
  return x;
}

Tensor random(const Function& f, const Shape& shape, Rng& rng) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    values.push_back(away_from(f.kinks, f.low + (f.high - f.low) * rng.uniform()));
  }
  return from_vector(values, shape);
}

OpRow row_of(const Function& f) {
  OpRow row;
  row.op = f.op;
  row.variant = f.variant;
  row.run = [f](const auto& in) { return f.run(in[0]); };
  row.reference = [f](const auto& in) {
    std::vector<double> values = in[0].template to_vector<double>();
    for (double& value : values) value = f.value(value);
    return from_vector(values, in[0].shape());
  };
  row.samples = [f](Rng& rng) {
    const auto count = static_cast<std::int64_t>(f.edges.size());
    return std::vector<Sample>{
        {.name = "ordinary", .inputs = {random(f, {3, 7}, rng)}},
        {.name = "three axes", .inputs = {random(f, {2, 1, 9}, rng)}},
        {.name = "scalar", .inputs = {random(f, {}, rng)}},
        {.name = "size 1", .inputs = {random(f, {1, 1}, rng)}},
        {.name = "empty", .inputs = {random(f, {2, 0}, rng)}},
        {.name = "edges", .inputs = {from_vector(f.edges, {count})}, .gradients = false}};
  };
  row.derivatives = f.derivatives;
  return row;
}

// neg also takes integers.
OpRow integer_neg() {
  return {.op = "neg",
          .variant = "i64",
          .run = [](const auto& in) { return neg(in[0]); },
          .reference =
              [](const auto& in) {
                auto values = in[0].template to_vector<std::int64_t>();
                for (std::int64_t& value : values) value = -value;
                return from_vector(values, in[0].shape());
              },
          .samples =
              [](Rng& rng) {
                return std::vector<Sample>{
                    {.name = "ordinary", .inputs = {randint(-9, 9, {3, 5}, rng)}},
                    {.name = "empty", .inputs = {zeros({0}, DType::i64)}}};
              },
          .derivatives = 0};
}

}  // namespace

std::vector<OpRow> unary_rows() {
  std::vector<OpRow> rows;
  for (const auto& family : {exponentials(), algebra(), pieces()}) {
    for (const Function& f : family) rows.push_back(row_of(f));
  }
  rows.push_back(integer_neg());
  return rows;
}

}  // namespace gradzoo::test
