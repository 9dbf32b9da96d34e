// Maps of attention: which there are, what stands beside them, and that they are the model's own.
#include "examples/common/attention.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "core/scope.h"
#include "models/special_ids.h"
#include "nn/config.h"
#include "tests/core/message.h"
#include "tests/examples/small_zoo.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::small_checkpoint;

namespace {

using Names = std::vector<std::string>;

const Ids kSource{4, 6, 5};                            // a c b
const models::Hypothesis kAnswer{{7, 4}, 0, 0, true};  // d a, and an end

Tensor row(const Ids& ids) { return from_vector(ids, {1, std::ssize(ids)}); }
Tensor length(std::int64_t n) { return from_vector(Ids{n}, {1}); }

// Of each map its part, layer and head, such as "answer 0 1".
Names places(const std::vector<AttentionMap>& maps) {
  Names all;
  for (const AttentionMap& map : maps) {
    all.push_back(fmt::format("{} {} {}", nn::choice_name(map.part), map.layer, map.head));
  }
  return all;
}

}  // namespace

TEST_CASE("attention_maps: every row of every map is a distribution over the tokens beside it") {
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(nn::choice_name(kind));
    const auto maps = attention_maps(small_checkpoint(kind), kSource, kAnswer);
    REQUIRE(!maps.empty());
    for (const AttentionMap& map : maps) {
      const Shape shape{std::ssize(map.queries), std::ssize(map.keys)};
      REQUIRE(map.weights.shape() == shape);
      const Tensor sums = sum(map.weights, {1});
      CHECK(test::max_difference(sums, ones_like(sums)) < 1e-5);
      CHECK(!map.weights.requires_grad());
    }
  }
}

TEST_CASE("attention_maps: the heads of a Transformer, answer to source first") {
  const ZooCheckpoint checkpoint =
      small_checkpoint(models::TransformerConfig{.d_model = 8,
                                                 .num_heads = 2,
                                                 .num_encoder_layers = 1,
                                                 .num_decoder_layers = 2,
                                                 .d_ff = 8,
                                                 .max_length = 8});
  const auto maps = attention_maps(checkpoint, kSource, kAnswer);
  CHECK(places(maps) == Names{"answer_to_source 0 0", "answer_to_source 0 1",
                              "answer_to_source 1 0", "answer_to_source 1 1", "source 0 0",
                              "source 0 1", "answer 0 0", "answer 0 1", "answer 1 0",
                              "answer 1 1"});
  CHECK(maps[0].queries == Names{"d", "a", "<eos>"});
  CHECK(maps[0].keys == Names{"a", "c", "b"});
  CHECK(maps[4].queries == Names{"a", "c", "b"});
  CHECK(maps[6].queries == Names{"<bos>", "d", "a"});
  CHECK(maps[6].keys == maps[6].queries);
  CHECK(maps[6].weights.to_vector<float>()[1] == 0);  // the first step does not see the second
  const auto& model = std::get<models::Transformer>(checkpoint.model);
  const auto own = model.attention(row(kSource), length(3), row({models::kBos, 7, 4}));
  CHECK(test::max_difference(maps[3].weights, select(select(own.memory[1], 0, 0), 0, 1)) == 0);
  CHECK(test::max_difference(maps[8].weights, select(select(own.decoder[1], 0, 0), 0, 0)) == 0);
  models::Hypothesis cut = kAnswer;
  cut.finished = false;
  CHECK(attention_maps(checkpoint, kSource, cut)[0].queries == Names{"d", "a"});
}

TEST_CASE("attention_maps: a recurrent model's weights are those of its steps") {
  for (const bool source_end : {false, true}) {
    const ZooCheckpoint checkpoint =
        small_checkpoint(models::RNNSeq2SeqConfig{.cell = nn::CellKind::gru,
                                                  .embedding_dim = 8,
                                                  .hidden_size = 8,
                                                  .num_layers = 1,
                                                  .attention = nn::ScoreKind::additive,
                                                  .source_end = source_end});
    const auto maps = attention_maps(checkpoint, kSource, kAnswer);
    REQUIRE(places(maps) == Names{"answer_to_source 0 0"});
    CHECK(maps[0].queries == Names{"d", "a", "<eos>"});
    CHECK(maps[0].keys == (source_end ? Names{"a", "c", "b", "<eos>"} : Names{"a", "c", "b"}));
    const auto& model = std::get<models::RNNSeq2Seq>(checkpoint.model);
    const NoGrad no_grad;
    auto state = model.start(row(kSource), length(3));
    std::int64_t step = 0;
    for (const std::int64_t token : {models::kBos, std::int64_t{7}, std::int64_t{4}}) {
      const Tensor weights = model.decode_step_with_weights(length(token), state).weights;
      CHECK(test::max_difference(select(maps[0].weights, 0, step++), select(weights, 0, 0)) < 1e-6);
    }
  }
}

