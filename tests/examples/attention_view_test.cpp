// An answer with its steps and maps: probabilities that are the model's own, JSON, and the page.
#include "examples/common/attention_view.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/ops.h"
#include "core/scope.h"
#include "examples/common/search.h"
#include "models/special_ids.h"
#include "nn/config.h"
#include "tests/core/message.h"
#include "tests/examples/small_view.h"
#include "tests/examples/small_zoo.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::small_checkpoint;

namespace {

const std::string kSource = "a c b";
const models::Hypothesis kAnswer{{7, 4}, 0, 0, true};  // d a, and an end

Tensor row(const Ids& ids) { return from_vector(ids, {1, std::ssize(ids)}); }
Tensor length(std::int64_t n) { return from_vector(Ids{n}, {1}); }

// What the model says step by step, as a search asks it: probabilities [1, vocab] of each.
template <class Model>
std::vector<Tensor> step_by_step(const Model& model, const Ids& source, const Ids& read) {
  const NoGrad no_grad;
  auto state = model.start(row(source), length(std::ssize(source)));
  std::vector<Tensor> all;
  for (const std::int64_t token : read) {
    all.push_back(softmax(model.decode_step(length(token), state), -1));
  }
  return all;
}

void check_steps(const AttentionView& view, const std::vector<Tensor>& own,
                 const Vocabulary& vocabulary) {
  const Ids written{7, 4, models::kEos};
  REQUIRE(view.steps.size() == 3);
  for (std::size_t t = 0; t < 3; ++t) {
    const AnswerStep& step = view.steps[t];
    CHECK(step.token == vocabulary.token(written[t]));
    CHECK(step.probability == doctest::Approx(own[t].at({0, written[t]})).epsilon(1e-5));
    const auto best = topk(own[t], 5);
    REQUIRE(step.likeliest.size() == 5);
    for (std::int64_t k = 0; k < 5; ++k) {
      const auto& likely = step.likeliest[static_cast<std::size_t>(k)];
      CHECK(likely.second == doctest::Approx(best.values.at({0, k})).epsilon(1e-5));
      CHECK(likely.first == vocabulary.token(static_cast<std::int64_t>(best.indices.at({0, k}))));
    }
  }
}

}  // namespace

TEST_CASE("attention_view: the probabilities are those of the model's steps") {
  const Ids ids{4, 6, 5}, read{models::kBos, 7, 4};
  const auto check_model = [&]<class Model>(const Model& model, const ZooCheckpoint& checkpoint) {
    if constexpr (!std::is_same_v<Model, models::Encoder>) {
      check_steps(attention_view(checkpoint, "m", kSource, kAnswer), step_by_step(model, ids, read),
                  checkpoint.target);
    }
  };
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(nn::choice_name(kind));
    const ZooCheckpoint checkpoint = small_checkpoint(kind);
    std::visit([&](const auto& model) { check_model(model, checkpoint); }, checkpoint.model);
  }
}

TEST_CASE("attention_view: a text goes on after its last token") {
  ZooCheckpoint checkpoint = small_checkpoint(ModelKind::decoder_lm);
  checkpoint.continues = true;
  const auto& model = std::get<models::DecoderLM>(checkpoint.model);
  check_steps(attention_view(checkpoint, "m", kSource, kAnswer),
              step_by_step(model, {4, 6}, {5, 7, 4}), checkpoint.target);
  check_steps(attention_view(checkpoint, "m", "b", kAnswer), step_by_step(model, {}, {5, 7, 4}),
              checkpoint.target);
}

TEST_CASE("attention_view: the log-probability is the one of the search, for every model") {
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(nn::choice_name(kind));
    const ZooCheckpoint checkpoint = small_checkpoint(kind);
    const auto answer = search(checkpoint, {{4, 6, 5}}, {1}, {.max_length = 4})[0][0];
    const AttentionView view = attention_view(checkpoint, "m", kSource, answer);
    CHECK(view.log_prob == doctest::Approx(answer.log_prob).epsilon(1e-4));
    CHECK(view.finished == answer.finished);
    CHECK(static_cast<std::int64_t>(view.steps.size()) == answer.length());
    CHECK(view.steps[0].likeliest.size() == 5);
    CHECK(view.source == kSource);
    CHECK(view.answer == checkpoint.target.decode(answer.tokens));
  }
}

TEST_CASE("B18: a token that the model does not know is shown as it is written") {
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(nn::choice_name(kind));
    const AttentionView view =
        attention_view(small_checkpoint(kind), "m", "a <script> </script> <script>", kAnswer);
    CHECK(view.unknown == std::vector<std::string>{"<script>", "</script>"});
    for (const AttentionMap& map : view.maps) {
      if (map.part == AttentionPart::answer) continue;
      CHECK(map.keys[1] == "<script>");
      CHECK(map.keys[2] == "</script>");
      if (map.part != AttentionPart::answer_to_source) CHECK(map.queries[3] == "<script>");
    }
  }
  CHECK(attention_view(small_checkpoint(ModelKind::gru), "m", kSource, kAnswer).unknown.empty());
}

TEST_CASE("attention_json: everything, with masks and statistics") {
  const auto json = attention_json(test::small_view());
  CHECK(json["model"] == "m<1>");
  CHECK(json["answer"]["log_prob"] == -0.5);
  CHECK(json["steps"][0]["top"][1]["token"] == "&");
  CHECK(json["steps"][0]["top"][1]["probability"] == 0.25);
  REQUIRE(json["attention"].size() == 5);
  const auto& map = json["attention"][2];
  CHECK(map["part"] == "answer_to_source");
  CHECK(map["layer"] == 1);
  CHECK(map["head"] == 0);
  CHECK(map["keys"][1] == "</script>");
  CHECK(map["weights"].dump() == "[[0.25,0.75,0.0],[0.0,0.5,0.5]]");
  CHECK(map["masked"].dump() == "[[false,false,true],[false,false,false]]");
  CHECK(map["first_step"] == 0);
  CHECK(map["statistics"]["diagonal"] == 0.375);
  AttentionView view = test::small_view();
  view.maps = {view.maps[0]};
  view.maps[0].may_attend = ones({2, 3}, DType::boolean);
  view.maps[0].first_step = -1;
  const auto open = attention_json(view);
  CHECK(open["attention"][0]["masked"].is_null());
  CHECK(open["attention"][0]["first_step"].is_null());
}

TEST_CASE("B18: the page holds its texts as data, and is not too large") {
  const std::string html = attention_page({test::small_view()});
  CHECK(html.find("</script>\"") == std::string::npos);
  CHECK(html.find("<b>") == std::string::npos);
  CHECK(html.find("function shownToken") != std::string::npos);
  AttentionView large = test::small_view();
  large.maps[0].weights = zeros({600, 500});
  CHECK(test::contains(test::message_of([&] { attention_page({large}); }), "300024 weights"));
}
