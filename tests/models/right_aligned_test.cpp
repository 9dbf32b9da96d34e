// Sequences at the right of their room.
#include "models/right_aligned.h"

#include <doctest/doctest.h>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

using Ids = std::vector<std::int64_t>;

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

}  // namespace

TEST_CASE("align_right moves each row's tokens to the end, and counts what is free before") {
  const auto [moved, padding] = align_right(ids({{4, 5, 6}, {7, 8, 0}, {9, 0, 0}}), ids({3, 2, 1}));
  CHECK(padding.to_vector<std::int64_t>() == Ids{0, 1, 2});
  CHECK(select(moved, 0, 0).to_vector<std::int64_t>() == Ids{4, 5, 6});
  CHECK(slice(select(moved, 0, 1), 0, 1).to_vector<std::int64_t>() == Ids{7, 8});
  CHECK(select(moved, 0, 2).at({2}) == 9);
  CHECK(real_tokens(padding, 4).shape() == Shape{3, 1, 4});
  CHECK(to(real_tokens(padding, 4), DType::i64).to_vector<std::int64_t>() ==
        Ids{1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1});
  CHECK(own_places(padding, 0, 3).to_vector<std::int64_t>() == Ids{0, 1, 2, 0, 0, 1, 0, 0, 0});
  CHECK(own_places(padding, 3, 2).to_vector<std::int64_t>() == Ids{3, 4, 2, 3, 1, 2});
}

TEST_CASE("full rows stay, and need no mask; there may be no tokens at all") {
  const Tensor source = ids({{4, 5}, {6, 7}});
  const auto [same, padding] = align_right(source, ids({2, 2}));
  CHECK(same.impl_ptr() == source.impl_ptr());
  CHECK(!padding.defined());
  CHECK(!real_tokens(padding, 5).defined());
  CHECK(!align_right(zeros({2, 0}, DType::i64), ids({0, 0})).padding.defined());
  CHECK(align_right(source, ids({0, 1})).padding.to_vector<std::int64_t>() == Ids{2, 1});
}

TEST_CASE("shapes and lengths that do not fit are refused") {
  CHECK_THROWS_WITH_AS(align_right(ids({{4, 5}}), ids({1, 1})),
                       "source must be [batch, time] and lengths [batch], got [1, 2] and [2]",
                       Error);
  CHECK_THROWS_AS(align_right(ids({{4, 5}}), ids({3})), Error);
  CHECK_THROWS_AS(align_right(ids({4, 5}), ids({1, 1})), Error);
}
