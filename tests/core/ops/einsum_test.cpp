// Einstein summation against a loop over every index, its gradients and its errors.
#include "core/ops/einsum.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "core/random.h"

namespace gradzoo {
namespace {

// One element of a tensor whose axes are named by `labels`, when each letter has the index given by
// `index` (by letter). Axes of extent 1 stay at 0.
double element(const Tensor& x, const std::string& labels,
               const std::array<std::int64_t, 128>& index) {
  std::int64_t position = x.impl().offset;
  for (int i = 0; i < x.dim(); ++i) {
    const std::int64_t at = index[static_cast<unsigned char>(labels[static_cast<std::size_t>(i)])];
    position += (x.size(i) == 1 ? 0 : at) * x.strides()[i];
  }
  return static_cast<const double*>(x.impl().storage->data())[position];
}

// The sum over all letters outside `out`, one element at a time, in row-major order of `out`.
std::vector<double> naive(const std::vector<std::string>& terms, const std::string& out,
                          const std::vector<Tensor>& operands) {
  std::string letters = out;  // those of the result vary slowest
  std::array<std::int64_t, 128> extent{};
  for (std::size_t t = 0; t < terms.size(); ++t) {
    for (std::size_t i = 0; i < terms[t].size(); ++i) {
      const char c = terms[t][i];
      if (letters.find(c) == std::string::npos) letters += c;
      auto& known = extent[static_cast<unsigned char>(c)];
      known = std::max(known, operands[t].size(static_cast<std::int64_t>(i)));
    }
  }
  std::int64_t total = 1, results = 1;
  for (const char c : letters) total *= extent[static_cast<unsigned char>(c)];
  for (const char c : out) results *= extent[static_cast<unsigned char>(c)];
  std::vector<double> y(static_cast<std::size_t>(results));
  for (std::int64_t i = 0; i < total; ++i) {
    std::array<std::int64_t, 128> index{};
    std::int64_t rest = i;
    for (std::size_t l = letters.size(); l-- > 0;) {
      const auto c = static_cast<unsigned char>(letters[l]);
      index[c] = rest % extent[c];
      rest /= extent[c];
    }
    double product = 1;
    for (std::size_t t = 0; t < terms.size(); ++t) product *= element(operands[t], terms[t], index);
    y[static_cast<std::size_t>(i / (total / results))] += product;
  }
  return y;
}

void check_one(const std::string& equation, const std::string& term, const std::string& out,
               const Tensor& x) {
  CAPTURE(equation);
  const std::vector<double> y = einsum(equation, {x}).to_vector<double>();
  const std::vector<double> expected = naive({term}, out, {x});
  REQUIRE(y.size() == expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(expected[i]));
}

void check_two(const std::string& equation, const std::string& left, const std::string& right,
               const std::string& out, const Tensor& a, const Tensor& b) {
  CAPTURE(equation);
  const std::vector<double> y = einsum(equation, {a, b}).to_vector<double>();
  const std::vector<double> expected = naive({left, right}, out, {a, b});
  REQUIRE(y.size() == expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(expected[i]));
}

TEST_CASE("einsum: one operand") {
  Rng rng(1);
  const auto x = [&](const Shape& shape) { return randn(shape, rng, DType::f64); };
  check_one("i->i", "i", "i", x({4}));
  check_one("i->", "i", "", x({4}));
  check_one("ij->ji", "ij", "ji", x({2, 3}));
  check_one("ba", "ba", "ab", x({2, 3}));  // alphabetical: a transposition
  check_one("aB", "aB", "Ba", x({2, 3}));  // capitals first
  check_one("bij->bji", "bij", "bji", x({2, 3, 4}));
  check_one("ijk->j", "ijk", "j", x({2, 3, 4}));
  check_one("ii->", "ii", "", x({3, 3}));
  check_one("ii", "ii", "", x({3, 3}));
  check_one("ii->i", "ii", "i", x({3, 3}));
  check_one("ijj->ij", "ijj", "ij", x({2, 3, 3}));
  check_one("iji->j", "iji", "j", x({3, 2, 3}));
  check_one("iii->i", "iii", "i", x({3, 3, 3}));
  check_one("iijj->ji", "iijj", "ji", x({2, 2, 3, 3}));
  check_one("iiii->", "iiii", "", x({2, 2, 2, 2}));
  check_one("...i->...", "abi", "ab", x({2, 3, 4}));
  check_one("i...->...i", "iab", "abi", x({2, 3, 4}));
  check_one("i...", "iab", "abi", x({2, 3, 4}));
  check_one("i...j->ji", "iabj", "ji", x({2, 3, 4, 5}));  // the axes under "..." are summed too
  check_one("...->...", "ab", "ab", x({2, 3}));
  check_one(" i j -> j i ", "ij", "ji", x({2, 3}));
  check_one("->", "", "", x({}));
  check_one("ij->j", "ij", "j", x({0, 3}));
  check_one("ij->ji", "ij", "ji", transpose(x({3, 2})));
  check_one("ii->i", "ii", "i", slice(x({3, 6}), 1, 0, kEnd, 2));
}

TEST_CASE("einsum: two operands") {
  Rng rng(2);
  const auto x = [&](const Shape& shape) { return randn(shape, rng, DType::f64); };
  check_two("ij,jk->ik", "ij", "jk", "ik", x({2, 3}), x({3, 4}));
  check_two("ij,jk", "ij", "jk", "ik", x({2, 3}), x({3, 4}));
  check_two("ij,jk->ki", "ij", "jk", "ki", x({2, 3}), x({3, 4}));
  check_two("ij,kj->ik", "ij", "kj", "ik", x({2, 3}), x({4, 3}));
  check_two("ji,jk->ik", "ji", "jk", "ik", x({3, 2}), x({3, 4}));
  check_two("i,i->", "i", "i", "", x({5}), x({5}));
  check_two("i,i->i", "i", "i", "i", x({5}), x({5}));
  check_two("i,j->ij", "i", "j", "ij", x({5}), x({3}));
  check_two("i,j->ji", "i", "j", "ji", x({5}), x({3}));
  check_two("ij,j->i", "ij", "j", "i", x({2, 3}), x({3}));
  check_two("j,ij->i", "j", "ij", "i", x({3}), x({2, 3}));
  check_two("ij,ij->", "ij", "ij", "", x({2, 3}), x({2, 3}));
  check_two("ij,ij->j", "ij", "ij", "j", x({2, 3}), x({2, 3}));
  check_two("bij,bjk->bik", "bij", "bjk", "bik", x({2, 3, 4}), x({2, 4, 5}));
  check_two("bthd,bshd->bhts", "bthd", "bshd", "bhts", x({2, 3, 2, 4}), x({2, 5, 2, 4}));
  check_two("bhts,bshd->bthd", "bhts", "bshd", "bthd", x({2, 2, 3, 5}), x({2, 5, 2, 4}));
  check_two("abc,bd->acd", "abc", "bd", "acd", x({2, 3, 4}), x({3, 5}));
  check_two("abc,cbd->da", "abc", "cbd", "da", x({2, 3, 4}), x({4, 3, 5}));
  check_two("ij,jk->k", "ij", "jk", "k", x({2, 3}), x({3, 4}));  // i is summed within one
  check_two("ij,kl->", "ij", "kl", "", x({2, 3}), x({4, 5}));
  check_two("ii,ij->j", "ii", "ij", "j", x({3, 3}), x({3, 2}));
  check_two("ii,jj->ij", "ii", "jj", "ij", x({3, 3}), x({2, 2}));
  check_two(",i->i", "", "i", "i", x({}), x({3}));
  check_two(",->", "", "", "", x({}), x({}));
  check_two("...ij,...jk->...ik", "abij", "abjk", "abik", x({2, 3, 4, 5}), x({2, 3, 5, 2}));
  check_two("...ij,jk->...ik", "abij", "jk", "abik", x({2, 3, 4, 5}), x({5, 2}));
  check_two("...ij,...jk->...ik", "abij", "bjk", "abik", x({2, 3, 4, 5}), x({3, 5, 2}));
  check_two("...ij,...jk->...ik", "abij", "abjk", "abik", x({2, 1, 4, 5}), x({1, 3, 5, 2}));
  check_two("...i,...i->...", "abi", "bi", "ab", x({2, 3, 4}), x({1, 4}));
  check_two("...i,i", "abi", "i", "ab", x({2, 3, 4}), x({4}));
  check_two("i,i->i", "i", "i", "i", x({1}), x({5}));
  check_two("ij,jk->ik", "ij", "jk", "ik", x({2, 1}), x({3, 4}));
  check_two("ij,ij->ij", "ij", "ij", "ij", x({1, 3}), x({2, 1}));
  check_two("ij,ij->", "ij", "ij", "", x({1, 3}), x({2, 1}));
  check_two("ij,jk->ik", "ij", "jk", "ik", x({2, 0}), x({0, 3}));
  check_two("ij,jk->ik", "ij", "jk", "ik", transpose(x({3, 2})), transpose(x({4, 3})));
  CHECK(einsum("i,i", {ones({3}), full({3}, 2)}).item() == 6);  // f32
}

TEST_CASE("einsum: the gradient of a trace is the identity (EIN1)") {
  Tensor x = tensor({{1, 2}, {3, 4}}, DType::f64);
  x.requires_grad_();
  einsum("ii->", {x}).backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 0, 0, 1});
  x.zero_grad();
  sum(einsum("ii->i", {x}) * tensor({5, 7}, DType::f64)).backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{5, 0, 0, 7});
}

