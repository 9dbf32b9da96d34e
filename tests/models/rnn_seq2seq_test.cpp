// Recurrent sequence-to-sequence models: laws for every combination of cell, attention, input
// feeding, directions and layers; finite differences of the whole loss; what can be learned.
#include "models/rnn_seq2seq.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/scope.h"
#include "core/trace.h"
#include "models/checkpoint.h"
#include "models/decode.h"
#include "optim/adam.h"
#include "tests/core/temporary.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using models::RNNSeq2Seq;
using models::RNNSeq2SeqConfig;
using models::RNNSeq2SeqState;
using nn::CellKind;
using nn::ScoreKind;

namespace {

RNNSeq2SeqConfig tiny() {
  return {.source_vocab = 7,
          .target_vocab = 6,
          .cell = CellKind::gru,
          .embedding_dim = 3,
          .hidden_size = 4,
          .num_layers = 1,
          .bidirectional = false,
          .attention = ScoreKind::none,
          .attention_rank = 2,
          .input_feeding = false,
          .dropout = 0};
}

const std::vector<CellKind> kCells{CellKind::rnn, CellKind::lstm, CellKind::gru};
const std::vector<ScoreKind> kScores{ScoreKind::none,         ScoreKind::dot,
                                     ScoreKind::scaled_dot,   ScoreKind::general,
                                     ScoreKind::reduced_rank, ScoreKind::additive};

// f(config) for every combination of the options, with tiny sizes.
template <class F>
void for_all_options(const F& f) {
  for (const CellKind cell : kCells) {
    for (const ScoreKind attention : kScores) {
      for (int i = 0; i < 16; ++i) {
        RNNSeq2SeqConfig config = tiny();
        config.cell = cell;
        config.attention = attention;
        config.input_feeding = (i & 1) != 0;
        config.bidirectional = (i & 2) != 0;
        config.num_layers = (i & 4) != 0 ? 2 : 1;
        config.source_end = (i & 8) != 0;
        if (config.input_feeding && attention == ScoreKind::none) continue;
        CAPTURE(nn::choice_name(cell));
        CAPTURE(nn::choice_name(attention));
        CAPTURE(config.input_feeding);
        CAPTURE(config.bidirectional);
        CAPTURE(config.num_layers);
        CAPTURE(config.source_end);
        f(config);
      }
    }
  }
}

// A quarter of them, in which every two options meet: for what takes long.
bool in_sample(const RNNSeq2SeqConfig& c) {
  return c.source_end == c.bidirectional &&
         (c.num_layers == 2) == (c.input_feeding != c.bidirectional);
}

// Of these one for each cell and attention, with the other options in turn: for what takes longest.
bool in_small_sample(const RNNSeq2SeqConfig& c) {
  const int turn = static_cast<int>(c.cell) + static_cast<int>(c.attention);
  return in_sample(c) && c.bidirectional == (turn % 2 == 1) &&
         c.input_feeding == (c.attention != ScoreKind::none && turn / 2 % 2 == 1);
}

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

const Tensor kSource = ids({{4, 5, 6}, {6, 4, 0}, {5, 0, 0}});
const Tensor kLengths = ids({3, 2, 1});
const Tensor kTargetIn = ids({{1, 4, 5, 3}, {1, 5, 0, 0}, {1, 3, 4, 0}});
const Tensor kTargetOut = ids({{4, 5, 3, 2}, {5, 2, 0, 0}, {3, 4, 2, 0}});

Tensor loss_of(const RNNSeq2Seq& model) {
  return model.loss(kSource, kLengths, kTargetIn, kTargetOut);
}

Tensor row(const Tensor& x, std::int64_t b) { return slice(x, 0, b, b + 1); }

// Adam on one batch.
void train(const RNNSeq2Seq& model, int steps) {
  optim::Adam adam(nn::parameters(model), {.lr = 0.02});
  for (int step = 0; step < steps; ++step) {
    adam.zero_grad();
    loss_of(model).backward();
    adam.step();
  }
}

}  // namespace

