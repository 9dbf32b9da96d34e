// The encoder-only model.
#include "models/encoder.h"

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/loss.h"
#include "core/ops/matmul.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "models/config_check.h"
#include "nn/init.h"
#include "nn/loss.h"
#include "nn/mask.h"
#include "nn/module.h"

namespace gradzoo::models {
namespace {

// What the layers make of the ids; `apply` is a layer under a mask.
template <class Apply>
Tensor through_layers(const Encoder& model, const Tensor& ids, const Tensor& lengths,
                      const Tensor& segments, const Apply& apply) {
  const Scope scope("Encoder");
  const Tensor kinds = segments.defined() ? segments : zeros_like(ids);
  check(kinds.shape() == ids.shape(), "Encoder: segments must be shaped like ids, got {} and {}",
        kinds.shape(), ids.shape());
  const Tensor summed = model.embedding(ids) + model.segment_embedding(kinds);
  Tensor x = dropout(model.embedding_norm(summed), model.config.dropout);
  const Tensor mask = nn::padding_mask(lengths, ids.size(1));  // [b, 1, t]
  for (const auto& layer : model.layers) x = apply(layer, x, mask);
  return model.final_norm ? (*model.final_norm)(x) : x;
}

}  // namespace

Encoder::Encoder(const EncoderConfig& given, Rng& rng) : config(given) {
  check_sizes("Encoder", config);
  check_heads("Encoder", config.num_heads, config.d_model);
  check_dropout("Encoder", config.dropout);
  const std::int64_t d = config.d_model;
  embedding = TokenEmbedding(config.vocab, d, config.positions, config.max_length, rng);
  segment_embedding = nn::Embedding(config.num_segments, d, rng);
  embedding_norm = nn::LayerNorm(d);
  const nn::TransformerLayerOptions layer{.d_model = d,
                                          .num_heads = config.num_heads,
                                          .d_ff = config.d_ff,
                                          .dropout = config.dropout,
                                          .norm_first = config.norm_first,
                                          .kind = nn::FeedForwardKind::gelu};
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    layers.emplace_back(layer, rng);
    layers.back().self_attn.positions =
        attention_positions(config.positions, config.max_length, d / config.num_heads, rng);
  }
  if (config.norm_first) final_norm.emplace(d);
  token_transform = nn::Linear(d, d, rng);
  token_norm = nn::LayerNorm(d);
  token_bias = nn::init::constant({config.vocab}, 0);
  pooler = nn::Linear(d, d, rng);
  classifier = nn::Linear(d, config.num_classes, rng);
  // As in BERT: matrices normal with standard deviation 0.02, cut at twice that; biases 0.
  for (const auto& [name, tensor] : nn::named_parameters(*this)) {
    if (tensor.dim() == 2) {
      assign(tensor, nn::init::truncated_normal(tensor.shape(), rng,
                                                {.std = 0.02, .low = -0.04, .high = 0.04}));
    }
    if (name.ends_with("bias")) assign(tensor, zeros_like(tensor));
  }
}

Tensor Encoder::operator()(const Tensor& ids, const Tensor& lengths, const Tensor& segments) const {
  return through_layers(
      *this, ids, lengths, segments,
      [](const auto& layer, const Tensor& in, const Tensor& mask) { return layer(in, mask); });
}

std::vector<Tensor> Encoder::attention(const Tensor& ids, const Tensor& lengths,
                                       const Tensor& segments) const {
  std::vector<Tensor> weights;
  through_layers(*this, ids, lengths, segments,
                 [&](const auto& layer, const Tensor& in, const Tensor& mask) {
                   const nn::Attended result = layer.with_weights(in, mask);
                   weights.push_back(result.weights);
                   return result.context;
                 });
  return weights;
}

Tensor Encoder::token_logits(const Tensor& states) const {
  const Scope scope("TokenHead");
  return linear(token_norm(gelu(token_transform(states))), embedding.weight, token_bias);
}

Tensor Encoder::class_logits(const Tensor& states) const {
  const Scope scope("ClassHead");
  const Tensor first = select(states, 1, 0);  // [b, d]
  return classifier(dropout(tanh(pooler(first)), config.dropout));
}

Tensor Encoder::loss(const Tensor& ids, const Tensor& lengths, const Tensor& targets,
                     double label_smoothing) const {
  return nn::sequence_cross_entropy(token_logits((*this)(ids, lengths)), targets,
                                    {.pad = kIgnored, .label_smoothing = label_smoothing});
}

Tensor Encoder::classification_loss(const Tensor& ids, const Tensor& lengths,
                                    const Tensor& classes) const {
  return cross_entropy(class_logits((*this)(ids, lengths)), classes);
}

MaskedTokens mask_tokens(const Tensor& ids, std::int64_t mask_id, std::int64_t first_id,
                         std::int64_t vocab, double p, Rng& rng) {
  check(p >= 0 && p <= 1, "mask_tokens: p must be in [0, 1], got {}", p);
  const Shape& shape = ids.shape();
  const Tensor ordinary = ge(ids, static_cast<double>(first_id));
  const Tensor chosen = logical_and(lt(rand(shape, rng), p), ordinary);
  const Tensor fate = rand(shape, rng);
  const Tensor noise = randint(first_id, vocab, shape, rng);
  const Tensor changed = where(lt(fate, 0.8), full_like(ids, static_cast<double>(mask_id)),
                               where(lt(fate, 0.9), noise, ids));
  return {where(chosen, changed, ids),
          where(chosen, ids, full_like(ids, static_cast<double>(Encoder::kIgnored)))};
}

}  // namespace gradzoo::models
