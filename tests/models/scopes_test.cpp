// The modules that each model is made of, as the named scopes of its graph show them.
#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "core/autograd.h"
#include "core/create.h"
#include "core/node.h"
#include "core/ops/reduce.h"
#include "core/scope.h"
#include "models/decoder_lm.h"
#include "models/encoder.h"
#include "models/rnn_seq2seq.h"
#include "models/transformer.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

using Paths = std::set<std::string>;

// The paths of the nodes that `output` was computed from.
Paths paths_of(const Tensor& output) {
  Paths paths;
  for (const auto& node : graph_nodes({output})) {
    if (!node->is_leaf) paths.insert(path_of(node->scope));
  }
  return paths;
}

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

struct Sample {
  Tensor source = ids({{3, 4, 5}});
  Tensor lengths = ids({3});
  Tensor target_in = ids({{1, 5, 4}});
  Tensor target_out = ids({{5, 4, 3}});
};

}  // namespace

TEST_CASE("scopes of the Transformer: its halves, their layers, and the parts of these") {
  Rng rng(1);
  TransformerConfig config{.source_vocab = 6, .target_vocab = 6, .d_model = 4, .num_heads = 2};
  config.num_encoder_layers = config.num_decoder_layers = 2;
  config.d_ff = 4;
  config.max_length = 4;
  const Transformer model(config, rng);
  const Sample s;
  const std::string encoder = "Transformer/Encoder", decoder = "Transformer/Decoder";
  const Paths paths = paths_of(model.loss(s.source, s.lengths, s.target_in, s.target_out));
  CHECK(paths ==
        Paths{encoder + "/TokenEmbedding", encoder + "/TransformerEncoderLayer/MultiheadAttention",
              encoder + "/TransformerEncoderLayer",
              encoder + "/TransformerEncoderLayer/FeedForward", decoder + "/TokenEmbedding",
              decoder + "/TransformerDecoderLayer/MultiheadAttention",
              decoder + "/TransformerDecoderLayer",
              decoder + "/TransformerDecoderLayer/FeedForward", "Transformer", ""});
}

TEST_CASE("scopes of the recurrent model: encoder, decoder, their networks, attention") {
  Rng rng(1);
  RNNSeq2SeqConfig config{.source_vocab = 6, .target_vocab = 6};
  config.embedding_dim = config.hidden_size = 2;
  config.num_layers = 1;
  const Sample s;
  const auto paths = [&](nn::CellKind kind) {
    config.cell = kind;
    const RNNSeq2Seq model(config, rng);
    return paths_of(model.loss(s.source, s.lengths, s.target_in, s.target_out));
  };
  const std::pair<nn::CellKind, std::string> cells[] = {
      {nn::CellKind::rnn, "RNN"}, {nn::CellKind::lstm, "LSTM"}, {nn::CellKind::gru, "GRU"}};
  for (const auto& cell : cells) {
    const Paths want = {"RNNSeq2Seq/Encoder",           "RNNSeq2Seq/Encoder/" + cell.second,
                        "RNNSeq2Seq/Decoder",           "RNNSeq2Seq/Decoder/" + cell.second,
                        "RNNSeq2Seq/Decoder/Attention", ""};
    CHECK(paths(cell.first) == want);
  }
}

TEST_CASE("scopes of the language model and of the encoder, heads included") {
  Rng rng(1);
  const Sample s;
  DecoderLMConfig config{.vocab = 6, .d_model = 4, .num_heads = 2, .num_layers = 1, .d_ff = 4};
  const DecoderLM model(config, rng);
  CHECK(paths_of(model.loss(s.source, s.lengths, s.target_in, s.target_out)) ==
        Paths{"DecoderLM/TokenEmbedding", "DecoderLM/TransformerEncoderLayer",
              "DecoderLM/TransformerEncoderLayer/MultiheadAttention",
              "DecoderLM/TransformerEncoderLayer/FeedForward", "DecoderLM", ""});

  EncoderConfig small;
  small.vocab = 6;
  small.d_model = small.d_ff = 4;
  small.num_heads = small.num_layers = 1;
  const Encoder encoder(small, rng);
  const Paths token = paths_of(encoder.loss(s.source, s.lengths, s.target_out));
  CHECK(token == Paths{"Encoder/TokenEmbedding", "Encoder",
                       "Encoder/TransformerEncoderLayer/MultiheadAttention",
                       "Encoder/TransformerEncoderLayer",
                       "Encoder/TransformerEncoderLayer/FeedForward", "TokenHead", ""});
  const Paths whole = paths_of(encoder.classification_loss(s.source, s.lengths, ids({1})));
  CHECK(whole.contains("ClassHead"));
}
