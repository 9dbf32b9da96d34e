// A mask is never silently ignored: every way into attention refuses one that does not fit, with
// both shapes and the names of their axes, and then has changed nothing.
#include <doctest/doctest.h>

#include <functional>

#include "core/scope.h"
#include "nn/attention.h"
#include "nn/attentive_rnn.h"
#include "nn/mask.h"
#include "nn/self_attention.h"
#include "nn/transformer_layer.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

constexpr std::int64_t kBatch = 2, kHeads = 2, kQueries = 3, kKeys = 4, kWidth = 4;

Tensor random(const Shape& shape) {
  Rng rng(1);
  return randn(shape, rng);
}

// A way into attention under `mask`, for scores of this shape.
struct Path {
  std::string name;
  std::function<void(const Tensor& mask)> f;
  Shape scores = {kBatch, kHeads, kQueries, kQueries};
};

void add_functions(std::vector<Path>& paths) {
  Rng rng(2);
  const Shape plain{kBatch, kQueries, kKeys}, heads{kBatch, kHeads, kQueries, kKeys};
  const Tensor q = random({kBatch, kQueries, 2}), k = random({kBatch, kKeys, 2});
  const Tensor hq = random({kBatch, kHeads, kQueries, 2}), hk = random({kBatch, kHeads, kKeys, 2});
  const RelativePositions relative(2, 2, rng);
  for (const Normalizer n : {Normalizer::softmax, Normalizer::relu}) {
    paths.push_back({"attend", [=](const Tensor& m) { attend(random(plain), k, m, n); }, plain});
    paths.push_back(
        {"attend, heads", [=](const Tensor& m) { attend(random(heads), hk, m, n); }, heads});
    paths.push_back({"attend, one query",
                     [=](const Tensor& m) {
                       attend(random({kBatch, kKeys}), k, m, n);
                     },
                     {kBatch, 1, kKeys}});
  }
  paths.push_back({"scaled_dot_product_attention",
                   [=](const Tensor& m) { scaled_dot_product_attention(q, k, k, m); }, plain});
  paths.push_back({"scaled_dot_product_attention, heads",
                   [=](const Tensor& m) { scaled_dot_product_attention(hq, hk, hk, m); }, heads});
  paths.push_back({"RelativePositions", [=](const Tensor& m) { relative(hq, hk, hk, m); }, heads});
  const SelfAttention self(kWidth, 3, rng);
  paths.push_back({"SelfAttention",
                   [=](const Tensor& m) {
                     self(random({kBatch, kQueries, kWidth}), m);
                   },
                   {kBatch, kQueries, kQueries}});
}

void add_layers(std::vector<Path>& paths) {
  Rng rng(3);
  const Tensor x = random({kBatch, kQueries, kWidth}), memory = random({kBatch, kKeys, kWidth});
  const Shape across{kBatch, kHeads, kQueries, kKeys};
  for (const AttentionPositions& positions :
       {AttentionPositions(), AttentionPositions(RotaryPositions(9, 2)),
        AttentionPositions(AlibiPositions{}), AttentionPositions(RelativePositions(1, 2, rng))}) {
    MultiheadAttention layer(kWidth, kHeads, rng);
    layer.positions = positions;
    paths.push_back({fmt::format("MultiheadAttention, positions {}", positions.index()),
                     [=](const Tensor& m) { layer(x, x, x, m); }});
  }
  const MultiheadAttention layer(kWidth, kHeads, rng);
  paths.push_back({"attend_memory",
                   [=](const Tensor& m) {
                     const NoGrad no_grad;
                     layer.attend_memory(x, layer.project_memory(memory, memory), m);
                   },
                   across});
  const TransformerLayerOptions sizes{.d_model = kWidth, .num_heads = kHeads, .d_ff = 3};
  const TransformerEncoderLayer encoder(sizes, rng);
  const TransformerDecoderLayer decoder(sizes, rng);
  paths.push_back({"encoder", [=](const Tensor& m) { encoder(x, m); }});
  paths.push_back({"encoder, weights", [=](const Tensor& m) { encoder.with_weights(x, m); }});
  paths.push_back({"decoder", [=](const Tensor& m) { decoder(x, memory, m); }});
  paths.push_back({"decoder, memory", [=](const Tensor& m) { decoder(x, memory, {}, m); }, across});
  paths.push_back({"decoder, weights",
                   [=](const Tensor& m) { decoder.with_weights(x, memory, {}, m); }, across});
  paths.push_back({"decoder, cache",
                   [=](const Tensor& m) {
                     const NoGrad no_grad;
                     decoder.make_cache(memory, m, 9);
                   },
                   {kBatch, kHeads, 1, kKeys}});
}