TEST_CASE("RNNSeq2Seq: every parameter's gradient of the whole loss") {
  for_all_options([](const RNNSeq2SeqConfig& config) {
    if (!in_small_sample(config)) return;
    Rng rng(2);
    const RNNSeq2Seq model = nn::to(RNNSeq2Seq(config, rng), DType::f64);
    const auto loss = [&](const std::vector<Tensor>&) {
      return model.loss(kSource, kLengths, kTargetIn, kTargetOut, 0.1);
    };
    const auto result = nn::gradcheck(model, loss, {});
    CHECK_MESSAGE(result.ok, result.report);
  });
}

TEST_CASE("KVC1, KVC5, KVC6: logits step by step are those of the whole, rows repeated and moved") {
  for_all_options([](const RNNSeq2SeqConfig& config) {
    Rng rng(3);
    const RNNSeq2Seq model(config, rng);
    const NoGrad no_grad;
    const auto [logits, weights] = model.with_weights(kSource, kLengths, kTargetIn);
    REQUIRE(logits.shape() == Shape{3, 4, 6});
    RNNSeq2SeqState state = model.start(kSource, kLengths);
    Tensor rows = arange(3, DType::i64);
    // What the rows are from step to step: all, moved, some twice and one gone, one alone.
    const std::vector<Tensor> orders{ids({0, 1, 2}), ids({2, 0, 1}), ids({0, 0, 2, 1, 2}),
                                     ids({4})};
    for (std::int64_t t = 0; t < 4; ++t) {
      const Tensor& order = orders[static_cast<std::size_t>(t)];
      state.select(order);
      rows = index_select(rows, 0, order);
      const Tensor tokens = index_select(select(kTargetIn, 1, t), 0, rows);
      const auto step = model.decode_step_with_weights(tokens, state);
      CHECK(test::max_difference(step.logits, index_select(select(logits, 1, t), 0, rows)) < 1e-5);
      REQUIRE(step.weights.defined() == weights.defined());
      if (!weights.defined()) continue;
      CHECK(test::max_difference(step.weights, index_select(select(weights, 1, t), 0, rows)) <
            1e-5);
    }
  });
}

TEST_CASE("RNNSeq2Seq: padding changes nothing, a row alone gives the same") {
  for_all_options([](const RNNSeq2SeqConfig& config) {
    Rng rng(4);
    const RNNSeq2Seq model(config, rng);
    const NoGrad no_grad;
    const Tensor plain = model(kSource, kLengths, kTargetIn);
    const Tensor padded = ids({{4, 5, 6, 0, 0}, {6, 4, 5, 5, 5}, {5, 0, 3, 6, 2}});
    CHECK(test::max_difference(plain, model(padded, kLengths, kTargetIn)) < 1e-6);
    const Tensor later = ids({{1, 4, 2, 2}, {1, 5, 4, 4}, {1, 3, 1, 1}});
    CHECK(slice(model(kSource, kLengths, later), 1, 0, 2).to_vector<float>() ==
          slice(plain, 1, 0, 2).to_vector<float>());
    for (std::int64_t b = 0; b < 3; ++b) {
      const Tensor source = slice(row(kSource, b), 1, 0, 3 - b);
      const Tensor alone = model(source, ids({3 - static_cast<double>(b)}), row(kTargetIn, b));
      CHECK(test::max_difference(row(plain, b), alone) < 1e-6);
    }
  });
}

