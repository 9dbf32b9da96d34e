// Copies: every layout and size, and conversions between dtypes with their limits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/threads.h"

using namespace gradzoo;

namespace {

std::vector<double> values(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

using Numbers = std::vector<double>;

// The elements one by one, by their index.
bool same_elements(const Tensor& got, const Tensor& wanted) {
  const auto* a = got.data<float>();
  const auto* b = wanted.data<float>();
  for (std::int64_t k = 0; k < wanted.numel(); ++k) {
    const Shape index = unravel_index(k, wanted.shape());
    std::int64_t at = 0, from = 0;
    for (int i = 0; i < wanted.dim(); ++i) {
      at += index[i] * got.strides()[i];
      from += index[i] * wanted.strides()[i];
    }
    if (a[at] != b[from]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("clone: all orders of three axes, around the tile and block sizes") {
  const Shape orders[] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const std::int64_t n : {1, 2, 7, 15, 16, 17, 33}) {
    for (const std::int64_t m : {1, 3, 16, 31, 130}) {
      const Tensor x = reshape(arange(static_cast<double>(5 * n * m)), {n, 5, m});
      for (const Shape& order : orders) {
        const Tensor turned = permute(x, order);
        const Tensor y = clone(turned);
        INFO(to_string(x.shape()), to_string(order));
        CHECK(y.is_contiguous());
        CHECK(same_elements(y, turned));
        // Into a strided target, too.
        const Tensor wide =
            slice(zeros({turned.shape()[0], turned.shape()[1] + 2, turned.shape()[2]}), 1, 1, -1);
        copy_into(wide, turned);
        CHECK(same_elements(wide, turned));
      }
    }
  }
}

TEST_CASE("clone: large transposes, long lines and expanded tensors") {
  const Tensor x = reshape(arange(150.0 * 131 * 2), {150, 2, 131});
  CHECK(same_elements(clone(permute(x, {2, 1, 0})), permute(x, {2, 1, 0})));
  const Tensor lines = reshape(arange(2.0 * 40000), {2, 40000});
  CHECK(same_elements(clone(slice(lines, 1, 0, kEnd, 2)), slice(lines, 1, 0, kEnd, 2)));
  CHECK(same_elements(clone(transpose(lines)), transpose(lines)));
  CHECK(same_elements(clone(expand(arange(300), {200, 300})), expand(arange(300), {200, 300})));
  const Tensor column = reshape(arange(300), {300, 1});
  CHECK(same_elements(clone(expand(column, {300, 200})), expand(column, {300, 200})));
}

TEST_CASE("clone: the layout of attention heads, any number of threads") {
  const int before = num_threads();
  const Tensor x = reshape(arange(6.0 * 20 * 4 * 16), {6, 20, 4, 16});
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    CHECK(same_elements(clone(permute(x, {0, 2, 1, 3})), permute(x, {0, 2, 1, 3})));
    CHECK(same_elements(clone(permute(x, {0, 2, 3, 1})), permute(x, {0, 2, 3, 1})));
  }
  set_num_threads(before);
}

TEST_CASE("clone has its own memory; contiguous copies only what is not") {
  const Tensor x = arange(6);
  const Tensor y = clone(x);
  assign(x, zeros({6}));
  CHECK(y.at({5}) == 5);
  CHECK(contiguous(x).impl_ptr() == x.impl_ptr());
  CHECK(contiguous(transpose(reshape(x, {2, 3}))).is_contiguous());
}

TEST_CASE("to: floats truncate, booleans are 'not 0'") {
  const Tensor x = tensor({1.9, -1.9, 0, -0.0, 0.5}, DType::f64);
  CHECK(to(x, DType::i64).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, -1, 0, 0, 0});
  CHECK(to(x, DType::boolean).to_vector<bool>() ==
        std::vector<bool>{true, true, false, false, true});
  CHECK(to(tensor({NAN}), DType::boolean).to_vector<bool>() == std::vector<bool>{true});
  CHECK(to(tensor({3, -4}, DType::i64), DType::f32).to_vector<float>() ==
        std::vector<float>{3, -4});
  CHECK(to(tensor({1, 0}, DType::boolean), DType::i64).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, 0});
  CHECK(to(tensor({0, 2}, DType::i64), DType::boolean).to_vector<bool>() ==
        std::vector<bool>{false, true});
  CHECK(to(x, DType::f64).impl_ptr() == x.impl_ptr());
  CHECK(std::isinf(to(tensor({1e300}, DType::f64), DType::f32).item()));
  CHECK(to(transpose(reshape(arange(4), {2, 2})), DType::i64).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 2, 1, 3});
}

TEST_CASE("to: a float that no i64 can hold is an error naming it") {
  CHECK_THROWS_WITH_AS(to(tensor({0, NAN}, DType::f64), DType::i64),
                       "to: element 1 is nan, which no i64 can hold", Error);
  CHECK_THROWS_WITH_AS(to(tensor({1e19}), DType::i64),
                       "to: element 0 is 1e+19, which no i64 can hold", Error);
  for (const double bad : {0x1p63, std::nextafter(-0x1p63, -1e300), HUGE_VAL, -HUGE_VAL}) {
    CHECK_THROWS_AS(to(scalar(bad, DType::f64), DType::i64), Error);
  }
  CHECK(to(scalar(-0x1p63, DType::f64), DType::i64).to_vector<std::int64_t>()[0] == INT64_MIN);
  CHECK(
      to(scalar(std::nextafter(0x1p63, 0), DType::f64), DType::i64).to_vector<std::int64_t>()[0] ==
      INT64_MAX - 1023);
}

TEST_CASE("to: the gradient is converted back") {
  Tensor x = tensor({1, 2}, DType::f64);
  x.requires_grad_();
  const Tensor y = to(x, DType::f32) * tensor({3, 4});
  CHECK(y.dtype() == DType::f32);
  y.backward(tensor({1, 10}));
  CHECK(x.grad().dtype() == DType::f64);
  CHECK(values(x.grad()) == Numbers{3, 40});
  CHECK_FALSE(to(x, DType::i64).requires_grad());
}
