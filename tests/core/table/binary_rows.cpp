// Rows of the op table: arithmetic, comparisons, logic and selection.
#include <cmath>
#include <limits>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;
using Run = std::function<Tensor(const Tensors&)>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers(const Tensor& x) {
  const auto convert = [](const auto& v) { return std::vector<double>(v.begin(), v.end()); };
  if (x.dtype() == DType::boolean) return convert(x.to_vector<bool>());
  if (x.dtype() == DType::i64) return convert(x.to_vector<std::int64_t>());
  return x.to_vector<double>();
}

Shape broadcast(const Tensors& inputs) {
  Shape shape;
  for (const Tensor& x : inputs) {
    while (shape.rank() < x.dim()) shape.insert(0, 1);
    for (int i = 1; i <= x.dim(); ++i) {
      const std::int64_t extent = x.shape()[x.dim() - i];
      if (extent != 1) shape[shape.rank() - i] = extent;
    }
  }
  return shape;
}

// Where element `i` of `shape` is in a row-major tensor of shape `of`, which is stretched to it.
std::size_t place(std::int64_t i, const Shape& shape, const Shape& of) {
  std::int64_t at = 0, step = 1;
  for (int axis = 1; axis <= of.rank(); ++axis) {
    const std::int64_t extent = of[of.rank() - axis];
    if (extent != 1) at += step * (i % shape[shape.rank() - axis]);
    step *= extent;
    i /= shape[shape.rank() - axis];
  }
  return static_cast<std::size_t>(at);
}

// y[i] = value(elements of the inputs at i), in the given dtype.
Tensor reference(const Tensors& inputs, DType dtype,
                 const std::function<double(const std::vector<double>&)>& value) {
  const Shape shape = broadcast(inputs);
  std::vector<double> y;
  std::vector<std::vector<double>> values;
  for (const Tensor& x : inputs) values.push_back(numbers(x));
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    std::vector<double> elements;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      elements.push_back(values[k][place(i, shape, inputs[k].shape())]);
    }
    y.push_back(value(elements));
  }
  if (dtype == DType::i64) return from_vector(std::vector<std::int64_t>(y.begin(), y.end()), shape);
  if (dtype == DType::boolean) return from_vector(std::vector<bool>(y.begin(), y.end()), shape);
  return from_vector(y, shape);
}

// Positive, so that pow has a gradient everywhere; ties are practically impossible.
Tensor positive(const Shape& shape, Rng& rng) { return rand(shape, rng, DType::f64) * 2 + 0.2; }

std::vector<Sample> floating_samples(Rng& rng, const Tensors& edges) {
  return {{.name = "ordinary", .inputs = {positive({3, 5}, rng), positive({3, 5}, rng)}},
          {.name = "broadcast right", .inputs = {positive({2, 3, 4}, rng), positive({4}, rng)}},
          {.name = "broadcast left", .inputs = {positive({3, 1}, rng), positive({2, 3, 4}, rng)}},
          {.name = "broadcast both", .inputs = {positive({3, 1}, rng), positive({1, 9}, rng)}},
          {.name = "scalars", .inputs = {positive({}, rng), positive({}, rng)}},
          {.name = "size 1", .inputs = {positive({1, 1}, rng), positive({1}, rng)}},
          {.name = "empty", .inputs = {positive({0, 3}, rng), positive({1, 3}, rng)}},
          {.name = "empty inside", .inputs = {positive({2, 0}, rng), positive({2, 1}, rng)}},
          {.name = "edges", .inputs = edges, .gradients = false}};
}

std::vector<Sample> integer_samples(Rng& rng) {
  return {{.name = "i64", .inputs = {randint(-9, 10, {3, 5}, rng), randint(1, 4, {5}, rng)}},
          {.name = "i64, negative right",
           .inputs = {randint(-9, 10, {7}, rng), randint(-4, 0, {7}, rng)}}};
}

const std::vector<double> kEdges = {0, 1, -1, 2.5, kInf, -kInf, kNaN};

// Every pair of edge values.
Tensors edge_pairs() {
  const auto n = static_cast<std::int64_t>(kEdges.size());
  return {from_vector(kEdges, {n, 1}), from_vector(kEdges, {n})};
}

using Value = double (*)(double, double);

OpRow arithmetic(const std::string& op, Tensor (*run)(const Tensor&, const Tensor&), Value value,
                 bool integers = true) {
  OpRow row;
  row.op = op;
  row.run = [run](const Tensors& in) { return run(in[0], in[1]); };
  row.reference = [value](const Tensors& in) {
    return reference(in, in[0].dtype(), [value](const auto& v) { return value(v[0], v[1]); });
  };
  row.samples = [integers](Rng& rng) {
    std::vector<Sample> samples = floating_samples(rng, edge_pairs());
    if (integers) {
      for (Sample& sample : integer_samples(rng)) samples.push_back(std::move(sample));
    }
    return samples;
  };
  return row;
}

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); }
double lesser(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b); }