TEST_CASE("RNNSeq2Seq is Luong's equations, step by step, with input feeding") {
  Rng rng(5);
  RNNSeq2SeqConfig config = tiny();
  config.cell = CellKind::lstm;
  config.attention = ScoreKind::general;
  config.input_feeding = true;
  const RNNSeq2Seq model = nn::to(RNNSeq2Seq(config, rng), DType::f64);
  const NoGrad no_grad;
  const auto& read = std::get<nn::LSTM>(model.encoder.layers).cells[0];
  const auto& write = std::get<nn::LSTM>(model.decoder.layers).cells[0];
  const Tensor& w = std::get<nn::GeneralScore>(*model.score).weight;
  const Tensor source = row(kSource, 0), target = row(kTargetIn, 0);
  const Tensor zero = zeros({1, 4}, DType::f64);
  LstmState state{zero, zero};
  std::vector<Tensor> memory;
  for (std::int64_t s = 0; s < 3; ++s) {
    state = read(model.source_embedding(select(source, 1, s)), state);
    memory.push_back(state.h);
  }
  const Tensor m = concat(memory);  // [source, hidden]
  Tensor fed = zero;
  const Tensor logits = model(source, ids({3}), target);
  for (std::int64_t t = 0; t < 4; ++t) {
    state = write(concat({model.target_embedding(select(target, 1, t)), fed}, 1), state);
    const Tensor a = softmax(matmul(matmul(state.h, w), transpose(m)));  // [1, source]
    fed = tanh(model.attention_proj->operator()(concat({matmul(a, m), state.h}, 1)));
    CHECK(test::max_difference(model.generator(fed), select(logits, 1, t)) < 1e-12);
  }
}

TEST_CASE("RNNSeq2Seq: a decoder begins where the encoder ended, two directions side by side") {
  Rng rng(6);
  RNNSeq2SeqConfig config = tiny();
  config.num_layers = 2;
  config.bidirectional = true;
  const RNNSeq2Seq model(config, rng);
  const auto encoded =
      model.encoder(model.source_embedding(kSource), kLengths).state.h;  // [4, 3, 2]
  const Tensor h = model.start(kSource, kLengths).hidden.h;
  REQUIRE(h.shape() == Shape{2, 3, 4});
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const Tensor own = select(h, 0, layer);
    CHECK(slice(own, 1, 0, 2).to_vector<float>() ==
          select(encoded, 0, 2 * layer).to_vector<float>());
    CHECK(slice(own, 1, 2).to_vector<float>() ==
          select(encoded, 0, 2 * layer + 1).to_vector<float>());
  }
}

TEST_CASE("RNNSeq2Seq: weights add up to 1, none at padding, and none without attention") {
  Rng rng(7);
  RNNSeq2SeqConfig config = tiny();
  CHECK(!RNNSeq2Seq(config, rng).with_weights(kSource, kLengths, kTargetIn).weights.defined());
  config.attention = ScoreKind::additive;
  const Tensor weights = RNNSeq2Seq(config, rng).with_weights(kSource, kLengths, kTargetIn).weights;
  REQUIRE(weights.shape() == Shape{3, 4, 3});
  CHECK(test::max_difference(sum(weights, {2}), ones({3, 4})) < 1e-6);
  CHECK(max(abs(slice(row(weights, 1), 2, 2))).item() == 0);
  CHECK(max(abs(slice(row(weights, 2), 2, 1))).item() == 0);
  config.source_end = true;
  const Tensor longer = RNNSeq2Seq(config, rng).with_weights(kSource, kLengths, kTargetIn).weights;
  REQUIRE(longer.shape() == Shape{3, 4, 4});
  CHECK(min(slice(row(longer, 2), 2, 0, 2)).item() > 0);
  CHECK(max(abs(slice(row(longer, 2), 2, 2))).item() == 0);
}

TEST_CASE("RNNSeq2Seq: source_end is an end symbol behind each source") {
  Rng rng(8);
  RNNSeq2SeqConfig config = tiny();
  config.bidirectional = true;
  RNNSeq2Seq model(config, rng);
  const Tensor by_hand =
      model(ids({{4, 5, 6, 2}, {6, 4, 2, 0}, {5, 2, 0, 0}}), kLengths + 1, kTargetIn);
  model.config.source_end = true;
  CHECK(model(kSource, kLengths, kTargetIn).to_vector<float>() == by_hand.to_vector<float>());
}

TEST_CASE("RNNSeq2Seq: sources without a token, and batches without a row") {
  for_all_options([](const RNNSeq2SeqConfig& config) {
    Rng rng(9);
    const RNNSeq2Seq model(config, rng);
    const Tensor none = zeros({2, 0}, DType::i64), lengths = ids({0, 0});
    const Tensor target = slice(kTargetIn, 0, 0, 2);
    const Tensor logits = model(none, lengths, target);
    CHECK(logits.shape() == Shape{2, 4, 6});
    CHECK(test::max_difference(logits, model(zeros({2, 3}, DType::i64), lengths, target)) < 1e-6);
    CHECK(max(abs(logits)).item() < 100);  // a NaN would be the largest value
    const Tensor nobody = zeros({0, 3}, DType::i64);
    CHECK(model(nobody, zeros({0}, DType::i64), nobody).shape() == Shape{0, 3, 6});
  });
}