TEST_CASE("einsum: the gradient of a stretched operand has its shape (EIN3)") {
  Tensor x = tensor({1, 2}, DType::f64);
  Tensor y = tensor({3}, DType::f64);
  x.requires_grad_();
  y.requires_grad_();
  const Tensor z = einsum("i,i", {x, y});
  CHECK(z.item() == 9);
  z.backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{3, 3});
  CHECK(y.grad().to_vector<double>() == std::vector<double>{3});
}

TEST_CASE("einsum: first and second derivatives") {
  Rng rng(3);
  const auto both = [&](const std::string& equation, std::vector<Tensor> inputs) {
    CAPTURE(equation);
    for (Tensor& x : inputs) x.requires_grad_();
    const auto f = [&](const std::vector<Tensor>& in) { return einsum(equation, in); };
    const GradcheckResult first = gradcheck(f, inputs);
    CHECK_MESSAGE(first.ok, first.report);
    const GradcheckResult second = gradgradcheck(f, inputs);
    CHECK_MESSAGE(second.ok, second.report);
  };
  const auto x = [&](const Shape& shape) { return randn(shape, rng, DType::f64); };
  both("ii->i", {x({3, 3})});
  both("iji->j", {x({3, 2, 3})});
  both("ijk->kj", {x({2, 3, 4})});
  both("ij,jk->ki", {x({2, 3}), x({3, 4})});
  both("ii,ij->j", {x({3, 3}), x({3, 2})});
  both("bthd,bshd->bhts", {x({2, 3, 2, 2}), x({2, 3, 2, 2})});
  both("...ij,...jk->...ik", {x({2, 1, 2, 3}), x({2, 3, 2})});
  both("i,i->i", {x({1}), x({4})});
  both("ij,ij->", {x({1, 3}), x({2, 1})});
}

