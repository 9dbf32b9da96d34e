// ONNX's reductions and running sums in terms of ours.
#include "tests/core/onnx_cases.h"

namespace gradzoo::test {
namespace {

// Single cases that cannot be run, and why.
const OnnxReasons kNotApplicable = {
    {"reduce_max_empty_set", "max of nothing is an error"},
    {"reduce_min_empty_set", "min of nothing is an error"},
};

// A reduction's axes come as an input; none means all, or nothing to do when the case says so.
template <class F>
Tensors reduce(const OnnxCase& c, F f) {
  const Shape axes = c.has_input(1) ? c.shape(1) : Shape();
  if (axes.empty() && c.integer("noop_with_empty_axes", 0) != 0) return {c.in(0)};
  return {f(c.in(0), axes, c.integer("keepdims", 1) != 0)};
}

// max and min of booleans are any and all.
bool is_boolean(const Tensor& x) { return x.dtype() == DType::boolean; }

void add_plain_reductions(OnnxOps& ops) {
  ops["ReduceSum"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return sum(p...); });
  };
  ops["ReduceMean"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return mean(p...); });
  };
  ops["ReduceProd"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return prod(p...); });
  };
  ops["ReduceMax"] = [](const OnnxCase& c) {
    return reduce(c, [](const Tensor& x, const Shape& axes, bool keep) {
      return is_boolean(x) ? any(x, axes, keep) : max(x, axes, keep);
    });
  };
  ops["ReduceMin"] = [](const OnnxCase& c) {
    return reduce(c, [](const Tensor& x, const Shape& axes, bool keep) {
      return is_boolean(x) ? all(x, axes, keep) : min(x, axes, keep);
    });
  };
}

void add_composed_reductions(OnnxOps& ops) {
  ops["ReduceL1"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return norm(p..., 1); });
  };
  ops["ReduceL2"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return norm(p...); });
  };
  ops["ReduceLogSum"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return log(sum(p...)); });
  };
  ops["ReduceLogSumExp"] = [](const OnnxCase& c) {
    return reduce(c, [](const auto&... p) { return logsumexp(p...); });
  };
  ops["ReduceSumSquare"] = [](const OnnxCase& c) {
    return reduce(c, [](const Tensor& x, const Shape& axes, bool keep) {
      return sum(square(x), axes, keep);
    });
  };
  ops["GlobalAveragePool"] = [](const OnnxCase& c) -> Tensors {
    return {mean(c.in(0), {2, 3}, true)};
  };
  ops["GlobalMaxPool"] = [](const OnnxCase& c) -> Tensors { return {max(c.in(0), {2, 3}, true)}; };
}

// select_last_index: the first of the flipped axis, counted from its other end.
template <class F>
Tensors arg(const OnnxCase& c, F f) {
  const std::int64_t axis = c.integer("axis", 0);
  const bool keep = c.integer("keepdims", 1) != 0;
  if (c.integer("select_last_index", 0) == 0) return {f(c.in(0), axis, keep)};
  const auto last = static_cast<double>(c.in(0).size(axis) - 1);
  return {last - f(flip(c.in(0), {axis}), axis, keep)};
}

// reverse: from the other end; exclusive: without the element itself, starting from `empty`.
template <class F>
Tensors running(const OnnxCase& c, double empty, F f) {
  const std::int64_t axis = c.list(1)[0];
  const bool reverse = c.integer("reverse", 0) != 0;
  Tensor y = reverse ? flip(c.in(0), {axis}) : c.in(0);
  if (c.integer("exclusive", 0) != 0) {
    const Tensor shortened = slice(y, axis, 0, -1);
    Shape one = y.shape();
    one[axis < 0 ? static_cast<int>(axis) + y.dim() : static_cast<int>(axis)] = 1;
    y = concat({full(one, empty, y.dtype()), shortened}, axis);
  }
  y = f(y, axis);
  return {reverse ? flip(y, {axis}) : y};
}

}  // namespace

OnnxFamily onnx_reduce_ops() {
  OnnxOps ops;
  add_plain_reductions(ops);
  add_composed_reductions(ops);
  ops["ArgMax"] = [](const OnnxCase& c) {
    return arg(c, [](const auto&... p) { return argmax(p...); });
  };
  ops["ArgMin"] = [](const OnnxCase& c) {
    return arg(c, [](const auto&... p) { return argmin(p...); });
  };
  ops["CumSum"] = [](const OnnxCase& c) { return running(c, 0, cumsum); };
  ops["CumProd"] = [](const OnnxCase& c) { return running(c, 1, cumprod); };
  return {ops, kNotApplicable};
}

}  // namespace gradzoo::test
