// The decoder-only language model.
#include "models/decoder_lm.h"

#include <cmath>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/index.h"
#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "models/config_check.h"
#include "models/right_aligned.h"
#include "nn/loss.h"
#include "nn/mask.h"
#include "nn/module.h"

namespace gradzoo::models {

using nn::operator&;

namespace {

// ids [batch, time], the first column at place `first` -> [batch, time, d_model].
Tensor embed(const DecoderLM& model, const Tensor& ids, const Tensor& padding, std::int64_t first) {
  if (!padding.defined()) return model.embedding(ids, first);
  return model.embedding.at(ids, own_places(padding, first, ids.size(1)));
}

Tensor logits(const DecoderLM& model, const Tensor& x) {
  const Tensor last = model.norm(x);
  return model.generator ? (*model.generator)(last) : linear(last, model.embedding.weight);
}

// What the layers make of source and target, [batch, source + target, d_model]; `apply` is a layer
// under a mask.
template <class Apply>
Tensor through_layers(const DecoderLM& model, const Tensor& source, const Tensor& lengths,
                      const Tensor& target, const Apply& apply) {
  const auto [prefix, padding] = align_right(source, lengths);
  const Tensor ids = concat({prefix, target}, 1);
  const Tensor mask = nn::causal_mask(ids.size(1)) & real_tokens(padding, ids.size(1));
  Tensor x = embed(model, ids, padding, 0);
  for (const auto& layer : model.layers) x = apply(layer, x, mask);
  return x;
}

}  // namespace

DecoderLM::DecoderLM(const DecoderLMConfig& given, Rng& rng) : config(given) {
  check_sizes("DecoderLM", config);
  check_heads("DecoderLM", config.num_heads, config.d_model);
  check_dropout("DecoderLM", config.dropout);
  embedding = TokenEmbedding(config.vocab, config.d_model, config.positions, config.max_length, rng,
                             1, config.dropout);
  const nn::TransformerLayerOptions layer{.d_model = config.d_model,
                                          .num_heads = config.num_heads,
                                          .d_ff = config.d_ff,
                                          .dropout = config.dropout,
                                          .norm_first = true,
                                          .kind = nn::FeedForwardKind::gelu_tanh};
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    layers.emplace_back(layer, rng);
    layers.back().self_attn.positions = attention_positions(config.positions, config.max_length,
                                                            config.d_model / config.num_heads, rng);
  }
  norm = nn::LayerNorm(config.d_model);
  if (!config.tie_embeddings) {
    generator = nn::Linear(config.d_model, config.vocab, rng, {.bias = false});
  }
  // As in GPT-2: matrices normal(0, 0.02), biases 0, and what is added to the residual stream
  // smaller, so that the sum over layers keeps its scale.
  const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(config.num_layers));
  for (const auto& [name, tensor] : nn::named_parameters(*this)) {
    const bool added = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
    if (tensor.dim() == 2) assign(tensor, randn(tensor.shape(), rng) * (added ? residual : 0.02));
    if (name.ends_with("bias")) assign(tensor, zeros_like(tensor));
  }
}

Tensor DecoderLM::operator()(const Tensor& source, const Tensor& lengths,
                             const Tensor& target) const {
  const Scope scope("DecoderLM");
  const Tensor x = through_layers(
      *this, source, lengths, target,
      [](const auto& layer, const Tensor& in, const Tensor& mask) { return layer(in, mask); });
  return logits(*this, slice(x, 1, source.size(1)));  // [b, target, vocab]
}

Tensor DecoderLM::loss(const Tensor& source, const Tensor& lengths, const Tensor& target_in,
                       const Tensor& target_out, double label_smoothing) const {
  return nn::sequence_cross_entropy((*this)(source, lengths, target_in), target_out,
                                    {.label_smoothing = label_smoothing});
}

std::vector<Tensor> DecoderLM::attention(const Tensor& source, const Tensor& lengths,
                                         const Tensor& target) const {
  const Scope scope("DecoderLM");
  std::vector<Tensor> weights;
  through_layers(*this, source, lengths, target,
                 [&](const auto& layer, const Tensor& in, const Tensor& mask) {
                   const nn::Attended result = layer.with_weights(in, mask);
                   weights.push_back(result.weights);
                   return result.context;
                 });
  return weights;
}

void DecoderLMState::select(const Tensor& rows) {
  const NoGrad no_grad;
  for (nn::KvCache& layer : layers) layer.select_rows(rows);
  if (padding.defined()) padding = index_select(padding, 0, rows);
}

DecoderLMState DecoderLM::start(const Tensor& source, const Tensor& lengths) const {
  const NoGrad no_grad;
  const Scope scope("DecoderLM");
  const auto [prefix, padding] = align_right(source, lengths);
  const std::int64_t time = prefix.size(1);
  DecoderLMState state{{}, padding};
  for (const auto& layer : layers) {
    // A short source may be followed by more than a long one.
    state.layers.push_back(layer.make_cache(prefix.size(0), time + config.max_length));
  }
  if (time == 0) return state;
  Tensor x = embed(*this, prefix, padding, 0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    x = layers[i].step(x, state.layers[i], real_tokens(padding, time));
  }
  return state;
}

Tensor DecoderLM::decode_step(const Tensor& tokens, DecoderLMState& state) const {
  const NoGrad no_grad;
  const Scope scope("DecoderLM");
  const std::int64_t place = state.layers.front().length();
  Tensor x = embed(*this, unsqueeze(tokens, 1), state.padding, place);  // [rows, 1, d]
  const Tensor mask = real_tokens(state.padding, place + 1);
  for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i].step(x, state.layers[i], mask);
  return squeeze(logits(*this, x), 1);  // [rows, vocab]
}

}  // namespace gradzoo::models
