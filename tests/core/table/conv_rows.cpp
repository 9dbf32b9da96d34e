// Rows of the op table: convolutions. The references are loops over images, channels, places and
// the kernel.
#include "core/ops/conv.h"
#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Inputs = std::vector<Tensor>;

Tensor randn64(const Shape& shape, Rng& rng) { return randn(shape, rng, DType::f64); }

// Element (n, c, row, column) of x, which may lie outside; null there.
double* place(const Tensor& x, std::int64_t n, std::int64_t c, std::int64_t row, std::int64_t col) {
  const Shape& s = x.shape();
  if (row < 0 || row >= s[2] || col < 0 || col >= s[3]) return nullptr;
  return mutable_data<double>(x) + ((n * s[1] + c) * s[2] + row) * s[3] + col;
}

std::int64_t windows(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding, std::int64_t dilation) {
  std::int64_t count = 0;
  for (std::int64_t at = -padding; at + dilation * (kernel - 1) < extent + padding; at += stride)
    ++count;
  return count;
}

// Calls f(row, column, i, j, window row, window column) for each element of each window.
template <class F>
void for_each_meeting(const WindowOptions& o, std::int64_t down, std::int64_t across, const F& f) {
  for (std::int64_t r = 0; r < down; ++r) {
    for (std::int64_t q = 0; q < across; ++q) {
      for (std::int64_t i = 0; i < o.kernel.height; ++i) {
        for (std::int64_t j = 0; j < o.kernel.width; ++j) {
          f(r * o.stride.height - o.padding.height + i * o.dilation.height,
            q * o.stride.width - o.padding.width + j * o.dilation.width, i, j, r, q);
        }
      }
    }
  }
}

Shape window_counts(const Tensor& x, const WindowOptions& o) {
  return {windows(x.size(2), o.kernel.height, o.stride.height, o.padding.height, o.dilation.height),
          windows(x.size(3), o.kernel.width, o.stride.width, o.padding.width, o.dilation.width)};
}

WindowOptions options_of(const Tensor& weight, const Conv2dOptions& o) {
  return {{weight.size(2), weight.size(3)}, o.stride, o.padding, o.dilation};
}

Tensor with_bias(const Inputs& in, const Shape& shape) {
  Tensor y = zeros(shape, DType::f64);
  const std::int64_t places = shape[2] * shape[3];
  for (std::int64_t i = 0; in.size() == 3 && i < y.numel(); ++i) {
    mutable_data<double>(y)[i] = in[2].at({i / places % shape[1]});
  }
  return y;
}

Tensor reference_conv2d(const Inputs& in, const Conv2dOptions& o) {
  const Tensor x = clone(in[0]), w = in[1];
  const WindowOptions options = options_of(w, o);
  const Shape count = window_counts(x, options);
  Tensor y = with_bias(in, {x.size(0), w.size(0), count[0], count[1]});
  const std::int64_t group_out = w.size(0) / o.groups;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    for (std::int64_t out = 0; out < w.size(0); ++out) {
      for (std::int64_t c = 0; c < w.size(1); ++c) {
        for_each_meeting(
            options, count[0], count[1], [&](auto row, auto col, auto i, auto j, auto r, auto q) {
              const double* source = place(x, n, out / group_out * w.size(1) + c, row, col);
              if (source != nullptr) *place(y, n, out, r, q) += *source * w.at({out, c, i, j});
            });
      }
    }
  }
  return y;
}

Tensor reference_conv_transpose2d(const Inputs& in, const ConvTranspose2dOptions& o,
                                  const Shape& size) {
  const Tensor x = clone(in[0]), w = in[1];
  const WindowOptions options = options_of(w, {o.stride, o.padding, o.dilation, o.groups});
  Tensor y = with_bias(in, {x.size(0), w.size(1) * o.groups, size[0], size[1]});
  const std::int64_t group_in = x.size(1) / o.groups;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    for (std::int64_t c = 0; c < x.size(1); ++c) {
      for (std::int64_t out = 0; out < w.size(1); ++out) {
        for_each_meeting(options, x.size(2), x.size(3),
                         [&](auto row, auto col, auto i, auto j, auto r, auto q) {
                           double* target = place(y, n, c / group_in * w.size(1) + out, row, col);
                           if (target != nullptr)
                             *target += *place(x, n, c, r, q) * w.at({c, out, i, j});
                         });
      }
    }
  }
  return y;
}

Sample triple(const std::string& name, const Shape& x, const Shape& weight, std::int64_t out,
              Rng& rng) {
  Sample sample{name, {randn64(x, rng), randn64(weight, rng)}};
  if (out >= 0) sample.inputs.push_back(randn64({out}, rng));
  return sample;
}

