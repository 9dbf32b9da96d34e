// Searches by any model: room, batches, and texts longer than the model's places.
#include "examples/common/search.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "core/storage.h"
#include "nn/config.h"
#include "tests/examples/small_zoo.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::small_checkpoint;

namespace {

const std::vector<Ids> kSources{{4, 5, 6}, {7}, {8, 8, 4, 5, 6, 7}, {6, 5}};
const std::vector<std::uint64_t> kStreams{0, 1, 2, 3};

ZooCheckpoint small_text_model(std::int64_t max_length) {
  ZooCheckpoint checkpoint = small_checkpoint(models::DecoderLMConfig{
      .d_model = 8, .num_heads = 2, .num_layers = 1, .d_ff = 8, .max_length = max_length});
  checkpoint.continues = true;
  return checkpoint;
}

}  // namespace

TEST_CASE("search: greedy search gives the answers that training measures") {
  for (const ModelKind kind : test::kAllKinds) {
    CAPTURE(nn::choice_name(kind));
    const ZooCheckpoint checkpoint = small_checkpoint(kind);
    const auto found = search(checkpoint, kSources, kStreams, {.max_length = 5});
    for (std::size_t i = 0; i < kSources.size(); ++i) {
      REQUIRE(found[i].size() == 1);
      const Tensor source = padded({kSources[i]});
      const Tensor length = from_vector(Ids{std::ssize(kSources[i])}, {1});
      CHECK(found[i][0].tokens == answers(checkpoint.model, source, length, 5)[0]);
      CHECK(found[i][0].log_prob < 0);
    }
  }
}

TEST_CASE("search: no search depends on what else is in the batch") {
  const ZooCheckpoint checkpoint = small_checkpoint(ModelKind::decoder_lm);
  for (const SearchOptions& options :
       {SearchOptions{.beam = 3, .n_best = 2, .max_length = 62},
        SearchOptions{.kind = SearchKind::exhaustive, .n_best = 3, .max_length = 2},
        SearchOptions{.kind = SearchKind::sample, .temperature = 2, .max_length = 62}}) {
    const auto together = search(checkpoint, kSources, kStreams, options);
    for (std::size_t i = 0; i < kSources.size(); ++i) {
      const auto alone = search(checkpoint, {kSources[i]}, {kStreams[i]}, options)[0];
      REQUIRE(together[i].size() == alone.size());
      for (std::size_t k = 0; k < alone.size(); ++k) {
        CHECK(together[i][k].tokens == alone[k].tokens);
        CHECK(together[i][k].log_prob == doctest::Approx(alone[k].log_prob).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("search: a source that is much longer than the others is read alone") {
  const ZooCheckpoint checkpoint = small_checkpoint(ModelKind::rnn);
  std::vector<Ids> sources(64, Ids{4, 5, 6});
  sources[20] = Ids(70'000, 4);
  memory::reset_peak();
  const auto found = search(checkpoint, sources, std::vector<std::uint64_t>(64), {.max_length = 3});
  CHECK(memory::peak_bytes() < 500'000'000);  // 64 of these take more than 1 GB for each layer
  const auto alone = search(checkpoint, {sources[0], sources[20]}, {0, 0}, {.max_length = 3});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    CHECK(found[i][0].tokens == alone[i == 20 ? 1 : 0][0].tokens);
  }
}

TEST_CASE("search: an answer may be as long as there is room") {
  const ZooCheckpoint lm = small_checkpoint(models::DecoderLMConfig{
      .d_model = 8, .num_heads = 2, .num_layers = 1, .d_ff = 8, .max_length = 9});
  CHECK(room_for_answer(lm, 6) == 3);
  CHECK(room_for_answer(lm, 8) == 1);
  CHECK(room_for_answer(lm, 9) < 1);
  // Never ends by itself: three tokens more than there is room for are asked for.
  const auto found = search(lm, kSources, kStreams, {.min_length = 3, .max_length = 100});
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    CHECK(found[i][0].length() <= 9 - std::ssize(kSources[i]));
  }
  CHECK(room_for_answer(small_text_model(9), 9) == 1);
  CHECK(room_for_answer(small_text_model(9), 6) == 4);
  CHECK(room_for_answer(small_checkpoint(ModelKind::transformer), 64) == 64);
  CHECK(room_for_answer(small_checkpoint(ModelKind::transformer), 65) < 1);
  CHECK(room_for_answer(small_checkpoint(ModelKind::encoder), 32) == 31);
  CHECK(room_for_answer(small_checkpoint(ModelKind::encoder), 33) < 1);
}

TEST_CASE("search: samples are a function of seed and stream") {
  const ZooCheckpoint checkpoint = small_checkpoint(ModelKind::gru);
  const auto draw = [&](std::uint64_t seed, std::uint64_t stream) {
    return search(
               checkpoint, {kSources[0]}, {stream},
               {.kind = SearchKind::sample, .seed = seed, .min_length = 19, .max_length = 20})[0][0]
        .tokens;
  };
  CHECK(draw(1, 0) == draw(1, 0));
  CHECK(draw(1, 0) != draw(1, 1));
  CHECK(draw(1, 0) != draw(2, 0));
}

TEST_CASE("continue_text: goes on after the model's places are full") {
  const ZooCheckpoint checkpoint = small_text_model(8);
  for (const std::size_t prompt : {1u, 8u, 9u, 30u}) {
    CAPTURE(prompt);
    const Ids ids(prompt, 4);
    // Only the last may be an end symbol.
    const SearchOptions options{.min_length = 40, .max_length = 40};
    const models::Hypothesis all = continue_text(checkpoint, ids, options);
    CHECK(all.length() == 40);
    CHECK(all.log_prob < 0);
    // The beginning is what one search finds.
    const std::int64_t seen = prompt <= 8 ? static_cast<std::int64_t>(prompt) : 4;
    const std::int64_t room = 8 - seen + 1;
    const auto first = search(checkpoint, {Ids(static_cast<std::size_t>(seen), 4)}, {0},
                              {.min_length = room, .max_length = room})[0][0];
    const auto end = all.tokens.begin() + room - 1;
    CHECK(Ids(all.tokens.begin(), end) ==
          Ids(first.tokens.begin(), first.tokens.begin() + room - 1));
  }
  // Each token makes the text less likely, also across the places where it is read anew.
  double before = 0;
  for (std::int64_t length = 1; length < 20; ++length) {
    const double log_prob =
        continue_text(checkpoint, {4}, {.min_length = length, .max_length = length}).log_prob;
    CHECK(log_prob < before);
    before = log_prob;
  }
  const SearchOptions sampled{.kind = SearchKind::sample, .max_length = 40};
  CHECK(continue_text(checkpoint, {4}, sampled).tokens ==
        continue_text(checkpoint, {4}, sampled).tokens);
  CHECK(continue_text(small_text_model(1), {4, 5}, {.min_length = 3, .max_length = 3}).length() ==
        3);
}
