// ONNX's softmax, normalisation, dropout and losses in terms of ours.
#include "core/scope.h"
#include "tests/core/onnx_cases.h"

namespace gradzoo::test {
namespace {

// The axes from `axis` on as one.
Tensor merged_from(const Tensor& x, std::int64_t axis) {
  const int first = static_cast<int>(axis < 0 ? axis + x.dim() : axis);
  Shape shape = x.shape().sub(0, first);
  shape.push_back(x.shape().sub(first, x.dim()).numel());
  return reshape(x, shape);
}

// Also gives the mean and the reciprocal of the standard deviation.
Tensors layer_normalised(const OnnxCase& c) {
  const std::int64_t axis = c.integer("axis", -1);
  const double eps = c.number("epsilon", 1e-5);
  const Tensor x = merged_from(c.in(0), axis);
  const Tensor y = layer_norm(x, merged_from(c.in(1), 0), merged_from(c.in(2), 0), eps);
  const Shape statistics = c.outputs.at(1).shape();
  const Tensor deviation = rsqrt(var(x, {-1}, true, 0) + eps);
  return {reshape(y, c.in(0).shape()), reshape(mean(x, {-1}, true), statistics),
          reshape(deviation, statistics)};
}

// Groups of channels are rows; weight and bias are per channel.
Tensor group_normalised(const OnnxCase& c, std::int64_t groups) {
  const Shape& shape = c.in(0).shape();
  const Tensor rows = reshape(c.in(0), {shape[0], groups, c.in(0).numel() / shape[0] / groups});
  Shape per_channel = Shape::filled(shape.rank(), 1);
  per_channel[1] = shape[1];
  const Tensor y = reshape(layer_norm(rows, {}, {}, c.number("epsilon", 1e-5)), shape);
  return y * reshape(c.in(1), per_channel) + reshape(c.in(2), per_channel);
}

void add_norm_ops(OnnxOps& ops) {
  ops["Softmax"] = [](const OnnxCase& c) -> Tensors {
    return {softmax(c.in(0), c.integer("axis", -1))};
  };
  ops["LogSoftmax"] = [](const OnnxCase& c) -> Tensors {
    return {log_softmax(c.in(0), c.integer("axis", -1))};
  };
  ops["LayerNormalization"] = layer_normalised;
  ops["RMSNormalization"] = [](const OnnxCase& c) -> Tensors {
    const Tensor x = merged_from(c.in(0), c.integer("axis", -1));
    const Tensor y = rms_norm(x, merged_from(c.in(1), 0), c.number("epsilon", 1e-5));
    return {reshape(y, c.in(0).shape())};
  };
  ops["GroupNormalization"] = [](const OnnxCase& c) -> Tensors {
    return {group_normalised(c, c.integer("num_groups", 1))};
  };
  ops["InstanceNormalization"] = [](const OnnxCase& c) -> Tensors {
    return {group_normalised(c, c.in(0).size(1))};
  };
  ops["LpNormalization"] = [](const OnnxCase& c) -> Tensors {
    const Tensor size =
        norm(c.in(0), {c.integer("axis", -1)}, true, static_cast<double>(c.integer("p", 2)));
    return {c.in(0) / where(eq(size, 0.0), ones_like(size), size)};  // 0 for rows of zeros
  };
}

// Opset 12 and later: ratio and training mode are inputs. The mask is where something is left.
Tensors dropped(const OnnxCase& c) {
  Tensor y = c.in(0);
  if (c.has_input(2) && c.in(2).item() != 0) {
    Rng rng(1);
    const TrainingScope training(rng);
    y = dropout(y, c.in(1).item());
  } else {
    y = dropout(y, c.number("ratio", 0.5));
  }
  if (c.outputs.size() == 1) return {y};
  return {y, logical_or(ne(y, 0.0), eq(c.in(0), 0.0))};
}

// Class ids along axis 1 of x, ours along the last.
Tensor classes_last(const Tensor& x) {
  Shape axes = {0};
  for (int i = 2; i < x.dim(); ++i) axes.push_back(i);
  axes.push_back(1);
  return permute(x, axes);
}

// -w[target] log p[target], with w 0 where ignored; the mean is divided by the sum of w.
Tensor weighted_loss(const OnnxCase& c, const Tensor& log_p) {
  const Tensor& ids = c.in(1);
  const Tensor kept = c.has("ignore_index")
                          ? ne(ids, static_cast<double>(c.integer("ignore_index", 0)))
                          : eq(ids, ids);
  const Tensor safe = where(kept, ids, zeros_like(ids));
  Tensor weights = to(kept, log_p.dtype());
  if (c.has_input(2)) {
    const Tensor flat = index_select(c.in(2), 0, reshape(safe, {safe.numel()}));
    weights = weights * reshape(flat, safe.shape());
  }
  const Tensor picked = squeeze(gather(classes_last(log_p), -1, unsqueeze(safe, -1)), -1);
  const Tensor losses = -(weights * picked);
  const std::string reduction = c.text("reduction", "mean");
  if (reduction == "none") return losses;
  return reduction == "sum" ? sum(losses) : sum(losses) / sum(weights);
}

Tensor plain_cross_entropy(const OnnxCase& c) {
  const std::string reduction = c.text("reduction", "mean");
  return cross_entropy(classes_last(c.in(0)), c.in(1),
                       {.ignore_index = c.integer("ignore_index", -100),
                        .reduction = reduction == "none"  ? Reduction::none
                                     : reduction == "sum" ? Reduction::sum
                                                          : Reduction::mean});
}

void add_losses(OnnxOps& ops) {
  ops["NegativeLogLikelihoodLoss"] = [](const OnnxCase& c) -> Tensors {
    return {weighted_loss(c, c.in(0))};
  };
  ops["SoftmaxCrossEntropyLoss"] = [](const OnnxCase& c) -> Tensors {
    const Tensor log_p = log_softmax(c.in(0), 1);
    const Tensor loss = c.has_input(2) ? weighted_loss(c, log_p) : plain_cross_entropy(c);
    if (c.outputs.size() == 1) return {loss};
    return {loss, log_p};
  };
}

}  // namespace

OnnxFamily onnx_norm_ops() {
  OnnxOps ops;
  add_norm_ops(ops);
  add_losses(ops);
  ops["Dropout"] = dropped;
  return {ops, {}};
}

}  // namespace gradzoo::test