Tensor bias_of(const Inputs& in) { return in.size() == 3 ? in[2] : Tensor(); }

void add_conv2d_rows(std::vector<OpRow>& rows) {
  const auto add = [&](const char* variant, const Conv2dOptions& o, const auto& samples) {
    rows.push_back({.op = "conv2d",
                    .variant = variant,
                    .run = [=](const Inputs& in) { return conv2d(in[0], in[1], bias_of(in), o); },
                    .reference = [=](const Inputs& in) { return reference_conv2d(in, o); },
                    .samples = samples});
  };
  add("plain", {}, [](Rng& rng) -> std::vector<Sample> {
    return {triple("ordinary", {2, 2, 3, 4}, {3, 2, 2, 3}, 3, rng),
            triple("no bias", {1, 2, 3, 3}, {2, 2, 2, 2}, -1, rng),
            triple("a product of matrices", {2, 3, 2, 2}, {2, 3, 1, 1}, 2, rng),
            triple("as large as the image", {1, 2, 2, 3}, {2, 2, 2, 3}, 2, rng),
            triple("size 1", {1, 1, 1, 1}, {1, 1, 1, 1}, 1, rng),
            triple("no images", {0, 2, 3, 3}, {2, 2, 2, 2}, 2, rng),
            triple("no channels", {2, 0, 3, 3}, {2, 0, 2, 2}, 2, rng),
            triple("no outputs", {2, 2, 3, 3}, {0, 2, 2, 2}, 0, rng)};
  });
  add("stride 2 and 3, padding 1 and 2, dilation 2 and 1",
      {.stride = {2, 3}, .padding = {1, 2}, .dilation = {2, 1}},
      [](Rng& rng) -> std::vector<Sample> {
        return {triple("ordinary", {2, 2, 5, 6}, {2, 2, 2, 3}, 2, rng),
                triple("edge: most windows lie outside", {1, 1, 1, 1}, {1, 1, 2, 3}, 1, rng),
                triple("edge: nothing but padding", {1, 1, 2, 0}, {1, 1, 2, 3}, 1, rng),
                triple("one channel and one kernel", {2, 1, 5, 7}, {1, 1, 2, 3}, 1, rng)};
      });
  add("3 groups, padding 1", {.padding = 1, .groups = 3}, [](Rng& rng) -> std::vector<Sample> {
    return {triple("ordinary", {2, 3, 3, 2}, {6, 1, 2, 3}, 6, rng),
            triple("two channels each", {1, 6, 2, 2}, {3, 2, 1, 2}, 3, rng),
            triple("one channel and one kernel each", {2, 3, 4, 3}, {3, 1, 3, 2}, 3, rng),
            triple("no images", {0, 3, 2, 2}, {3, 1, 2, 2}, 3, rng)};
  });
}

void add_conv1d_rows(std::vector<OpRow>& rows) {
  const Conv1dOptions o{.stride = 2, .padding = 1, .dilation = 2, .groups = 2};
  rows.push_back({.op = "conv1d",
                  .variant = "stride 2, padding 1, dilation 2, 2 groups",
                  .run = [=](const Inputs& in) { return conv1d(in[0], in[1], bias_of(in), o); },
                  .reference =
                      [=](const Inputs& in) {
                        Inputs images{unsqueeze(in[0], 2), unsqueeze(in[1], 2)};
                        if (in.size() == 3) images.push_back(in[2]);
                        return squeeze(
                            reference_conv2d(
                                images, {{1, o.stride}, {0, o.padding}, {1, o.dilation}, o.groups}),
                            2);
                      },
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {triple("ordinary", {2, 4, 7}, {2, 2, 3}, 2, rng),
                            triple("no bias", {1, 2, 4}, {4, 1, 2}, -1, rng),
                            triple("size 1", {1, 2, 1}, {2, 1, 1}, 2, rng),
                            triple("empty", {0, 2, 4}, {2, 1, 2}, 2, rng)};
                  }});
}