// Steps of `added` tokens after two others; the cache must stay as it is.
void add_steps(std::vector<Path>& paths) {
  Rng rng(4);
  for (const std::int64_t added : {1, 2}) {
    for (const AttentionPositions& positions :
         {AttentionPositions(), AttentionPositions(AlibiPositions{})}) {
      MultiheadAttention layer(kWidth, kHeads, rng);
      layer.positions = positions;
      paths.push_back({fmt::format("step of {}, positions {}", added, positions.index()),
                       [=](const Tensor& m) {
                         const NoGrad no_grad;
                         KvCache cache = layer.make_cache(kBatch, 9);
                         layer.step(random({kBatch, 2, kWidth}), cache);
                         try {
                           layer.step(random({kBatch, added, kWidth}), cache, m);
                         } catch (const Error&) {
                           CHECK(cache.length() == 2);
                           throw;
                         }
                       },
                       {kBatch, kHeads, added, 2 + added}});
    }
  }
}

std::vector<Path> paths() {
  std::vector<Path> all;
  add_functions(all);
  add_layers(all);
  add_steps(all);
  return all;
}

std::string named(const Shape& shape) {
  const char* names[] = {"[queries, keys]", "[batch, queries, keys]",
                         "[batch, heads, queries, keys]"};
  return fmt::format("{} {}", names[shape.rank() - 2], shape);
}

}  // namespace

TEST_CASE("every way into attention refuses a mask that does not fit, naming both by their axes") {
  for (const Path& path : paths()) {
    CAPTURE(path.name);
    const int rank = path.scores.rank();
    const std::int64_t queries = path.scores[rank - 2], keys = path.scores[rank - 1];
    for (const Shape& wrong :
         {Shape{queries, keys + 1}, Shape{queries + 1, keys}, Shape{kBatch, 1, keys - 1},
          Shape{kBatch + 1, 1, keys}, Shape{kBatch + 1, queries, keys},
          Shape{kBatch, kHeads + 1, queries, keys}, Shape{kBatch + 1, 1, 1, keys}}) {
      for (const DType dtype : {DType::boolean, DType::f32}) {
        const std::string want = fmt::format(
            ": the mask does not fit the scores, got mask {} and "
            "scores {}",
            named(wrong), named(path.scores));
        CHECK_THROWS_WITH_AS(path.f(ones(wrong, dtype)), doctest::Contains(want.c_str()), Error);
      }
    }
    for (const DType dtype : {DType::f64, DType::i64}) {
      const std::string want = fmt::format(
          ": the mask must be boolean (true = may attend) or f32 "
          "as the scores (added to them), got {}",
          dtype);
      CHECK_THROWS_WITH_AS(path.f(ones({queries, keys}, dtype)), doctest::Contains(want.c_str()),
                           Error);
    }
    // What fits is taken.
    for (const DType dtype : {DType::boolean, DType::f32}) path.f(ones({queries, keys}, dtype));
    path.f(ones({kBatch, 1, keys}, DType::boolean));
    path.f(ones({1, 1, 1, keys}, DType::boolean));
  }
}

TEST_CASE("attention over the past refuses rows and states that are said by another shape") {
  Rng rng(5);
  const auto refuses = [&](const auto& layer, const std::string& name) {
    const Tensor x = random({2, 3, 3});
    const PastStates past = layer(x).past;
    const auto step = [&](const PastStates& before, const Tensor& inside) {
      layer.step(select(x, 1, 0), before, inside);
    };
    for (const PastStates& before : {PastStates(), past}) {
      for (const Tensor& inside :
           {ones({1}, DType::boolean), ones({3}, DType::boolean), ones({2})}) {
        const std::string want = fmt::format("{}: inside [batch] must be boolean [2], got {} {}",
                                             name, inside.dtype(), inside.shape());
        CHECK_THROWS_WITH_AS(step(before, inside), want.c_str(), Error);
      }
    }
    for (const Tensor& visible : {ones({2, 2}, DType::boolean), ones({1, 3}, DType::boolean),
                                  ones({2, 3}), ones({2, 1, 3}, DType::boolean)}) {
      PastStates other = past;
      other.visible = visible;
      const std::string want =
          fmt::format("{}: visible [batch, past] must be boolean [2, 3], got {} {}", name,
                      visible.dtype(), visible.shape());
      CHECK_THROWS_WITH_AS(step(other, {}), want.c_str(), Error);
    }
  };
  refuses(AttentiveRNN(3, 4, rng), "AttentiveRNN");
  refuses(LSTMN(3, 4, rng), "LSTMN");
}