TEST_CASE("attention_maps: what is masked is what the model's mask hides, and it has no weight") {
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(nn::choice_name(kind));
    for (const AttentionMap& map : attention_maps(small_checkpoint(kind), kSource, kAnswer)) {
      CAPTURE(nn::choice_name(map.part));
      REQUIRE(map.may_attend.dtype() == DType::boolean);
      REQUIRE(map.may_attend.shape() == map.weights.shape());
      const bool causal = map.part == AttentionPart::answer || kind == ModelKind::decoder_lm;
      for (std::int64_t query = 0; query < map.weights.size(0); ++query) {
        for (std::int64_t key = 0; key < map.weights.size(1); ++key) {
          const bool may_attend = map.may_attend.at({query, key}) == 1;
          CHECK(may_attend == (!causal || key <= query));
          CHECK((map.weights.at({query, key}) > 0) == may_attend);
        }
      }
    }
  }
}

TEST_CASE("attention_maps: the row of the first step is the one that writes the first token") {
  const auto first_steps = [](const ZooCheckpoint& checkpoint) {
    Ids rows;
    for (const AttentionMap& map : attention_maps(checkpoint, kSource, kAnswer)) {
      if (map.head == 0 && map.layer == 0) rows.push_back(map.first_step);
    }
    return rows;
  };
  CHECK(first_steps(small_checkpoint(ModelKind::transformer)) == Ids{0, -1, 0});
  CHECK(first_steps(small_checkpoint(ModelKind::gru)) == Ids{0});
  CHECK(first_steps(small_checkpoint(ModelKind::decoder_lm)) == Ids{3});
  CHECK(first_steps(small_checkpoint(ModelKind::encoder)) == Ids{4});  // behind <bos>: a blank
  ZooCheckpoint text = small_checkpoint(ModelKind::decoder_lm);
  text.continues = true;
  CHECK(first_steps(text) == Ids{2});  // the last token of the source
}

TEST_CASE("attention_maps: a model without attention has none") {
  const ZooCheckpoint checkpoint =
      small_checkpoint(models::RNNSeq2SeqConfig{.embedding_dim = 8,
                                                .hidden_size = 8,
                                                .num_layers = 1,
                                                .attention = nn::ScoreKind::none,
                                                .input_feeding = false});
  CHECK(attention_maps(checkpoint, kSource, kAnswer).empty());
}

TEST_CASE("attention_maps: a language model reads source and answer as one sequence") {
  ZooCheckpoint checkpoint = small_checkpoint(models::DecoderLMConfig{
      .d_model = 8, .num_heads = 2, .num_layers = 2, .d_ff = 8, .max_length = 6});
  auto maps = attention_maps(checkpoint, kSource, kAnswer);
  CHECK(places(maps) == Names{"sequence 0 0", "sequence 0 1", "sequence 1 0", "sequence 1 1"});
  CHECK(maps[0].keys == Names{"a", "c", "b", "<bos>", "d", "a"});
  CHECK(maps[0].queries == maps[0].keys);
  const auto& model = std::get<models::DecoderLM>(checkpoint.model);
  const auto own = model.attention(row(kSource), length(3), row({models::kBos, 7, 4}));
  CHECK(test::max_difference(maps[1].weights, select(select(own[0], 0, 0), 0, 1)) < 1e-6);
  SUBCASE("a text has no begin symbol, and of a long one the end is read") {
    checkpoint.continues = true;
    maps = attention_maps(checkpoint, kSource, kAnswer);
    CHECK(maps[0].keys == Names{"a", "c", "b", "d", "a"});
    maps = attention_maps(checkpoint, {4, 5, 6, 7, 8, 4}, {{5, 6, 7}, 0, 0, false});
    CHECK(maps[0].keys == Names{"c", "d", "e", "a", "b", "c"});
  }
}

TEST_CASE("attention_maps: the encoder reads the source, the begin symbol and its blanks") {
  const ZooCheckpoint checkpoint = small_checkpoint(models::EncoderConfig{
      .d_model = 8, .num_heads = 1, .num_layers = 1, .d_ff = 8, .max_length = 7});
  const auto maps = attention_maps(checkpoint, kSource, kAnswer);
  REQUIRE(places(maps) == Names{"sequence 0 0"});
  CHECK(maps[0].keys == Names{"a", "c", "b", "<bos>", "<mask>", "<mask>", "<mask>"});
}

TEST_CASE("attention_maps: source and answer must have tokens") {
  const ZooCheckpoint checkpoint = small_checkpoint(ModelKind::gru);
  CHECK(test::message_of([&] { attention_maps(checkpoint, {}, kAnswer); }) ==
        "attention_maps: source and answer must have tokens, got 0 and 3");
  CHECK(test::message_of([&] { attention_maps(checkpoint, kSource, {}); }) ==
        "attention_maps: source and answer must have tokens, got 3 and 0");
}
