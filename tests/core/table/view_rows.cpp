// Rows of the op table: views, joins and copies. Nearly all say for each place of the result which
// element of the input is there.
#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

// A tensor filled element by element from its index.
Tensor build(const Shape& shape, const std::function<double(const Shape&)>& element) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < shape.numel(); ++k)
    values.push_back(element(unravel_index(k, shape)));
  return from_vector(values, shape);
}

double value(const Tensor& x, const Shape& index) {
  std::int64_t k = 0;
  for (int i = 0; i < x.dim(); ++i) k = k * x.shape()[i] + index[i];
  return x.to_vector<double>()[static_cast<std::size_t>(k)];
}

std::vector<Sample> random_samples(Rng& rng, const std::vector<std::vector<Shape>>& shapes) {
  std::vector<Sample> samples;
  for (const std::vector<Shape>& inputs : shapes) {
    Sample sample;
    for (const Shape& shape : inputs) {
      sample.name += to_string(shape);
      sample.inputs.push_back(randn(shape, rng, DType::f64));
    }
    samples.push_back(sample);
  }
  return samples;
}

// An op of one tensor whose result at `index` is x at source(index, shape of x).
OpRow moving(const std::string& op, const std::string& variant, const std::vector<Shape>& shapes,
             const std::function<Tensor(const Tensor&)>& run,
             const std::function<Shape(const Shape&)>& result,
             const std::function<Shape(const Shape&, const Shape&)>& source) {
  return {.op = op,
          .variant = variant,
          .run = [=](const Tensors& in) { return run(in[0]); },
          .reference =
              [=](const Tensors& in) {
                return build(result(in[0].shape()), [&](const Shape& index) {
                  return value(in[0], source(index, in[0].shape()));
                });
              },
          .samples =
              [=](Rng& rng) {
                std::vector<std::vector<Shape>> inputs;
                for (const Shape& shape : shapes) inputs.push_back({shape});
                return random_samples(rng, inputs);
              }};
}

Shape same(const Shape& shape) { return shape; }
Shape at_same(const Shape& index, const Shape&) { return index; }

Shape with(Shape shape, int axis, std::int64_t extent) {
  shape[axis] = extent;
  return shape;
}
Shape without(Shape shape, int axis) {
  shape.erase(axis);
  return shape;
}
Shape inserted(Shape shape, int axis, std::int64_t extent) {
  shape.insert(axis, extent);
  return shape;
}

// The last two axes merged: [a, b, c] -> [a, b * c].
OpRow reshape_row() {
  return moving(
      "reshape", "merged", {{2, 3, 4}, {1, 1, 1}, {4, 1, 3}, {2, 0, 3}},
      [](const Tensor& x) {
        return reshape(x, {x.shape()[0], x.shape()[1] * x.shape()[2]});
      },
      [](const Shape& s) {
        return Shape{s[0], s[1] * s[2]};
      },
      [](const Shape& i, const Shape& s) {
        return Shape{i[0], i[1] / s[2], i[1] % s[2]};
      });
}

// One axis cut in two: [a, 6] -> [a, 2, 3].
OpRow reshape_inferred_row() {
  return moving(
      "reshape", "cut, with a -1", {{2, 6}, {1, 6}, {0, 6}},
      [](const Tensor& x) {
        return reshape(x, {-1, 2, 3});
      },
      [](const Shape& s) {
        return Shape{s[0], 2, 3};
      },
      [](const Shape& i, const Shape&) {
        return Shape{i[0], 3 * i[1] + i[2]};
      });
}

