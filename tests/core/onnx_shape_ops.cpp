// ONNX's operators on shapes, indices and constants in terms of ours.
#include "tests/core/onnx_cases.h"

namespace gradzoo::test {
namespace {

// Single cases that cannot be run, and why.
const OnnxReasons kNotApplicable = {
    {"edge_pad", "pad fills with a constant"},
    {"reflect_pad", "pad fills with a constant"},
    {"wrap_pad", "pad fills with a constant"},
    {"onehot_out_of_range_indices", "one_hot refuses ids outside the classes"},
    {"scatter_elements_with_reduction_max", "scatter_add only adds"},
};

Shape to_shape(const std::vector<std::int64_t>& values) {
  return Shape(std::span<const std::int64_t>(values));
}

std::int64_t axis_of(std::int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

// 0 keeps an extent of the input.
Tensor reshaped(const OnnxCase& c) {
  Shape target = c.shape(1);
  for (int i = 0; i < target.rank(); ++i) {
    if (target[i] == 0) target[i] = c.in(0).shape()[i];
  }
  return reshape(c.in(0), target);
}

Tensor flattened(const OnnxCase& c) {
  const Shape& shape = c.in(0).shape();
  const int axis = static_cast<int>(axis_of(c.integer("axis", 1), shape.rank()));
  const std::int64_t rows = shape.sub(0, axis).numel();
  return reshape(c.in(0), {rows, shape.sub(axis, shape.rank()).numel()});
}

Tensor unsqueezed(const OnnxCase& c) {
  std::vector<std::int64_t> axes = c.list(1);
  const int rank = c.in(0).dim() + static_cast<int>(axes.size());
  for (std::int64_t& axis : axes) axis = axis_of(axis, rank);
  std::sort(axes.begin(), axes.end());
  Tensor y = c.in(0);
  for (const std::int64_t axis : axes) y = unsqueeze(y, axis);
  return y;
}

// ONNX counts a negative step from the end: the axis is flipped, and so are the bounds.
Tensor sliced(const OnnxCase& c) {
  const std::vector<std::int64_t> starts = c.list(1), ends = c.list(2);
  Tensor y = c.in(0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = c.has_input(3) ? c.list(3)[i] : static_cast<std::int64_t>(i);
    const std::int64_t step = c.has_input(4) ? c.list(4)[i] : 1;
    if (step > 0) {
      y = slice(y, axis, starts[i], ends[i], step);
      continue;
    }
    const std::int64_t extent = y.size(axis);
    const auto mirrored = [&](std::int64_t bound) {
      if (bound < 0) bound = std::max<std::int64_t>(bound + extent, -1);
      return extent - 1 - std::min(bound, extent - 1);
    };
    y = slice(flip(y, {axis}), axis, mirrored(starts[i]), mirrored(ends[i]), -step);
  }
  return y;
}

Tensors split_up(const OnnxCase& c) {
  const std::int64_t axis = c.integer("axis", 0);
  if (c.has_input(1)) return split(c.in(0), c.list(1), axis);
  const auto parts = static_cast<std::int64_t>(c.outputs.size());
  return split(c.in(0), (c.in(0).size(axis) + parts - 1) / parts, axis);
}

Tensor tiled(const OnnxCase& c) {
  Tensor y = c.in(0);
  for (int axis = 0; axis < y.dim(); ++axis) {
    y = concat(Tensors(static_cast<std::size_t>(c.list(1)[static_cast<std::size_t>(axis)]), y),
               axis);
  }
  return y;
}

// All befores, then all afters, for the given axes (without them: for all).
Tensor padded(const OnnxCase& c) {
  const std::vector<std::int64_t> widths = c.list(1);
  const std::size_t count = widths.size() / 2;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(static_cast<std::size_t>(c.in(0).dim()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis =
        c.has_input(3) ? axis_of(c.list(3)[i], c.in(0).dim()) : static_cast<std::int64_t>(i);
    pairs[static_cast<std::size_t>(axis)] = {widths[i], widths[i + count]};
  }
  return pad(c.in(0), pairs, c.has_input(2) ? c.in(2).item() : 0);
}

// Blocks of the channels become places (mode CRD).
Tensor depth_to_space(const OnnxCase& c) {
  const Shape& s = c.in(0).shape();
  const std::int64_t b = c.integer("blocksize", 1);
  const Tensor y = reshape(c.in(0), {s[0], s[1] / (b * b), b, b, s[2], s[3]});
  return reshape(permute(y, {0, 1, 4, 2, 5, 3}), {s[0], s[1] / (b * b), s[2] * b, s[3] * b});
}

void add_view_ops(OnnxOps& ops) {
  ops["Reshape"] = [](const OnnxCase& c) -> Tensors { return {reshaped(c)}; };
  ops["Flatten"] = [](const OnnxCase& c) -> Tensors { return {flattened(c)}; };
  ops["Unsqueeze"] = [](const OnnxCase& c) -> Tensors { return {unsqueezed(c)}; };
  ops["Squeeze"] = [](const OnnxCase& c) -> Tensors { return {squeeze(c.in(0), c.list(1)[0])}; };
  ops["Slice"] = [](const OnnxCase& c) -> Tensors { return {sliced(c)}; };
  ops["Split"] = split_up;
  ops["Tile"] = [](const OnnxCase& c) -> Tensors { return {tiled(c)}; };
  ops["Pad"] = [](const OnnxCase& c) -> Tensors { return {padded(c)}; };
  ops["DepthToSpace"] = [](const OnnxCase& c) -> Tensors { return {depth_to_space(c)}; };
  ops["Concat"] = [](const OnnxCase& c) -> Tensors {
    return {concat(c.inputs, c.integer("axis", 0))};
  };
  ops["Transpose"] = [](const OnnxCase& c) -> Tensors {
    return {permute(c.in(0), to_shape(c.attrs.at("perm").get<std::vector<std::int64_t>>()))};
  };
  ops["Expand"] = [](const OnnxCase& c) -> Tensors {
    return {expand(c.in(0), broadcast_shapes("Expand", c.in(0).shape(), c.shape(1)))};
  };
  ops["Trilu"] = [](const OnnxCase& c) -> Tensors {
    const std::int64_t k = c.has_input(1) ? c.list(1)[0] : 0;
    return {c.integer("upper", 1) != 0 ? triu(c.in(0), k) : tril(c.in(0), k)};
  };
}

// The indices may have any shape; ours are a list.
Tensor gathered(const OnnxCase& c) {
  const Tensor& x = c.in(0);
  const std::int64_t axis = axis_of(c.integer("axis", 0), x.dim());
  const Tensor picked = index_select(x, axis, reshape(c.in(1), {c.in(1).numel()}));
  Shape shape = x.shape().sub(0, static_cast<int>(axis));
  for (const std::int64_t extent : c.in(1).shape()) shape.push_back(extent);
  for (int i = static_cast<int>(axis) + 1; i < x.dim(); ++i) shape.push_back(x.shape()[i]);
  return reshape(picked, shape);
}

// Negative ids count from the back; the new axis goes where `axis` says.
Tensor one_hot_of(const OnnxCase& c) {
  const auto depth = static_cast<std::int64_t>(c.in(1).item());
  const Tensor ids = to(c.in(0), DType::i64);
  const Tensor offset = where(lt(ids, 0.0), full({}, static_cast<double>(depth), DType::i64),
                              full({}, 0, DType::i64));
  const Tensor hot = one_hot(ids + offset, depth, c.in(2).dtype());
  const double off = c.in(2).at({0}), on = c.in(2).at({1});
  const std::int64_t axis = axis_of(c.integer("axis", -1), hot.dim());
  Shape axes;
  for (int i = 0; i + 1 < hot.dim(); ++i) axes.push_back(i);
  axes.insert(static_cast<int>(axis), hot.dim() - 1);
  return permute(hot * (on - off) + off, axes);
}

// A written element is one whose difference is added.
Tensor scattered(const OnnxCase& c) {
  const std::int64_t axis = c.integer("axis", 0);
  return scatter_add(c.in(0), axis, c.in(1), c.in(2) - gather(c.in(0), axis, c.in(1)));
}

void add_index_ops(OnnxOps& ops) {
  ops["Gather"] = [](const OnnxCase& c) -> Tensors { return {gathered(c)}; };
  ops["GatherElements"] = [](const OnnxCase& c) -> Tensors {
    return {gather(c.in(0), c.integer("axis", 0), c.in(1))};
  };
  ops["ScatterElements"] = [](const OnnxCase& c) -> Tensors { return {scattered(c)}; };
  ops["OneHot"] = [](const OnnxCase& c) -> Tensors { return {one_hot_of(c)}; };
  ops["TopK"] = [](const OnnxCase& c) -> Tensors {
    const Ordered best =
        topk(c.in(0), c.list(1)[0], c.integer("axis", -1), c.integer("largest", 1) != 0);
    return {best.values, best.indices};
  };
  ops["Hardmax"] = [](const OnnxCase& c) -> Tensors {
    const std::int64_t axis = axis_of(c.integer("axis", -1), c.in(0).dim());
    const Tensor hot = one_hot(argmax(c.in(0), axis), c.in(0).size(axis), c.in(0).dtype());
    Shape axes;
    for (int i = 0; i + 1 < hot.dim(); ++i) axes.push_back(i);
    axes.insert(static_cast<int>(axis), hot.dim() - 1);
    return {permute(hot, axes)};
  };
}

void add_constant_ops(OnnxOps& ops) {
  ops["ConstantOfShape"] = [](const OnnxCase& c) -> Tensors {
    return {full(c.shape(0), c.attrs.at("value").at("values").at(0))};
  };
  ops["EyeLike"] = [](const OnnxCase& c) -> Tensors {
    const std::int64_t k = c.integer("k", 0);
    const DType dtype = c.has("dtype") ? DType::f32 : c.in(0).dtype();
    return {tril(triu(ones(c.in(0).shape(), dtype), k), k)};
  };
  ops["Range"] = [](const OnnxCase& c) -> Tensors {
    return {arange(c.in(0).item(), c.in(1).item(), c.in(2).item(), c.in(0).dtype())};
  };
}

}  // namespace

OnnxFamily onnx_shape_ops() {
  OnnxOps ops;
  add_view_ops(ops);
  add_index_ops(ops);
  add_constant_ops(ops);
  return {ops, kNotApplicable};
}

}  // namespace gradzoo::test