// A number on one side.
OpRow with_number(const std::string& op, const std::string& variant, Tensor (*run)(const Tensor&),
                  double (*value)(double), DType dtype = DType::f64) {
  OpRow row;
  row.op = op;
  row.variant = variant;
  row.run = [run](const Tensors& in) { return run(in[0]); };
  row.reference = [value, dtype](const Tensors& in) {
    return reference(in, dtype, [value](const auto& v) { return value(v[0]); });
  };
  row.samples = [](Rng& rng) {
    const auto n = static_cast<std::int64_t>(kEdges.size());
    return std::vector<Sample>{
        {.name = "ordinary", .inputs = {positive({3, 5}, rng)}},
        {.name = "size 1", .inputs = {positive({1}, rng)}},
        {.name = "empty", .inputs = {positive({0, 2}, rng)}},
        {.name = "edges", .inputs = {from_vector(kEdges, {n})}, .gradients = false}};
  };
  if (dtype == DType::boolean) row.derivatives = 0;
  return row;
}

std::vector<OpRow> arithmetic_rows() {
  using X = const Tensor&;
  using D = double;
  return {
      arithmetic("add", add, [](D a, D b) { return a + b; }),
      arithmetic("sub", sub, [](D a, D b) { return a - b; }),
      arithmetic("mul", mul, [](D a, D b) { return a * b; }),
      arithmetic("maximum", maximum, larger),
      arithmetic("minimum", minimum, lesser),
      arithmetic(
          "pow", pow, [](D a, D b) { return std::pow(a, b); }, false),
      with_number(
          "add", "number", [](X x) { return 1.5 + (x + 0.3); }, [](D x) { return x + 1.8; }),
      with_number(
          "sub", "number", [](X x) { return 1.5 - (x - 0.3); }, [](D x) { return 1.8 - x; }),
      with_number(
          "mul", "number", [](X x) { return 1.5 * (x * 3); }, [](D x) { return 4.5 * x; }),
      with_number(
          "div", "number", [](X x) { return 3 / (x / 2); }, [](D x) { return 3 / (x / 2); }),
      with_number(
          "pow", "0", [](X x) { return pow(x, 0); }, [](D) { return 1.0; }),
      with_number(
          "pow", "1", [](X x) { return pow(x, 1); }, [](D x) { return x; }),
      with_number(
          "pow", "2", [](X x) { return pow(x, 2); }, [](D x) { return x * x; }),
      with_number(
          "pow", "3", [](X x) { return pow(x, 3); }, [](D x) { return std::pow(x, 3); }),
      with_number(
          "pow", "-1.5", [](X x) { return pow(x, -1.5); }, [](D x) { return std::pow(x, -1.5); }),
  };
}

// Integer division truncates and must not see a 0, so its edges are floating only.
OpRow division() {
  OpRow row = arithmetic("div", div, [](double a, double b) { return a / b; });
  row.reference = [](const Tensors& in) {
    const bool integer = in[0].dtype() == DType::i64;
    return reference(in, in[0].dtype(), [integer](const auto& v) {
      return integer ? std::trunc(v[0] / v[1]) : v[0] / v[1];
    });
  };
  return row;
}

OpRow comparison(const std::string& op, Tensor (*run)(const Tensor&, const Tensor&),
                 bool (*value)(double, double)) {
  OpRow row;
  row.op = op;
  row.run = [run](const Tensors& in) { return run(in[0], in[1]); };
  row.reference = [value](const Tensors& in) {
    return reference(in, DType::boolean, [value](const auto& v) { return value(v[0], v[1]); });
  };
  row.samples = [](Rng& rng) {
    std::vector<Sample> samples = floating_samples(rng, edge_pairs());
    for (Sample& sample : integer_samples(rng)) samples.push_back(std::move(sample));
    samples.push_back(
        {.name = "boolean",
         .inputs = {tensor({{0, 1}, {1, 0}}, DType::boolean), tensor({0, 1}, DType::boolean)}});
    return samples;
  };
  row.derivatives = 0;
  return row;
}

std::vector<OpRow> comparison_rows() {
  using X = const Tensor&;
  using D = double;
  const DType b = DType::boolean;
  return {
      comparison("eq", eq, [](D x, D y) { return x == y; }),
      comparison("ne", ne, [](D x, D y) { return x != y; }),
      comparison("lt", lt, [](D x, D y) { return x < y; }),
      comparison("le", le, [](D x, D y) { return x <= y; }),
      comparison("gt", gt, [](D x, D y) { return x > y; }),
      comparison("ge", ge, [](D x, D y) { return x >= y; }),
      with_number(
          "eq", "number", [](X x) { return eq(x, 1); }, [](D x) { return D(x == 1); }, b),
      with_number(
          "ne", "number", [](X x) { return ne(x, 1); }, [](D x) { return D(x != 1); }, b),
      with_number(
          "lt", "number", [](X x) { return lt(x, 1); }, [](D x) { return D(x < 1); }, b),
      with_number(
          "le", "number", [](X x) { return le(x, 1); }, [](D x) { return D(x <= 1); }, b),
      with_number(
          "gt", "number", [](X x) { return gt(x, 1); }, [](D x) { return D(x > 1); }, b),
      with_number(
          "ge", "number", [](X x) { return ge(x, 1); }, [](D x) { return D(x >= 1); }, b),
  };
}