std::vector<OpRow> axis_rows() {
  const std::vector<Shape> cubes = {{2, 3, 4}, {1, 1, 1}, {2, 0, 3}};
  const auto swap_last = [](const Shape& s) { return Shape{s[0], s[2], s[1]}; };
  const auto from_swapped = [=](const Shape& i, const Shape&) { return swap_last(i); };
  const auto drop_1 = [](const Shape& s) { return without(s, 1); };
  const auto add_1 = [](const Shape& i, const Shape&) { return inserted(i, 1, 0); };
  return {
      moving(
          "permute", "", cubes,
          [](const Tensor& x) {
            return permute(x, {2, 0, -2});
          },
          [](const Shape& s) {
            return Shape{s[2], s[0], s[1]};
          },
          [](const Shape& i, const Shape&) {
            return Shape{i[1], i[2], i[0]};
          }),
      moving(
          "transpose", "", cubes, [](const Tensor& x) { return transpose(x); }, swap_last,
          from_swapped),
      moving(
          "transpose", "outer axes", cubes, [](const Tensor& x) { return transpose(x, 0, 2); },
          [](const Shape& s) {
            return Shape{s[2], s[1], s[0]};
          },
          [](const Shape& i, const Shape&) {
            return Shape{i[2], i[1], i[0]};
          }),
      moving(
          "squeeze", "all", {{3, 1, 4}}, [](const Tensor& x) { return squeeze(x); }, drop_1, add_1),
      moving(
          "squeeze", "one axis", {{3, 1, 4}, {1, 1}, {0, 1}},
          [](const Tensor& x) { return squeeze(x, 1); }, drop_1, add_1),
      moving(
          "unsqueeze", "", {{2, 3}, {1}, {0}}, [](const Tensor& x) { return unsqueeze(x, 1); },
          [](const Shape& s) { return inserted(s, 1, 1); },
          [](const Shape& i, const Shape&) { return without(i, 1); }),
      moving(
          "expand", "", {{3, 1, 4}, {1, 1, 1}, {0, 1, 2}},
          [](const Tensor& x) {
            return expand(x, {2, -1, 5, -1});
          },
          [](const Shape& s) {
            return Shape{2, s[0], 5, s[2]};
          },
          [](const Shape& i, const Shape&) {
            return Shape{i[1], 0, i[3]};
          }),
  };
}

std::vector<OpRow> part_rows() {
  const std::vector<Shape> shapes = {{2, 5, 3}, {1, 5, 1}, {0, 5, 2}};
  return {
      moving(
          "slice", "", shapes, [](const Tensor& x) { return slice(x, 1, 1, -1); },
          [](const Shape& s) { return with(s, 1, 3); },
          [](const Shape& i, const Shape&) { return with(i, 1, i[1] + 1); }),
      moving(
          "slice", "step 2", {{7, 2}, {1, 1}, {2, 3}, {0, 2}},
          [](const Tensor& x) { return slice(x, 0, 0, kEnd, 2); },
          [](const Shape& s) { return with(s, 0, (s[0] + 1) / 2); },
          [](const Shape& i, const Shape&) { return with(i, 0, 2 * i[0]); }),
      moving(
          "slice", "nothing", shapes, [](const Tensor& x) { return slice(x, 1, 3, 2); },
          [](const Shape& s) { return with(s, 1, 0); }, at_same),
      moving(
          "select", "", shapes, [](const Tensor& x) { return select(x, 1, -2); },
          [](const Shape& s) { return without(s, 1); },
          [](const Shape& i, const Shape&) { return inserted(i, 1, 3); }),
      moving(
          "split", "by size, the last", shapes, [](const Tensor& x) { return split(x, 2, 1)[2]; },
          [](const Shape& s) { return with(s, 1, 1); },
          [](const Shape& i, const Shape&) { return with(i, 1, 4); }),
      moving(
          "split", "by sizes, the second", shapes,
          [](const Tensor& x) {
            return split(x, {1, 3, 1}, -2)[1];
          },
          [](const Shape& s) { return with(s, 1, 3); },
          [](const Shape& i, const Shape&) { return with(i, 1, i[1] + 1); }),
      moving(
          "flip", "", {{2, 3, 4}, {1, 1, 1}, {2, 0, 3}, {1, 2, 17}},
          [](const Tensor& x) {
            return flip(x, {0, -1});
          },
          same,
          [](const Shape& i, const Shape& s) {
            return Shape{s[0] - 1 - i[0], i[1], s[2] - 1 - i[2]};
          }),
  };
}

// Zeros on one side of the diagonal.
OpRow triangle_row(const std::string& op, std::int64_t diagonal) {
  const bool lower = op == "tril";
  return {
      .op = op,
      .variant = "diagonal " + std::to_string(diagonal),
      .run =
          [=](const Tensors& in) { return lower ? tril(in[0], diagonal) : triu(in[0], diagonal); },
      .reference =
          [=](const Tensors& in) {
            return build(in[0].shape(), [&](const Shape& i) {
              const int n = i.rank();
              const std::int64_t right = i[n - 1] - i[n - 2];
              return (lower ? right <= diagonal : right >= diagonal) ? value(in[0], i) : 0.0;
            });
          },
      .samples =
          [](Rng& rng) {
            return random_samples(rng, {{{3, 3}}, {{2, 5, 2}}, {{2, 4}}, {{1, 1}}, {{2, 0, 3}}});
          }};
}

