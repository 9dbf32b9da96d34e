// Rows of the op table: constants, ranges, random numbers. Nothing here has a gradient.
#include <array>
#include <cmath>
#include <numbers>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

Tensor constant(const Shape& shape, double value) {
  return from_vector(std::vector<double>(static_cast<std::size_t>(shape.numel()), value), shape);
}

std::vector<Sample> no_inputs(Rng&) { return {{.name = "no inputs", .inputs = {}}}; }

std::vector<Sample> any_input(Rng& rng) {
  return {{.name = "ordinary", .inputs = {randn({2, 3}, rng, DType::f64)}},
          {.name = "size 1", .inputs = {randn({1}, rng, DType::f64)}},
          {.name = "scalar", .inputs = {randn({}, rng, DType::f64)}},
          {.name = "empty", .inputs = {zeros({2, 0}, DType::f64)}}};
}

OpRow made(const std::string& op, const std::string& variant, const std::function<Tensor()>& run,
           const Tensor& wanted) {
  return {.op = op,
          .variant = variant,
          .run = [=](const Tensors&) { return run(); },
          .reference = [=](const Tensors&) { return wanted; },
          .samples = no_inputs,
          .derivatives = 0};
}

OpRow like(const std::string& op, const std::function<Tensor(const Tensor&)>& run, double value) {
  return {.op = op,
          .variant = "",
          .run = [=](const Tensors& in) { return run(in[0]); },
          .reference = [=](const Tensors& in) { return constant(in[0].shape(), value); },
          .samples = any_input,
          .derivatives = 0};
}

OpRow one_hot_row() {
  return {.op = "one_hot",
          .variant = "",
          .run = [](const Tensors& in) { return one_hot(in[0], 4, DType::f64); },
          .reference =
              [](const Tensors& in) {
                std::vector<double> values;
                for (std::int64_t id : in[0].to_vector<std::int64_t>()) {
                  for (std::int64_t k = 0; k < 4; ++k) values.push_back(k == id ? 1 : 0);
                }
                Shape shape = in[0].shape();
                shape.push_back(4);
                return from_vector(values, shape);
              },
          .samples = [](Rng&) -> std::vector<Sample> {
            return {{"ordinary", {tensor({{0, 3, 1}, {2, 2, 0}}, DType::i64)}},
                    {"scalar", {tensor(3, DType::i64)}},
                    {"empty", {zeros({2, 0}, DType::i64)}}};
          },
          .derivatives = 0};
}

// Philox4x32-10 as the paper writes it: number `position` of the stream `seed`.
std::uint64_t plain_bits(std::uint64_t seed, std::uint64_t position) {
  const std::uint64_t low = 0xFFFFFFFF;
  std::array<std::uint64_t, 4> c = {position / 2 & low, position / 2 >> 32, 0, 0};
  std::uint64_t key0 = seed & low, key1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = 0xD2511F53 * c[0], q = 0xCD9E8D57 * c[2];
    c = {q >> 32 ^ c[1] ^ key0, q & low, p >> 32 ^ c[3] ^ key1, p & low};
    key0 = (key0 + 0x9E3779B9) & low;
    key1 = (key1 + 0xBB67AE85) & low;
  }
  return position % 2 == 0 ? c[0] | c[1] << 32 : c[2] | c[3] << 32;
}

constexpr std::uint64_t kSeed = 0x123456789ABCDEF0;
constexpr std::uint64_t kStart = 4294967295;  // the carry into the second word is crossed, and odd

Rng generator() {
  Rng rng(kSeed);
  rng.set_counter(2 * kStart + 1);
  return rng;
}

template <class T, class F>
Tensor drawn(const Shape& shape, const F& value) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    values.push_back(value(plain_bits(kSeed, 2 * kStart + 1 + static_cast<std::uint64_t>(i))));
  }
  return from_vector(values, shape);
}

double plain_normal(std::uint64_t bits) {
  const double first = (static_cast<double>(bits >> 32) + 1) / 4294967296.0;
  const double second = static_cast<double>(bits % 4294967296) / 4294967296.0;
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second);
}

