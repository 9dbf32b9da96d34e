// Choosing a source whose attention can be looked at, and asking for its answer.
#include "examples/common/attention_sample.h"

#include <doctest/doctest.h>

#include "examples/common/search.h"
#include "models/special_ids.h"
#include "tests/examples/small_zoo.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::small_checkpoint;

namespace {

Ids source_of(std::size_t size) { return Ids(size, 4); }  // a a a …

std::string source_shown(const std::vector<Ids>& sources) {
  const ZooCheckpoint checkpoint = small_checkpoint(ModelKind::gru);
  const auto view = attention_sample(checkpoint, "gru", sources);
  return view ? view->source : "none";
}

}  // namespace

TEST_CASE("attention_sample: the longest of the short sources, or else the shortest") {
  CHECK(source_shown({source_of(1), source_of(3), source_of(2)}) == "a a a");
  CHECK(source_shown({source_of(13), source_of(2), source_of(20)}) == "a a");
  CHECK(source_shown({source_of(15), source_of(14), source_of(16)}).size() == 2 * 14 - 1);
  CHECK(source_shown({Ids{5, 4}, Ids{4, 5}}) == "b a");  // the first of those alike
}

TEST_CASE("attention_sample: no source, or none that can be written and read again") {
  CHECK(source_shown({}) == "none");
  CHECK(source_shown({Ids{}}) == "none");
  CHECK(source_shown({Ids{4, models::kPad, 4}, Ids{4}}) == "a");
  CHECK(source_shown({Ids{models::kPad}}) == "none");
}

TEST_CASE("attention_sample: the greedy answer, and maps, for every model that has attention") {
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(static_cast<int>(kind));
    const ZooCheckpoint checkpoint = small_checkpoint(kind);
    const auto view = attention_sample(checkpoint, "it", {Ids{4, 6, 5}});
    const auto* recurrent = std::get_if<models::RNNSeq2Seq>(&checkpoint.model);
    const bool has = recurrent == nullptr || recurrent->score.has_value();
    REQUIRE(view.has_value() == has);
    if (!has) continue;
    const auto answers = search(checkpoint, {Ids{4, 6, 5}}, {1}, {.max_length = 24});
    CHECK(view->answer == checkpoint.target.decode(answers[0][0].tokens));
    CHECK(view->model == "it");
    CHECK_FALSE(view->maps.empty());
  }
}

TEST_CASE("attention_sample: none without attention, and without room for an answer") {
  ZooConfig plain = small_config(ModelKind::gru);
  std::get<models::RNNSeq2SeqConfig>(plain).attention = nn::ScoreKind::none;
  CHECK_FALSE(attention_sample(small_checkpoint(plain), "gru", {Ids{4, 5}}));
  ZooConfig tiny = small_config(ModelKind::decoder_lm);
  std::get<models::DecoderLMConfig>(tiny).max_length = 4;
  CHECK(attention_sample(small_checkpoint(tiny), "lm", {Ids{4, 5}}));
  CHECK_FALSE(attention_sample(small_checkpoint(tiny), "lm", {Ids{4, 5, 4, 5, 4, 5}}));
}
