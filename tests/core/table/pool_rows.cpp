// Rows of the op table: pooling. The reference goes over every element of every window.
#include <cmath>
#include <limits>

#include "core/ops/pool.h"
#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Inputs = std::vector<Tensor>;

// Windows along an axis, as many as fit; rounded up, also one that begins before the end.
std::int64_t count(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                   std::int64_t padding, std::int64_t dilation, bool ceil) {
  std::int64_t windows = 0;
  for (std::int64_t at = -padding; at + dilation * (kernel - 1) < extent + padding; at += stride)
    ++windows;
  const std::int64_t read = (windows - 1) * stride + dilation * (kernel - 1) + 1 - padding;
  const bool more = ceil && read < extent + padding && windows * stride - padding < extent;
  return windows + (more ? 1 : 0);
}

// f(values inside, how many elements lie inside or in the padding) for each window.
template <class F>
Tensor over_windows(const Tensor& x, const PoolOptions& o, const F& f) {
  const HeightWidth stride = o.stride.value_or(o.kernel);
  const std::int64_t down =
      count(x.size(2), o.kernel.height, stride.height, o.padding.height, o.dilation.height, o.ceil);
  const std::int64_t across =
      count(x.size(3), o.kernel.width, stride.width, o.padding.width, o.dilation.width, o.ceil);
  std::vector<double> results;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    for (std::int64_t c = 0; c < x.size(1); ++c) {
      for (std::int64_t w = 0; w < down * across; ++w) {
        std::vector<double> inside;
        double all = 0;
        for (std::int64_t e = 0; e < o.kernel.height * o.kernel.width; ++e) {
          const std::int64_t row = w / across * stride.height - o.padding.height +
                                   e / o.kernel.width * o.dilation.height;
          const std::int64_t col =
              w % across * stride.width - o.padding.width + e % o.kernel.width * o.dilation.width;
          all += row < x.size(2) + o.padding.height && col < x.size(3) + o.padding.width;
          if (row < 0 || row >= x.size(2) || col < 0 || col >= x.size(3)) continue;
          inside.push_back(x.at({n, c, row, col}));
        }
        results.push_back(f(inside, all));
      }
    }
  }
  return from_vector(results, {x.size(0), x.size(1), down, across});
}

double largest(const std::vector<double>& inside, double) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double value : inside) best = std::isnan(value) || value > best ? value : best;
  return best;
}

Tensor reference_max(const Tensor& x, const PoolOptions& o) { return over_windows(x, o, largest); }

Tensor reference_avg(const Tensor& x, const PoolOptions& o) {
  return over_windows(x, o, [&](const std::vector<double>& inside, double all) {
    double sum = 0;
    for (const double value : inside) sum += value;
    return sum / (o.count_padding ? all : static_cast<double>(inside.size()));
  });
}

std::vector<Sample> images(Rng& rng) {
  const auto image = [&](const Shape& shape) { return Inputs{randn(shape, rng, DType::f64)}; };
  return {{"ordinary", image({2, 2, 5, 6})},
          {"size 1", image({1, 1, 2, 3})},
          {"wider than a vector", image({1, 1, 4, 39})},
          {"no images", image({0, 2, 5, 6})},
          {"no channels", image({2, 0, 5, 6})}};
}

void add_rows(std::vector<OpRow>& rows, const char* variant, const PoolOptions& o) {
  rows.push_back({.op = "max_pool2d",
                  .variant = variant,
                  .run = [=](const Inputs& in) { return max_pool2d(in[0], o); },
                  .reference = [=](const Inputs& in) { return reference_max(in[0], o); },
                  .samples = images});
  rows.push_back({.op = "avg_pool2d",
                  .variant = variant,
                  .run = [=](const Inputs& in) { return avg_pool2d(in[0], o); },
                  .reference = [=](const Inputs& in) { return reference_avg(in[0], o); },
                  .samples = images});
}

void add_rows(std::vector<OpRow>& rows, const char* variant, const Pool1dOptions& o) {
  const PoolOptions image{
      {1, o.kernel}, HeightWidth(1, *o.stride), {0, o.padding}, {1, o.dilation}, o.count_padding};
  const auto samples = [](Rng& rng) -> std::vector<Sample> {
    return {{"ordinary", {randn({2, 3, 7}, rng, DType::f64)}},
            {"size 1", {randn({1, 1, 3}, rng, DType::f64)}},
            {"no images", {randn({0, 1, 5}, rng, DType::f64)}}};
  };
  rows.push_back(
      {.op = "max_pool1d",
       .variant = variant,
       .run = [=](const Inputs& in) { return max_pool1d(in[0], o); },
       .reference =
           [=](const Inputs& in) { return squeeze(reference_max(unsqueeze(in[0], 2), image), 2); },
       .samples = samples});
  rows.push_back(
      {.op = "avg_pool1d",
       .variant = variant,
       .run = [=](const Inputs& in) { return avg_pool1d(in[0], o); },
       .reference =
           [=](const Inputs& in) { return squeeze(reference_avg(unsqueeze(in[0], 2), image), 2); },
       .samples = samples});
}

}  // namespace

std::vector<OpRow> pool_rows() {
  std::vector<OpRow> rows;
  add_rows(rows, "2 x 3, side by side", PoolOptions{.kernel = {2, 3}});
  add_rows(
      rows, "2 x 3, stride, padding, dilation",
      PoolOptions{.kernel = {2, 3}, .stride = HeightWidth(1, 2), .padding = 1, .dilation = {1, 2}});
  add_rows(rows, "3 x 2, stride 1, what lies inside",
           PoolOptions{
               .kernel = {2, 3}, .stride = HeightWidth(1), .padding = 1, .count_padding = false});
  for (const bool all : {true, false}) {
    add_rows(rows, all ? "2 x 3, rounded up" : "2 x 3, rounded up, what lies inside",
             PoolOptions{.kernel = {2, 3},
                         .stride = HeightWidth(2, 2),
                         .padding = {1, 1},
                         .count_padding = all,
                         .ceil = true});
  }
  add_rows(rows, "3, stride 2, padding 1",
           Pool1dOptions{.kernel = 3, .stride = 2, .padding = 1, .count_padding = false});
  return rows;
}

}  // namespace gradzoo::test
