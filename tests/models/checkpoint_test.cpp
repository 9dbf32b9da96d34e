// Models in files: made again from the config there; what does not fit is refused.
#include "models/checkpoint.h"

#include <doctest/doctest.h>

#include "nn/linear.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::models;
using test::message_of;

namespace {

struct LineConfig {
  std::int64_t in = 3;
  std::int64_t out = 2;
  static void fields(auto& self, auto&& visit) {
    visit("in", self.in, "numbers read");
    visit("out", self.out, "numbers written");
  }
};

struct Line {
  static constexpr const char* kName = "line";
  LineConfig config;
  nn::Linear linear;
  Line(const LineConfig& given, Rng& rng) : config(given) {
    check(config.in >= 1, "Line: in must be at least 1, got {}", config.in);
    linear = nn::Linear(config.in, config.out, rng);
  }
  static void fields(auto& self, auto&& visit) { visit("linear", self.linear); }
};

struct Other : Line {
  static constexpr const char* kName = "other";
  using Line::Line;
};

}  // namespace

TEST_CASE("a model comes back from its file alone, with other metadata beside it") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "m.safetensors";
  Rng rng(1);
  const Line saved({.in = 4, .out = 5}, rng);
  save_model(path, saved, {{"note", "hello"}, {"model", "lies"}, {"config.in", "7"}});
  CHECK(
      load_metadata(path) ==
      nn::Metadata{{"model", "line"}, {"config.in", "4"}, {"config.out", "5"}, {"note", "hello"}});
  CHECK(model_name(path) == "line");
  const Line loaded = load_model<Line>(path);
  CHECK(loaded.config.in == 4);
  CHECK(loaded.config.out == 5);
  CHECK(loaded.linear.weight.to_vector<float>() == saved.linear.weight.to_vector<float>());
  CHECK(loaded.linear.bias.to_vector<float>() == saved.linear.bias.to_vector<float>());
  CHECK(loaded.linear.weight.requires_grad());
}

TEST_CASE(
    "another model, a config that is not valid, weights that do not fit: named with the path") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "m.safetensors";
  const auto refusal = [&](const nn::Metadata& metadata) {
    Rng rng(2);
    nn::save(path, Line({}, rng), metadata);
    return message_of([&] { load_model<Line>(path); });
  };
  CHECK(refusal({}) == path + ": the metadata does not say which model this is");
  CHECK(refusal({{"model", "other"}}) == path + ": holds the model 'other', not 'line'");
  CHECK(refusal({{"model", "line"}, {"config.in", "3"}}) ==
        path + ": the metadata is not that of this model: 'config.out' is missing");
  CHECK(refusal({{"model", "line"}, {"config.in", "0"}, {"config.out", "2"}}) ==
        path + ": Line: in must be at least 1, got 0");
  CHECK(refusal({{"model", "line"}, {"config.in", "4"}, {"config.out", "2"}}) ==
        path +
            ": does not fit the module: 'linear.weight' is f32 [2, 3] in the file, f32 [2, 4] "
            "in the module");
  CHECK(refusal({{"model", "line"}, {"config.in", "3"}, {"config.out", "2"}}) == "no error");
  CHECK(message_of([&] { load_model<Other>(path); }) ==
        path + ": holds the model 'line', not 'other'");
}