TEST_CASE("einsum: errors name the equation and the shapes") {
  const auto message = [](const std::string& equation, const std::vector<Tensor>& operands) {
    try {
      einsum(equation, operands);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto refused = [&](const std::string& equation, const std::vector<Tensor>& operands,
                           const std::string& part) {
    const std::string text = message(equation, operands);
    CAPTURE(text);
    CHECK(text.find("einsum: '" + equation + "'") == 0);
    CHECK(text.find(part) != std::string::npos);
  };
  const Tensor m = zeros({2, 3});
  refused("ij,jk", {m}, "2 terms for 1 operands");
  refused("ij", {m, m}, "1 terms for 2 operands");
  refused("ij,jk,kl", {m, m, m}, "one or two");
  refused("", {}, "1 terms for 0 operands");
  refused("ijk", {m}, "[2, 3]");
  refused("i", {m}, "'i'");
  refused("...ijk", {m}, "[2, 3]");
  refused("i1", {m}, "'i1'");
  refused("i.j", {m}, "'i.j'");
  refused("......", {m}, "'......'");
  refused("ij->ij->", {m}, "'ij->'");
  refused("ij->k", {m}, "'k'");
  refused("ij->ii", {m}, "'i'");
  refused("ij->i,j", {m}, "'i,j'");
  refused("ii->i", {m}, "2 and 3 in shape [2, 3]");
  refused("ij,jk", {m, m}, "[2, 3] and [2, 3]");
  refused("ij", {zeros({2, 3}, DType::i64)}, "i64");
  refused("ij,ij", {m, zeros({2, 3}, DType::f64)}, "f32 and f64");
}

}  // namespace
}  // namespace gradzoo
