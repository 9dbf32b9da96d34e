// Lesson 10: one training step of a whole, if tiny, Transformer.
#include <fmt/core.h>

#include <cmath>

#include "core/create.h"
#include "examples/lessons/lessons.h"
#include "examples/lessons/numbers.h"
#include "models/transformer.h"
#include "nn/clone.h"
#include "optim/adam.h"

namespace gradzoo::examples::lessons {
namespace {

models::TransformerConfig tiny_config() {
  models::TransformerConfig config;
  config.source_vocab = config.target_vocab = 6;
  config.d_model = 4;
  config.num_heads = 2;
  config.num_encoder_layers = config.num_decoder_layers = 2;
  config.d_ff = 4;
  config.dropout = 0;
  config.max_length = 3;
  return config;
}

// A pair to learn: the source backwards. Ids below 3 are padding, begin and end.
struct Pair {
  Tensor source = tensor({{3, 4, 5}}, DType::i64);
  Tensor lengths = tensor({3}, DType::i64);
  Tensor target_in = tensor({{1, 5, 4}}, DType::i64);
  Tensor target_out = tensor({{5, 4, 3}}, DType::i64);
};

// A part of the model: parameters whose names begin alike.
void show_parts(Lesson& lesson, const models::Transformer& model) {
  WalkTable table{{"part", "parameters", "size of the gradient"}, {}};
  for (const char* part :
       {"source_embedding", "encoder.layers.0", "encoder.layers.1", "target_embedding",
        "decoder.layers.0", "decoder.layers.1", "generator"}) {
    std::int64_t count = 0;
    double squares = 0;
    for (const auto& [name, tensor] : nn::named_parameters(model)) {
      if (!name.starts_with(std::string(part) + ".")) continue;
      count += tensor.numel();
      squares += std::pow(size_of(tensor.grad()), 2);
    }
    table.rows.push_back({part, std::to_string(count), fixed(std::sqrt(squares), 4)});
  }
  lesson.say("Where the gradient arrived",
             "All parts of the model at once, through residual connections, x + part(x), whose "
             "gradient is 1 beside that of the part.\n\n"
             "One gradient is 0: the part of each in_proj_bias that belongs to the keys (its "
             "middle third). It would change all scores of a query alike, and softmax does not "
             "see that.",
             table);
}

}  // namespace

void training_step(Lesson& lesson) {
  const auto model = nn::to(models::Transformer(tiny_config(), lesson.rng()), DType::f64);
  round_in_place(nn::named_parameters(model), 2);
  const Pair pair;
  const auto loss = [&] {
    return model.loss(pair.source, pair.lengths, pair.target_in, pair.target_out);
  };
  Names names = {{"source", pair.source},
                 {"lengths", pair.lengths},
                 {"target_in", pair.target_in},
                 {"target_out", pair.target_out}};
  const nn::NamedTensors parameters = nn::named_parameters(model);
  names.insert(names.end(), parameters.begin(), parameters.end());

  lesson.say(
      "A whole Transformer",
      fmt::format(
          "The encoder-decoder of Vaswani et al. 2017 with everything it has, only small: width 4, "
          "2 heads, 2 + 2 layers, {} parameters. It is to learn to write three tokens backwards: "
          "it reads 3 4 5 and, given <s> 5 4, should predict 5 4 3 (id 1 is <s>).\n\n"
          "Forward: embeddings plus positions, the encoder's layers, the decoder's layers (masked "
          "attention to itself, attention to the encoder, feed-forward), logits, loss. You know "
          "the "
          "parts: attention from lessons 6 and 7, layer norm from lesson 5, embeddings from lesson "
          "9; feed-forward is W2 relu(W1 x + b1) + b2. Guessing evenly among 6 tokens would give "
          "a loss of ln 6 = {:.3f}.",
          nn::parameter_count(model), std::log(6)));
  const double before = lesson.walk("Loss of one pair", names, loss).item();
  show_parts(lesson, model);

  optim::Adam adam(parameters, {.lr = 0.005, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9});
  lesson.update("One step of Adam",
                "Adam (Kingma and Ba 2015) divides the running mean of the gradient by the root of "
                "the running mean of its square. At the first step, when both have seen one "
                "gradient only, that is the gradient's sign: every number moves by lr = 0.005 "
                "against its gradient, be that large or small. Where it is 0, as behind a relu "
                "that let nothing through, nothing moves.",
                parameters, [&] { adam.step(); });
  const NoGrad no_grad;
  const double after = loss().item();
  lesson.say("Did it help?",
             "The loss of the same pair, before and after the step. Training is this, many "
             "thousand times, with other pairs.",
             {{"", "loss"}, {{"before", fixed(before, 4)}, {"after", fixed(after, 4)}}});
}

}  // namespace gradzoo::examples::lessons