OpRow concat_row() {
  return {.op = "concat",
          .variant = "axis 1",
          .run = [](const Tensors& in) { return concat(in, 1); },
          .reference =
              [](const Tensors& in) {
                Shape shape = in[0].shape();
                shape[1] = 0;
                for (const Tensor& x : in) shape[1] += x.shape()[1];
                return build(shape, [&](Shape i) {
                  std::size_t k = 0;
                  for (; i[1] >= in[k].shape()[1]; ++k) i[1] -= in[k].shape()[1];
                  return value(in[k], i);
                });
              },
          .samples =
              [](Rng& rng) {
                return random_samples(rng, {{{2, 1, 3}, {2, 4, 3}, {2, 2, 3}},
                                            {{2, 2}, {2, 0}, {2, 1}},
                                            {{1, 1}},
                                            {{0, 1}, {0, 2}}});
              }};
}

OpRow stack_row(std::int64_t axis, int normal) {
  return {.op = "stack",
          .variant = "axis " + std::to_string(axis),
          .run = [=](const Tensors& in) { return stack(in, axis); },
          .reference =
              [=](const Tensors& in) {
                return build(inserted(in[0].shape(), normal, static_cast<std::int64_t>(in.size())),
                             [&](const Shape& i) {
                               return value(in[static_cast<std::size_t>(i[normal])],
                                            without(i, normal));
                             });
              },
          .samples =
              [](Rng& rng) {
                return random_samples(rng, {{{2, 3}, {2, 3}, {2, 3}}, {{1, 1}}, {{0, 2}, {0, 2}}});
              }};
}

OpRow pad_row() {
  return {.op = "pad",
          .variant = "the last two axes, by a value",
          .run =
              [](const Tensors& in) {
                return pad(in[0], {{1, 2}, {0, 3}}, -1.5);
              },
          .reference =
              [](const Tensors& in) {
                const Shape s = in[0].shape();
                return build({s[0], s[1] + 3, s[2] + 3}, [&](const Shape& i) {
                  const bool inside = i[1] >= 1 && i[1] < 1 + s[1] && i[2] < s[2];
                  return inside ? value(in[0], {i[0], i[1] - 1, i[2]}) : -1.5;
                });
              },
          .samples =
              [](Rng& rng) {
                return random_samples(rng, {{{2, 3, 4}}, {{1, 1, 1}}, {{2, 0, 3}}});
              }};
}

std::vector<OpRow> copy_rows() {
  const std::vector<Shape> shapes = {{2, 3, 4}, {1}, {17}, {}, {2, 0, 3}};
  OpRow truncated = moving(
      "to", "i64", {}, [](const Tensor& x) { return to(x, DType::i64); }, same, at_same);
  truncated.samples = [](Rng&) -> std::vector<Sample> {
    return {
        {.name = "edge: halves and ends",
         .inputs = {tensor({1.5, -1.5, 0.25, -0.25, 0, 9007199254740992.0, -1e18}, DType::f64)}},
        {.name = "empty", .inputs = {zeros({0, 2}, DType::f64)}}};
  };
  truncated.reference = [](const Tensors& in) {
    std::vector<std::int64_t> values;
    for (double v : in[0].to_vector<double>()) values.push_back(static_cast<std::int64_t>(v));
    return from_vector(values, in[0].shape());
  };
  truncated.derivatives = 0;
  return {
      moving(
          "contiguous", "", shapes, [](const Tensor& x) { return contiguous(x); }, same, at_same),
      moving(
          "clone", "", shapes, [](const Tensor& x) { return clone(x); }, same, at_same),
      moving(
          "to", "f64", shapes, [](const Tensor& x) { return to(x, DType::f64); }, same, at_same),
      truncated,
  };
}

}  // namespace

std::vector<OpRow> view_rows() {
  std::vector<OpRow> rows = {
      reshape_row(),           reshape_inferred_row(),   triangle_row("tril", 0),
      triangle_row("tril", 1), triangle_row("tril", -2), triangle_row("triu", 0),
      triangle_row("triu", 2), triangle_row("triu", -1), concat_row(),
      stack_row(0, 0),         stack_row(-1, 2),         pad_row()};
  for (const auto& family : {axis_rows(), part_rows(), copy_rows()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  return rows;
}

}  // namespace gradzoo::test