TEST_CASE("RNNSeq2Seq: dropout of embeddings, between layers, before the generator, in training") {
  RNNSeq2SeqConfig config = tiny();
  config.attention = ScoreKind::dot;
  config.num_layers = 2;
  config.embedding_dim = 5;
  config.hidden_size = 6;
  config.dropout = 0.5;
  Rng rng(10);
  const RNNSeq2Seq model(config, rng);
  const Trace trace;
  CHECK(loss_of(model).item() == loss_of(model).item());
  const auto dropped = [&] {
    std::vector<Shape> shapes;
    for (const TraceStep& step : trace.steps()) {
      if (std::string(step.op.name) == "dropout") shapes.push_back(step.outputs[0].shape());
    }
    return shapes;
  };
  CHECK(dropped().empty());
  const TrainingScope training(rng);
  loss_of(model);
  CHECK(dropped() == std::vector<Shape>{{3, 3, 5}, {3, 3, 6}, {3, 4, 5}, {4, 3, 6}, {3, 4, 6}});
}

TEST_CASE("RNNSeq2Seq: a batch is learned by heart, and then decoded") {
  for (const CellKind cell : kCells) {
    for (const ScoreKind attention : kScores) {
      for (const bool more : {false, true}) {
        CAPTURE(nn::choice_name(cell));
        CAPTURE(nn::choice_name(attention));
        CAPTURE(more);
        Rng rng(11);
        RNNSeq2SeqConfig config = tiny();
        config.cell = cell;
        config.attention = attention;
        config.embedding_dim = config.hidden_size = 16;
        config.input_feeding = more && attention != ScoreKind::none;
        config.bidirectional = more;
        config.num_layers = more ? 2 : 1;
        const RNNSeq2Seq model(config, rng);
        train(model, 100);
        CHECK(loss_of(model).item() < 1e-2);
        const auto answers = models::greedy(models::Decoder(model, kSource, kLengths));
        CHECK(answers[0].tokens == std::vector<std::int64_t>{4, 5, 3});
        CHECK(answers[1].tokens == std::vector<std::int64_t>{5});
        CHECK(answers[2].tokens == std::vector<std::int64_t>{3, 4});
      }
    }
  }
}

TEST_CASE("RNNSeq2Seq comes back from its file alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "m.safetensors";
  for_all_options([&](const RNNSeq2SeqConfig& config) {
    if (!in_sample(config)) return;
    Rng rng(12);
    const RNNSeq2Seq model(config, rng);
    models::save_model(path, model);
    const auto loaded = models::load_model<RNNSeq2Seq>(path);
    CHECK(nn::config_metadata(loaded.config) == nn::config_metadata(config));
    CHECK(loaded(kSource, kLengths, kTargetIn).to_vector<float>() ==
          model(kSource, kLengths, kTargetIn).to_vector<float>());
  });
}

TEST_CASE("RNNSeq2Seq: the names of the weights") {
  Rng rng(13);
  RNNSeq2SeqConfig config = tiny();
  config.bidirectional = true;
  config.attention = ScoreKind::general;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : nn::named_parameters(RNNSeq2Seq(config, rng))) {
    names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{
                     "source_embedding.weight", "target_embedding.weight", "encoder.weight_ih_l0",
                     "encoder.weight_hh_l0", "encoder.bias_ih_l0", "encoder.bias_hh_l0",
                     "encoder.weight_ih_l0_reverse", "encoder.weight_hh_l0_reverse",
                     "encoder.bias_ih_l0_reverse", "encoder.bias_hh_l0_reverse",
                     "decoder.weight_ih_l0", "decoder.weight_hh_l0", "decoder.bias_ih_l0",
                     "decoder.bias_hh_l0", "score.weight", "attention_proj.weight",
                     "generator.weight", "generator.bias"});
}