template <class Run>
OpRow random_row(const std::string& op, const Tensor& wanted, const Run& run) {
  return made(
      op, to_string(wanted.shape()),
      [=] {
        Rng rng = generator();
        return run(wanted.shape(), rng);
      },
      wanted);
}

std::vector<OpRow> random_rows() {
  std::vector<OpRow> rows;
  for (const Shape& shape : {Shape{3, 50}, Shape{1}, Shape{}, Shape{2, 0}}) {
    rows.push_back(random_row("rand",
                              drawn<double>(shape,
                                            [](std::uint64_t bits) {
                                              return static_cast<double>(bits >> 11) /
                                                     9007199254740992.0;
                                            }),
                              [](const Shape& s, Rng& rng) { return rand(s, rng, DType::f64); }));
    OpRow normal = random_row("randn", drawn<double>(shape, plain_normal),
                              [](const Shape& s, Rng& rng) { return randn(s, rng, DType::f64); });
    normal.rtol_f64 = 1e-10;  // the cosine of a quarter turn is a small difference
    rows.push_back(normal);
    rows.push_back(random_row(
        "randint",
        drawn<std::int64_t>(
            shape, [](std::uint64_t bits) { return static_cast<std::int64_t>(bits % 10) - 3; }),
        [](const Shape& s, Rng& rng) { return randint(-3, 7, s, rng); }));
  }
  // Fisher and Yates, from the back.
  std::vector<std::int64_t> order = {0, 1, 2, 3, 4, 5, 6};
  for (std::uint64_t i = 6, k = 2 * kStart + 1; i > 0; --i, ++k) {
    std::swap(order[i], order[plain_bits(kSeed, k) % (i + 1)]);
  }
  rows.push_back(random_row("permutation", from_vector(order, {7}),
                            [](const Shape& s, Rng& rng) { return permutation(s[0], rng); }));
  return rows;
}

}  // namespace

std::vector<OpRow> create_rows() {
  const auto f64 = DType::f64;
  std::vector<OpRow> rows = {
      made(
          "zeros", "",
          [=] {
            return zeros({2, 3}, f64);
          },
          constant({2, 3}, 0)),
      made(
          "ones", "",
          [=] {
            return ones({2, 3}, f64);
          },
          constant({2, 3}, 1)),
      made(
          "full", "",
          [=] {
            return full({3, 1}, -2.5, f64);
          },
          constant({3, 1}, -2.5)),
      made(
          "full", "empty",
          [=] {
            return full({3, 0}, 1, f64);
          },
          constant({3, 0}, 1)),
      made(
          "scalar", "", [=] { return scalar(7, f64); }, constant({}, 7)),
      made(
          "arange", "count", [=] { return arange(3, f64); }, tensor({0, 1, 2}, f64)),
      made(
          "arange", "steps", [=] { return arange(1, 2, 0.25, f64); },
          tensor({1, 1.25, 1.5, 1.75}, f64)),
      made(
          "arange", "down, i64", [=] { return arange(5, -1, -2, DType::i64); },
          tensor({5, 3, 1}, DType::i64)),
      made(
          "arange", "nothing", [=] { return arange(2, 2, 1, f64); }, constant({0}, 0)),
      made(
          "eye", "square", [=] { return eye(2, -1, f64); }, tensor({{1, 0}, {0, 1}}, f64)),
      made(
          "eye", "wide", [=] { return eye(2, 3, f64); }, tensor({{1, 0, 0}, {0, 1, 0}}, f64)),
      made(
          "eye", "tall", [=] { return eye(3, 1, f64); }, tensor({{1}, {0}, {0}}, f64)),
      like(
          "zeros_like", [](const Tensor& x) { return zeros_like(x); }, 0),
      like(
          "ones_like", [](const Tensor& x) { return ones_like(x); }, 1),
      like(
          "full_like", [](const Tensor& x) { return full_like(x, 0.5); }, 0.5),
      one_hot_row()};
  for (const OpRow& row : random_rows()) rows.push_back(row);
  return rows;
}

}  // namespace gradzoo::test
