// Tensors as text: alignment, notation, shortening.
#include "core/format.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/create.h"
#include "core/ops/view.h"
#include "core/trace.h"

using namespace gradzoo;

namespace {
const double kInf = std::numeric_limits<double>::infinity();
}

TEST_CASE("format: rows in nested brackets, columns aligned, dtype and shape behind") {
  CHECK(to_string(tensor({{1.0, -0.5}, {2.25, NAN}})) ==
        "[[ 1.0000, -0.5000],\n"
        " [ 2.2500,     nan]] f32 [2, 2]");
  CHECK(to_string(tensor({0.125, kInf, -kInf}, DType::f64)) == "[0.1250,    inf,   -inf] f64 [3]");
  CHECK(to_string(reshape(arange(8, DType::i64), {2, 2, 2})) ==
        "[[[0, 1],\n"
        "  [2, 3]],\n"
        "\n"
        " [[4, 5],\n"
        "  [6, 7]]] i64 [2, 2, 2]");
}

TEST_CASE("format: integers keep every digit, booleans are words, whole floats end in a point") {
  CHECK(to_string(from_vector<std::int64_t>({INT64_MIN, 7}, {2})) ==
        "[-9223372036854775808,                    7] i64 [2]");
  CHECK(to_string(tensor({true, false}, DType::boolean)) == "[ true, false] boolean [2]");
  CHECK(to_string(tensor({1, -20, NAN})) == "[  1., -20.,  nan] f32 [3]");
  CHECK(to_string(zeros({2})) == "[0., 0.] f32 [2]");
}

TEST_CASE("format: exponents where four decimals would mislead") {
  CHECK(to_string(tensor({1e-5, 1e-5})) == "[1.0000e-05, 1.0000e-05] f32 [2]");
  CHECK(to_string(tensor({0.5, 1000})) == "[5.0000e-01, 1.0000e+03] f32 [2]");
  CHECK(to_string(tensor({0.5, 400})) == "[  0.5000, 400.0000] f32 [2]");
  CHECK(to_string(tensor({2e8})) == "[2.0000e+08] f32 [1]");
}

TEST_CASE("format: scalars, empty and undefined tensors") {
  CHECK(to_string(scalar(2.5)) == "2.5000 f32 []");
  CHECK(to_string(scalar(std::copysign(NAN, -1.0))) == "nan f32 []");
  CHECK(to_string(empty({0})) == "[] f32 [0]");
  CHECK(to_string(empty({0, 3}, DType::i64)) == "[] i64 [0, 3]");
  CHECK(to_string(empty({INT64_C(1) << 40, 0})) == "[] f32 [1099511627776, 0]");
  CHECK(to_string(Tensor()) == "undefined");
}

TEST_CASE("format: more than 1000 elements are shortened to three at both ends") {
  CHECK(to_string(arange(1001, DType::i64)) ==
        "[   0,    1,    2, ...,  998,  999, 1000] i64 [1001]");
  CHECK(to_string(reshape(arange(7 * 200, DType::i64), {7, 200})) ==
        "[[   0,    1,    2, ...,  197,  198,  199],\n"
        " [ 200,  201,  202, ...,  397,  398,  399],\n"
        " [ 400,  401,  402, ...,  597,  598,  599],\n"
        " ...,\n"
        " [ 800,  801,  802, ...,  997,  998,  999],\n"
        " [1000, 1001, 1002, ..., 1197, 1198, 1199],\n"
        " [1200, 1201, 1202, ..., 1397, 1398, 1399]] i64 [7, 200]");
  // An axis of six is shown whole.
  CHECK(to_string(zeros({6, 300}, DType::i64)).find("...,\n") == std::string::npos);
  const std::string five = to_string(zeros({5, 300}, DType::i64));
  CHECK(std::count(five.begin(), five.end(), '\n') == 4);
  CHECK(to_string(arange(1000, DType::i64)).find("...") == std::string::npos);
  // Nothing is computed for what is not shown.
  CHECK(to_string(expand(scalar(1), {INT64_C(1) << 40})) ==
        "[1., 1., 1., ..., 1., 1., 1.] f32 [1099511627776]");
}

TEST_CASE("format: long rows are wrapped at 80 columns") {
  const std::string text = to_string(arange(40, DType::i64));
  CHECK(text.substr(0, text.find('\n')) ==
        "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18,");
  CHECK(text.substr(text.find('\n') + 1, 5) == " 19, ");
  CHECK(text.substr(text.size() - 16) == "38, 39] i64 [40]");
}

TEST_CASE("format: strided and broadcast tensors show their elements") {
  const Tensor x = tensor({{1, 2}, {3, 4}}, DType::i64);
  CHECK(to_string(transpose(x)) == "[[1, 3],\n [2, 4]] i64 [2, 2]");
  CHECK(to_string(select(x, 1, 1)) == "[2, 4] i64 [2]");
  CHECK(to_string(expand(select(x, 0, 1), {2, 2})) == "[[3, 4],\n [3, 4]] i64 [2, 2]");
}

TEST_CASE("format: summary is one line") {
  CHECK(summary(tensor({{1, 2.5}, {1.0 / 3, -kInf}})) == "[[1, 2.5], [0.3333, -inf]]");
  CHECK(summary(scalar(3)) == "3");
  CHECK(summary(tensor({true, false}, DType::boolean)) == "[true, false]");
  CHECK(summary(empty({0, 2})) == "[]");
  CHECK(summary(arange(12, DType::i64)) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]");
  CHECK(summary(arange(13, DType::i64)) == "min 0 mean 6 max 12");
  CHECK(summary(tensor({1, 2, 3}), 2) == "min 1 mean 2 max 3");
  CHECK(summary(tensor({1, NAN, 3, kInf}), 3) == "min 1 mean 2 max 3, 2 not finite");
  CHECK(summary(tensor({NAN, kInf}), 1) == "all 2 not finite");
  CHECK(summary(Tensor()) == "undefined");
}

TEST_CASE("format: streams and fmt write the same, and looking leaves no step in a trace") {
  const Tensor x = transpose(tensor({{1, 2}, {3, 4}}));
  const Trace trace;
  std::ostringstream out;
  out << x;
  CHECK(out.str() == to_string(x));
  CHECK(fmt::format("{}", x) == to_string(x));
  CHECK(summary(x) == "[[1, 3], [2, 4]]");
  CHECK(trace.steps().empty());
}
