// ONNX's elementwise operators in terms of ours.
#include <cmath>

#include "tests/core/onnx_cases.h"

namespace gradzoo::test {
namespace {

// Single cases that cannot be run, and why.
const OnnxReasons kNotApplicable = {
    {"clip_min_greater_than_max", "clamp refuses low > high"},
};

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

void add_unary_ops(OnnxOps& ops) {
  const auto unary = [&](const char* name, Unary f) {
    ops[name] = [f](const OnnxCase& c) -> Tensors { return {f(c.in(0))}; };
  };
  unary("Abs", abs);
  unary("Cos", cos);
  unary("Exp", exp);
  unary("Floor", floor);
  unary("Identity", clone);
  unary("Log", log);
  unary("Neg", neg);
  unary("Not", logical_not);
  unary("Reciprocal", reciprocal);
  unary("Relu", relu);
  unary("Sigmoid", sigmoid);
  unary("Sign", sign);
  unary("Sin", sin);
  unary("Softplus", softplus);
  unary("Sqrt", sqrt);
  unary("Tanh", tanh);
  unary("Ceil", [](const Tensor& x) { return neg(floor(neg(x))); });
  unary("IsNaN", [](const Tensor& x) { return ne(x, x); });
  unary("Mish", [](const Tensor& x) { return x * tanh(softplus(x)); });
}

void add_parametrised_ops(OnnxOps& ops) {
  ops["Gelu"] = [](const OnnxCase& c) -> Tensors {
    return {gelu(c.in(0), c.text("approximate", "none") == "tanh" ? Gelu::tanh : Gelu::erf)};
  };
  ops["LeakyRelu"] = [](const OnnxCase& c) -> Tensors {
    return {leaky_relu(c.in(0), c.number("alpha", 0.01))};
  };
  ops["Elu"] = [](const OnnxCase& c) -> Tensors {
    const Tensor& x = c.in(0);
    return {where(gt(x, 0.0), x, (exp(x) - 1.0) * c.number("alpha", 1))};
  };
  ops["PRelu"] = [](const OnnxCase& c) -> Tensors {
    return {where(lt(c.in(0), 0.0), c.in(0) * c.in(1), c.in(0))};
  };
  ops["HardSigmoid"] = [](const OnnxCase& c) -> Tensors {
    return {clamp(c.in(0) * c.number("alpha", 0.2) + c.number("beta", 0.5), 0, 1)};
  };
  ops["SwiGLU"] = [](const OnnxCase& c) -> Tensors {
    return {c.in(0) * sigmoid(c.in(0) * c.number("alpha", 1)) * c.in(1)};
  };
  ops["Clip"] = [](const OnnxCase& c) -> Tensors {
    return {clamp(c.in(0), c.in(1).item(), c.in(2).item())};
  };
  ops["IsInf"] = [](const OnnxCase& c) -> Tensors {
    const Tensor up = eq(c.in(0), HUGE_VAL), down = eq(c.in(0), -HUGE_VAL);
    const bool wants_up = c.integer("detect_positive", 1) != 0;
    const bool wants_down = c.integer("detect_negative", 1) != 0;
    return {wants_up ? (wants_down ? logical_or(up, down) : up) : down};
  };
}

// Ours takes two tensors of one dtype; ONNX has mixed ones and integers.
Tensor power(const OnnxCase& c) {
  const Tensor y = pow(to(c.in(0), DType::f64), to(c.in(1), DType::f64));
  return to(y, c.in(0).dtype());
}

void add_binary_ops(OnnxOps& ops) {
  const auto binary = [&](const char* name, Binary f) {
    ops[name] = [f](const OnnxCase& c) -> Tensors { return {f(c.in(0), c.in(1))}; };
  };
  binary("Add", add);
  binary("Sub", sub);
  binary("Mul", mul);
  binary("Div", div);
  binary("And", logical_and);
  binary("Or", logical_or);
  binary("Xor", logical_xor);
  binary("Equal", eq);
  binary("Greater", gt);
  binary("GreaterOrEqual", ge);
  binary("Less", lt);
  binary("LessOrEqual", le);
  binary("MatMul", matmul);
  ops["Pow"] = [](const OnnxCase& c) -> Tensors {
    return {c.in(0).dtype() == DType::f32 && c.in(1).dtype() == DType::f32 ? pow(c.in(0), c.in(1))
                                                                           : power(c)};
  };
  ops["Where"] = [](const OnnxCase& c) -> Tensors { return {where(c.in(0), c.in(1), c.in(2))}; };
}

void add_variadic_ops(OnnxOps& ops) {
  const auto fold = [&](const char* name, Binary f) {
    ops[name] = [f](const OnnxCase& c) -> Tensors {
      Tensor y = c.in(0);
      for (std::size_t i = 1; i < c.inputs.size(); ++i) y = f(y, c.in(i));
      return {y};
    };
  };
  fold("Max", maximum);
  fold("Min", minimum);
  fold("Sum", add);
  ops["Mean"] = [](const OnnxCase& c) -> Tensors { return {mean(stack(c.inputs), {0})}; };
}

// alpha A B + beta C, with A and B transposed on demand.
Tensor gemm(const OnnxCase& c) {
  const auto turned = [](const Tensor& x, bool turn) { return turn ? transpose(x) : x; };
  const Tensor a = turned(c.in(0), c.integer("transA", 0) != 0);
  const Tensor b = turned(c.in(1), c.integer("transB", 0) != 0);
  const Tensor y = matmul(a, b) * c.number("alpha", 1);
  return c.has_input(2) ? y + c.in(2) * c.number("beta", 1) : y;
}

void add_product_ops(OnnxOps& ops) {
  ops["Gemm"] = [](const OnnxCase& c) -> Tensors { return {gemm(c)}; };
  ops["Einsum"] = [](const OnnxCase& c) -> Tensors {
    return {einsum(c.text("equation", ""), c.inputs)};
  };
}

}  // namespace

OnnxFamily onnx_elementwise_ops() {
  OnnxOps ops;
  add_unary_ops(ops);
  add_parametrised_ops(ops);
  add_binary_ops(ops);
  add_variadic_ops(ops);
  add_product_ops(ops);
  return {ops, kNotApplicable};
}

}  // namespace gradzoo::test
