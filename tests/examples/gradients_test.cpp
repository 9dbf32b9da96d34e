// Every row of the table of layers: first and second derivatives against finite differences, and
// the number of parameters against the formula on paper.
#include <doctest/doctest.h>

#include <set>

#include "core/node.h"
#include "examples/common/layers/check.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

void check_rows(const std::vector<LayerRow>& rows) {
  for (const LayerRow& row : rows) {
    CAPTURE(row.layer);
    CAPTURE(row.option);
    const LayerCheck check = check_layer(row);
    CHECK(check.parameters == row.parameters);
    CHECK_MESSAGE(check.first.ok, check.first.problem);
    CHECK_MESSAGE(check.second.ok, check.second.problem);
    // Something was compared, and derivatives that are all 0 would prove nothing.
    REQUIRE(check.second.worst() != nullptr);
    bool moves = false;
    for (const TensorCheck& tensor : check.first.tensors) moves |= tensor.worst.numeric != 0;
    CHECK(moves);
  }
}

// x * weight whose gradient is `factor` times too large with respect to the weight.
LayerRow scaled_row(double factor, std::int64_t parameters) {
  return {"Scale", "", parameters, [=](Rng& rng) {
            const Tensor weight = input({3}, rng).requires_grad_();
            const auto f = [=](const Inputs& in) {
              return record(in[0].detach() * weight.detach(), "scale", {in[0], weight},
                            {in[0], weight}, [=](const BackwardContext& c) -> Grads {
                              return {c.grad * c.saved(1), factor * (c.grad * c.saved(0))};
                            });
            };
            return LayerCase{{{"x", input({3}, rng)}}, {{"weight", weight}}, f};
          }};
}

}  // namespace

TEST_CASE("every row: layers without time or place") { check_rows(linear_rows()); }
TEST_CASE("every row: normalisations") { check_rows(norm_rows()); }
TEST_CASE("every row: attention scores") { check_rows(score_rows()); }
TEST_CASE("every row: attention") { check_rows(attention_rows()); }
TEST_CASE("every row: positions") { check_rows(position_rows()); }
TEST_CASE("every row: recurrent layers") { check_rows(recurrent_rows()); }
TEST_CASE("every row: convolutions") { check_rows(conv_rows()); }
TEST_CASE("every row: Transformer layers") { check_rows(transformer_rows()); }
TEST_CASE("every row: losses") { check_rows(loss_rows()); }

TEST_CASE("rows have names of their own, and those of one layer stand together") {
  std::set<std::pair<std::string, std::string>> names;
  std::set<std::string> layers;
  std::string last;
  for (const LayerRow& row : layer_table()) {
    CAPTURE(row.layer);
    CAPTURE(row.option);
    CHECK(names.emplace(row.layer, row.option).second);
    if (row.layer != last) CHECK(layers.insert(row.layer).second);
    last = row.layer;
  }
}

TEST_CASE("a row that is wrong is found, by tensor") {
  CHECK(check_layer(scaled_row(1, 3)).ok());
  const LayerCheck wrong = check_layer(scaled_row(1.5, 3));
  CHECK_FALSE(wrong.ok());
  CHECK_FALSE(wrong.first.ok);
  CHECK(wrong.first.problem.find("3 of 6 elements wrong") != std::string::npos);
  REQUIRE(wrong.first.worst() != nullptr);
  CHECK(wrong.first.worst()->name == "weight");
  CHECK(*wrong.first.relative(false) < 1e-8);
  // 0.5 n of n, which is measured in n + 0.01.
  const double n = std::abs(wrong.first.worst()->worst.numeric);
  CHECK(*wrong.first.relative(true) == doctest::Approx(0.5 * n / (n + 0.01)).epsilon(1e-6));
}

TEST_CASE("a row with other parameters than on paper is wrong, and so is one that throws") {
  const LayerCheck count = check_layer(scaled_row(1, 4));
  CHECK(count.parameters == 3);
  CHECK_FALSE(count.parameters_ok);
  CHECK(count.first.ok);
  CHECK_FALSE(count.ok());
  const LayerRow thrower{"Thrower", "", 0, [](Rng& rng) {
                           return LayerCase{{{"x", input({2}, rng)}}, {}, [](const Inputs& in) {
                                              return matmul(in[0], ones({3, 3}, DType::f64));
                                            }};
                         }};
  const LayerCheck thrown = check_layer(thrower);
  CHECK_FALSE(thrown.ok());
  CHECK(thrown.first.problem.find("matmul") == 0);
}

TEST_CASE("the same seed gives the same errors, another others") {
  const LayerRow row = linear_rows().front();
  const auto error = [&](std::uint64_t seed) {
    return *check_layer(row, {.seed = seed}).first.relative(true);
  };
  CHECK(error(1) == error(1));
  CHECK(error(1) != error(2));
}