TEST_CASE("RNNSeq2Seq: the number of parameters is that of the arithmetic on paper") {
  for_all_options([](const RNNSeq2SeqConfig& config) {
    Rng rng(14);
    const std::int64_t e = 3, h = 4;
    const std::int64_t gates = std::array{1, 4, 3}[static_cast<std::size_t>(config.cell)];
    const auto cell = [&](std::int64_t in, std::int64_t n) { return gates * n * (in + n + 2); };
    const std::int64_t two = config.bidirectional ? 2 : 1;
    const std::int64_t deeper = config.num_layers - 1;
    const std::int64_t encoder = two * (cell(e, h / two) + deeper * cell(h, h / two));
    const std::int64_t decoder = cell(config.input_feeding ? e + h : e, h) + deeper * cell(h, h);
    const std::int64_t score = std::array<std::int64_t, 6>{
        0, 0, 0, h * h, 2 * h * 2, 2 * h * h + h}[static_cast<std::size_t>(config.attention)];
    const std::int64_t proj = config.attention == ScoreKind::none ? 0 : h * 2 * h;
    CHECK(nn::parameter_count(RNNSeq2Seq(config, rng)) ==
          (7 + 6) * e + encoder + decoder + score + proj + h * 6 + 6);
  });
}

TEST_CASE("RNNSeq2Seq: a config that makes no sense is refused, naming the field") {
  const auto refusal = [](auto&& change) {
    RNNSeq2SeqConfig config = tiny();
    change(config);
    Rng rng(15);
    return test::message_of([&] { RNNSeq2Seq(config, rng); });
  };
  using C = RNNSeq2SeqConfig;
  CHECK(refusal([](C&) {}) == "no error");
  CHECK(refusal([](C& c) { c.source_vocab = 0; }) ==
        "RNNSeq2Seq: source_vocab must be at least 1, got 0");
  CHECK(refusal([](C& c) { c.target_vocab = -1; }) ==
        "RNNSeq2Seq: target_vocab must be at least 1, got -1");
  CHECK(refusal([](C& c) { c.embedding_dim = 0; }) ==
        "RNNSeq2Seq: embedding_dim must be at least 1, got 0");
  CHECK(refusal([](C& c) { c.hidden_size = 0; }) ==
        "RNNSeq2Seq: hidden_size must be at least 1, got 0");
  CHECK(refusal([](C& c) { c.num_layers = 0; }) ==
        "RNNSeq2Seq: num_layers must be at least 1, got 0");
  CHECK(refusal([](C& c) { c.attention_rank = 0; }) ==
        "RNNSeq2Seq: attention_rank must be at least 1, got 0");
  CHECK(refusal([](C& c) { c.hidden_size = 5, c.bidirectional = true; }) ==
        "RNNSeq2Seq: hidden_size must be even when bidirectional, got 5");
  CHECK(refusal([](C& c) { c.input_feeding = true; }) ==
        "RNNSeq2Seq: input_feeding needs an attention, got none");
  for (const double p : {-0.1, 1.0, 1.5, std::nan("")}) {
    CHECK(refusal([p](C& c) { c.dropout = p; }) ==
          fmt::format("RNNSeq2Seq: dropout must be in [0, 1), got {}", p));
  }
}

TEST_CASE("RNNSeq2Seq: inputs that do not fit are refused, naming them") {
  Rng rng(16);
  const RNNSeq2Seq model(tiny(), rng);
  CHECK(test::message_of([&] {
          model.start(ids({4, 5}), kLengths);
        }) == "RNNSeq2Seq: source must be ids [batch, time] and lengths [batch], got [2] and [3]");
  CHECK(test::message_of([&] {
          model.start(kSource, ids({3, 2}));
        }) ==
        "RNNSeq2Seq: source must be ids [batch, time] and lengths [batch], got [3, 3] and [2]");
  CHECK(test::message_of([&] {
          model(kSource, kLengths, ids({{1, 4}}));
        }) == "RNNSeq2Seq: target_in must be [batch, time], got [1, 2] for source [3, 3]");
}