void add_conv_transpose2d_rows(std::vector<OpRow>& rows) {
  // The extents of the result are spelled out, from the formula in the header.
  const auto add = [&](const char* variant, const ConvTranspose2dOptions& o, const auto& extents,
                       const auto& samples) {
    rows.push_back(
        {.op = "conv_transpose2d",
         .variant = variant,
         .run = [=](const Inputs& in) { return conv_transpose2d(in[0], in[1], bias_of(in), o); },
         .reference =
             [=](const Inputs& in) {
               return reference_conv_transpose2d(in, o, extents(in[0].shape(), in[1].shape()));
             },
         .samples = samples});
  };
  add(
      "plain", {},
      [](const Shape& x, const Shape& w) -> Shape {
        return {x[2] + w[2] - 1, x[3] + w[3] - 1};
      },
      [](Rng& rng) -> std::vector<Sample> {
        return {triple("ordinary", {2, 2, 2, 3}, {2, 3, 2, 2}, 3, rng),
                triple("no bias", {1, 2, 2, 2}, {2, 1, 1, 3}, -1, rng),
                triple("size 1", {1, 1, 1, 1}, {1, 1, 1, 1}, 1, rng),
                triple("no images", {0, 2, 2, 2}, {2, 3, 2, 2}, 3, rng)};
      });
  add(
      "stride 3 and 2, padding 1 and 0, output padding 2 and 1, dilation 1 and 2, 2 groups",
      {.stride = {3, 2},
       .padding = {1, 0},
       .output_padding = {2, 1},
       .dilation = {1, 2},
       .groups = 2},
      [](const Shape& x, const Shape& w) -> Shape {
        return {3 * (x[2] - 1) - 2 + w[2] + 2, 2 * (x[3] - 1) + 2 * (w[3] - 1) + 2};
      },
      [](Rng& rng) -> std::vector<Sample> {
        return {triple("ordinary", {2, 2, 2, 3}, {2, 2, 3, 2}, 4, rng),
                triple("two channels each", {1, 4, 2, 2}, {4, 1, 2, 2}, 2, rng)};
      });
}

// Columns and images, one taken from the other where `to_columns`, else added.
void walk_columns(const WindowOptions& o, bool to_columns, const Tensor& x, const Tensor& columns) {
  const Shape count = window_counts(x, o);
  const std::int64_t kernel = o.kernel.height * o.kernel.width;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    for (std::int64_t c = 0; c < x.size(1); ++c) {
      for_each_meeting(
          o, count[0], count[1], [&](auto row, auto col, auto i, auto j, auto r, auto q) {
            double* at = place(x, n, c, row, col);
            const std::int64_t line = (n * x.size(1) + c) * kernel + i * o.kernel.width + j;
            double& column =
                mutable_data<double>(columns)[line * count[0] * count[1] + r * count[1] + q];
            if (at != nullptr && to_columns) column = *at;
            if (at != nullptr && !to_columns) *at += column;
          });
    }
  }
}

void add_window_rows(std::vector<OpRow>& rows) {
  const WindowOptions o{.kernel = {2, 3}, .stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}};
  rows.push_back(
      {.op = "unfold",
       .variant = "kernel 2 x 3, stride, padding, dilation",
       .run = [=](const Inputs& in) { return unfold(in[0], o); },
       .reference =
           [=](const Inputs& in) {
             const Tensor x = clone(in[0]);
             const Shape count = window_counts(x, o);
             Tensor y = zeros({x.size(0), x.size(1) * 6, count[0] * count[1]}, DType::f64);
             walk_columns(o, true, x, y);
             return y;
           },
       .samples = [](Rng& rng) -> std::vector<Sample> {
         return {{"ordinary", {randn64({2, 2, 4, 5}, rng)}},
                 {"size 1", {randn64({1, 1, 1, 1}, rng)}},
                 {"wider than a vector", {randn64({1, 1, 2, 19}, rng)}},
                 {"no images", {randn64({0, 2, 4, 5}, rng)}}};
       }});
  rows.push_back({.op = "fold",
                  .variant = "kernel 2 x 3, stride, padding, dilation",
                  .run =
                      [=](const Inputs& in) {
                        return fold(in[0], {4, 5}, o);
                      },
                  .reference =
                      [=](const Inputs& in) {
                        Tensor x = zeros({in[0].size(0), in[0].size(1) / 6, 4, 5}, DType::f64);
                        walk_columns(o, false, x, clone(in[0]));
                        return x;
                      },
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {{"ordinary", {randn64({2, 12, 15}, rng)}},
                            {"size 1", {randn64({1, 6, 15}, rng)}},
                            {"no images", {randn64({0, 6, 15}, rng)}},
                            {"no channels", {randn64({2, 0, 15}, rng)}}};
                  }});
}

}  // namespace

std::vector<OpRow> conv_rows() {
  std::vector<OpRow> rows;
  add_window_rows(rows);
  add_conv1d_rows(rows);
  add_conv2d_rows(rows);
  add_conv_transpose2d_rows(rows);
  return rows;
}

}  // namespace gradzoo::test