Tensor random_truth(const Shape& shape, Rng& rng) { return eq(randint(0, 2, shape, rng), 1); }

OpRow logic(const std::string& op, Tensor (*run)(const Tensor&, const Tensor&),
            bool (*value)(bool, bool)) {
  OpRow row;
  row.op = op;
  row.run = [run](const Tensors& in) { return run(in[0], in[1]); };
  row.reference = [value](const Tensors& in) {
    return reference(in, DType::boolean,
                     [value](const auto& v) { return value(v[0] != 0, v[1] != 0); });
  };
  row.samples = [](Rng& rng) {
    return std::vector<Sample>{
        {.name = "ordinary", .inputs = {random_truth({3, 17}, rng), random_truth({3, 17}, rng)}},
        {.name = "broadcast", .inputs = {random_truth({3, 1}, rng), random_truth({5}, rng)}},
        {.name = "size 1", .inputs = {random_truth({1}, rng), random_truth({}, rng)}},
        {.name = "empty", .inputs = {random_truth({0, 2}, rng), random_truth({2}, rng)}}};
  };
  row.derivatives = 0;
  return row;
}

std::vector<OpRow> logic_rows() {
  OpRow negation = logic("logical_not", logical_and, [](bool, bool) { return false; });
  negation.run = [](const Tensors& in) { return logical_not(in[0]); };
  negation.reference = [](const Tensors& in) {
    return reference({in[0]}, DType::boolean, [](const auto& v) { return v[0] == 0; });
  };
  return {logic("logical_and", logical_and, [](bool a, bool b) { return a && b; }),
          logic("logical_or", logical_or, [](bool a, bool b) { return a || b; }),
          logic("logical_xor", logical_xor, [](bool a, bool b) { return a != b; }), negation};
}

OpRow where_row() {
  OpRow row;
  row.op = "where";
  row.run = [](const Tensors& in) { return where(in[0], in[1], in[2]); };
  row.reference = [](const Tensors& in) {
    return reference(in, in[1].dtype(), [](const auto& v) { return v[0] != 0 ? v[1] : v[2]; });
  };
  row.samples = [](Rng& rng) {
    const auto x = [&](const Shape& shape) { return positive(shape, rng); };
    const auto m = [&](const Shape& shape) { return random_truth(shape, rng); };
    const Tensor edge = from_vector<double>({1, kNaN, kInf, 2}, {4});
    const Tensor some = tensor({1, 0, 0, 1}, DType::boolean);
    return std::vector<Sample>{
        {.name = "ordinary", .inputs = {m({3, 5}), x({3, 5}), x({3, 5})}},
        {.name = "broadcast condition", .inputs = {m({3, 1}), x({2, 3, 4}), x({2, 3, 4})}},
        {.name = "broadcast values", .inputs = {m({2, 3, 4}), x({4}), x({})}},
        {.name = "size 1", .inputs = {m({1}), x({1, 1}), x({1})}},
        {.name = "empty", .inputs = {m({0, 3}), x({3}), x({1, 1})}},
        {.name = "edges", .inputs = {some, edge, -edge}, .gradients = false},
        {.name = "i64", .inputs = {m({5}), randint(0, 9, {5}, rng), randint(0, 9, {5}, rng)}},
        {.name = "boolean", .inputs = {m({5}), m({5}), m({5})}}};
  };
  return row;
}

OpRow masked_fill_row() {
  OpRow row;
  row.op = "masked_fill";
  row.run = [](const Tensors& in) { return masked_fill(in[0], in[1], -7); };
  row.reference = [](const Tensors& in) {
    return reference(in, in[0].dtype(), [](const auto& v) { return v[1] != 0 ? -7 : v[0]; });
  };
  row.samples = [](Rng& rng) {
    const auto x = [&](const Shape& shape) { return positive(shape, rng); };
    const auto m = [&](const Shape& shape) { return random_truth(shape, rng); };
    const Tensor edge = from_vector<double>({1, kNaN, kInf, 2}, {4});
    return std::vector<Sample>{{.name = "ordinary", .inputs = {x({3, 5}), m({3, 5})}},
                               {.name = "broadcast", .inputs = {x({2, 3, 4}), m({3, 1})}},
                               {.name = "size 1", .inputs = {x({1, 1}), m({})}},
                               {.name = "empty", .inputs = {x({0, 3}), m({3})}},
                               {.name = "edges", .inputs = {edge, eq(edge, 1)}, .gradients = false},
                               {.name = "i64", .inputs = {randint(0, 9, {5}, rng), m({5})}}};
  };
  return row;
}

}  // namespace

std::vector<OpRow> binary_rows() {
  std::vector<OpRow> rows = arithmetic_rows();
  for (const auto& family : {comparison_rows(), logic_rows()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  rows.push_back(division());
  rows.push_back(where_row());
  rows.push_back(masked_fill_row());
  return rows;
}

}  // namespace gradzoo::test
