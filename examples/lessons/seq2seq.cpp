// Lesson 9: an encoder and a decoder with attention between them.
#include <fmt/core.h>

#include "core/create.h"
#include "core/ops.h"
#include "core/scope.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"
#include "nn/clone.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/linear.h"
#include "nn/rnn_cell.h"

namespace gradzoo::examples::lessons {
namespace {

constexpr std::int64_t kWidth = 2;  // of embeddings and states

// The model of Bahdanau et al. 2015 with plain RNN cells, for one sentence at a time.
struct Seq2Seq {
  nn::Embedding source, target;  // [words, 2]
  nn::RNNCell encoder, decoder;
  nn::Linear query_proj, key_proj;  // W and U
  Tensor v;                         // [2, 1]
  nn::Linear generator;             // [words, 2]

  Seq2Seq(std::int64_t source_words, std::int64_t target_words, Rng& rng)
      : source(source_words, kWidth, rng),
        target(target_words, kWidth, rng),
        encoder(kWidth, kWidth, rng, {.bias = false}),
        decoder(2 * kWidth, kWidth, rng, {.bias = false}),
        query_proj(kWidth, kWidth, rng, {.bias = false}),
        key_proj(kWidth, kWidth, rng, {.bias = false}),
        v(nn::init::normal({kWidth, 1}, 0, 1, rng)),
        generator(kWidth, target_words, rng) {}

  static void fields(auto& self, auto&& visit) {
    visit("source", self.source);
    visit("target", self.target);
    visit("encoder", self.encoder);
    visit("decoder", self.decoder);
    visit("query_proj", self.query_proj);
    visit("key_proj", self.key_proj);
    visit("v", self.v);
    visit("generator", self.generator);
  }
};

// One row of a matrix, still a matrix: [1, width].
Tensor row(const Tensor& x, std::int64_t i) { return slice(x, 0, i, i + 1); }

// Source ids [n] -> the states after each word, [n, 2].
Tensor encode(Lesson& lesson, const Seq2Seq& model, const Tensor& ids) {
  const Scope scope("Encoder");
  const Tensor words = model.source(ids);
  std::vector<Tensor> states;
  Tensor h = zeros({1, kWidth}, DType::f64);
  for (std::int64_t t = 0; t < ids.size(0); ++t) {
    h = model.encoder(row(words, t), h);
    states.push_back(lesson.name(fmt::format("h{}", t + 1), h));
  }
  return lesson.name("h", concat(states));
}

// How much the decoder, in state s [1, 2], takes of each encoder state: softmax over j of
// v^T tanh(W s + U h_j), as [1, n]. `keys` are U h, the same at every step.
Tensor align(const Seq2Seq& model, const Tensor& s, const Tensor& keys) {
  const Scope scope("Attention");
  const Tensor scores = matmul(tanh(model.query_proj(s) + keys), model.v);  // [n, 1]
  return softmax(transpose(scores));
}

struct Decoded {
  Tensor logits;     // [m, words], for the word after each that was given
  Tensor alignment;  // [m, n]
};

// Teacher forcing: target ids [m] begin with <s>.
Decoded decode(Lesson& lesson, const Seq2Seq& model, const Tensor& ids, const Tensor& memory) {
  const Scope scope("Decoder");
  const Tensor words = model.target(ids);
  const Tensor keys = lesson.name("keys", model.key_proj(memory));
  std::vector<Tensor> states, alignment;
  Tensor s = lesson.name("s0", row(memory, memory.size(0) - 1));
  for (std::int64_t t = 0; t < ids.size(0); ++t) {
    const Scope step("Step");
    const Tensor weights = lesson.name(fmt::format("weights{}", t + 1), align(model, s, keys));
    const Tensor context =
        lesson.name(fmt::format("context{}", t + 1), matmul(weights, memory));  // [1, 2]
    s = model.decoder(concat({row(words, t), context}, 1), s);
    states.push_back(lesson.name(fmt::format("s{}", t + 1), s));
    alignment.push_back(weights);
  }
  return {lesson.name("logits", model.generator(concat(states))), concat(alignment)};
}

}  // namespace

void seq2seq(Lesson& lesson) {
  const std::vector<std::string> french = {"le", "chat", "noir"};
  const std::vector<std::string> english = {"the", "black", "cat"};
  const Tensor source = tensor({0, 1, 2}, DType::i64);
  const Tensor target_in = tensor({0, 1, 2}, DType::i64);   // <s> the black
  const Tensor target_out = tensor({1, 2, 3}, DType::i64);  // the black cat
  const Seq2Seq model = nn::to(Seq2Seq(3, 4, lesson.rng()), DType::f64);
  round_in_place(nn::named_parameters(model), 1);

  Names names = {{"source", source}, {"target_in", target_in}, {"target_out", target_out}};
  for (const auto& parameter : nn::named_parameters(model)) names.push_back(parameter);
  lesson.say(
      "From le chat noir to the black cat",
      "An RNN, the encoder, reads the French words into states h_1, h_2, h_3. Another, the "
      "decoder, writes the English ones. Without attention all it would get is the last state. "
      "With it, at each step it compares its own state s with every h_j:\n\n"
      "e_j = v^T tanh(W s + U h_j), weights = softmax(e), context = sum of weights_j h_j "
      "(Bahdanau et al. 2015), and reads the context beside the word before.\n\n"
      "While it learns it is given the right words (teacher forcing): it reads <s>, \"the\", "
      "\"black\" and should write \"the\", \"black\", \"cat\". The loss is the mean cross-entropy "
      "of these three.");
  lesson.walk("A sentence through encoder and decoder", names, [&] {
    return cross_entropy(decode(lesson, model, target_in, encode(lesson, model, source)).logits,
                         target_out);
  });
  lesson.say(
      "The alignment",
      "A row for each word that is written: how much the decoder took of each source word's "
      "state while it wrote it. Nothing is learned yet: the weights come from random numbers. In "
      "a trained model \"black\" would look at \"noir\" and \"cat\" at \"chat\", though nobody "
      "told it: figure 3 of the paper has \"European Economic Area\" and \"zone économique "
      "européenne\" cross like that.\n\n"
      "The states h were used five times: as keys, as the decoder's first "
      "state, and in the context of each of three steps. So five gradients are added up in "
      "them: every step of the decoder speaks to every source word.",
      grid("written", english, french,
           decode(lesson, model, target_in, encode(lesson, model, source)).alignment));
}

}  // namespace gradzoo::examples::lessons
