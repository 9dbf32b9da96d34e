// Greedy decoding, with a model whose next token is known.
#include "models/decode.h"

#include <doctest/doctest.h>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

// Answers 4, 5, 6, … and ends after as many tokens as the source is long.
struct Counter {
  Tensor encode(const Tensor&, const Tensor& lengths) const { return lengths; }
  Tensor decode(const Tensor& tokens, const Tensor& lengths) const {
    const std::int64_t batch = tokens.size(0), time = tokens.size(1);
    std::vector<std::int64_t> next;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t t = 0; t < time; ++t) {
        next.push_back(static_cast<double>(t) < lengths.at({b}) ? 4 + t : kEos);
      }
    }
    return one_hot(from_vector(next, {batch, time}), 12);
  }
};

using Rows = std::vector<std::vector<std::int64_t>>;

}  // namespace

TEST_CASE("greedy stops each row at its own end symbol") {
  const Tensor source = full({3, 5}, 4, DType::i64);
  const Tensor lengths = tensor({2, 0, 5}, DType::i64);
  CHECK(greedy(Counter{}, source, lengths, 10) == Rows{{4, 5}, {}, {4, 5, 6, 7, 8}});
}

TEST_CASE("greedy gives what it has when the longest answer is reached") {
  const Tensor lengths = tensor({5}, DType::i64);
  CHECK(greedy(Counter{}, full({1, 5}, 4, DType::i64), lengths, 3) == Rows{{4, 5, 6}});
  CHECK(greedy(Counter{}, full({1, 5}, 4, DType::i64), lengths, 0) == Rows{{}});
}

TEST_CASE("until_end cuts before the first end symbol") {
  CHECK(until_end(tensor({{4, 2, 5}, {2, 2, 2}, {7, 8, 9}}, DType::i64)) ==
        Rows{{4}, {}, {7, 8, 9}});
  CHECK_THROWS_AS(until_end(tensor({4, 2}, DType::i64)), Error);
}
