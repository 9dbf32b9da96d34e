// Attention weights by part, layer and head.
#include "examples/common/attention.h"

#include <algorithm>

#include "core/create.h"
#include "core/ops.h"
#include "core/scope.h"
#include "examples/common/blanks.h"
#include "models/score.h"
#include "nn/mask.h"

namespace gradzoo::examples {
namespace {

using Names = std::vector<std::string>;
using Maps = std::vector<AttentionMap>;

Names names_of(const Vocabulary& vocabulary, const Ids& ids) {
  Names names;
  for (const std::int64_t id : ids) names.push_back(vocabulary.token(id));
  return names;
}

// The source, and the answer as it is read and as it is written: ids, tokens and tensors of one
// row.
struct Question {
  Ids source_ids, read_ids;
  Names source, read, written;
  Tensor source_row, length, read_row;

  Question(const ZooCheckpoint& checkpoint, const Ids& ids, const models::Hypothesis& answer)
      : source_ids(ids) {
    const models::Targets targets = models::targets_of({answer});
    read_ids = targets.in.to_vector<std::int64_t>();
    source = names_of(checkpoint.source, source_ids);
    read = names_of(checkpoint.target, read_ids);
    written = names_of(checkpoint.target, targets.out.to_vector<std::int64_t>());
    source_row = from_vector(source_ids, {1, std::ssize(source_ids)});
    length = from_vector(Ids{std::ssize(source_ids)}, {1});
    read_row = targets.in;
  }
};

// What the maps of all heads of a part have in common.
struct Frame {
  AttentionPart part;
  Names queries, keys;
  Tensor may_attend;  // boolean, broadcasts to [1, queries, keys]
  std::int64_t first_step = -1;
};

// A map for each head of `layers`, each [1, heads, queries, keys].
void add_layers(Maps& maps, const Frame& frame, const std::vector<Tensor>& layers) {
  const Shape shape{std::ssize(frame.queries), std::ssize(frame.keys)};
  const Tensor may_attend = expand(frame.may_attend, {1, shape[0], shape[1]});
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::int64_t head = 0; head < layers[layer].size(1); ++head) {
      maps.push_back({frame.part, static_cast<std::int64_t>(layer), head, frame.queries, frame.keys,
                      select(select(layers[layer], 0, 0), 0, head), select(may_attend, 0, 0),
                      frame.first_step});
    }
  }
}

// Every one of n keys is a token: [1, 1, n].
Tensor no_padding(const Names& keys) {
  const std::int64_t n = std::ssize(keys);
  return nn::padding_mask(from_vector(Ids{n}, {1}), n);
}

Maps maps_of(const models::Transformer& model, const ZooCheckpoint&, const Question& q) {
  const models::TransformerAttention all = model.attention(q.source_row, q.length, q.read_row);
  const Tensor mask = no_padding(q.source);
  Maps maps;
  add_layers(maps, {AttentionPart::answer_to_source, q.written, q.source, mask, 0}, all.memory);
  add_layers(maps, {AttentionPart::source, q.source, q.source, mask}, all.encoder);
  add_layers(maps, {AttentionPart::answer, q.read, q.read, nn::causal_mask(std::ssize(q.read)), 0},
             all.decoder);
  return maps;
}

Maps maps_of(const models::RNNSeq2Seq& model, const ZooCheckpoint& checkpoint, const Question& q) {
  if (!model.score) return {};
  Names keys = q.source;
  if (model.config.source_end) keys.push_back(checkpoint.source.token(models::kEos));
  const Tensor weights = model.with_weights(q.source_row, q.length, q.read_row).weights;
  Maps maps;
  add_layers(maps, {AttentionPart::answer_to_source, q.written, keys, no_padding(keys), 0},
             {unsqueeze(weights, 1)});
  return maps;
}

Maps maps_of(const models::DecoderLM& model, const ZooCheckpoint& checkpoint, const Question& q) {
  Ids ids = q.source_ids;
  // A text goes on without the begin symbol.
  ids.insert(ids.end(), q.read_ids.begin() + (checkpoint.continues ? 1 : 0), q.read_ids.end());
  ids.erase(ids.begin(), ids.end() - std::min(std::ssize(ids), model.config.max_length));
  const std::int64_t n = std::ssize(ids), steps = std::ssize(q.read_ids);
  const Names names = names_of(checkpoint.source, ids);
  Maps maps;
  add_layers(
      maps,
      {AttentionPart::sequence, names, names, nn::causal_mask(n), n >= steps ? n - steps : -1},
      model.attention(zeros({1, 0}, DType::i64), zeros({1}, DType::i64), from_vector(ids, {1, n})));
  return maps;
}

Maps maps_of(const models::Encoder& model, const ZooCheckpoint& checkpoint, const Question& q) {
  const Blanks blanks = with_blanks(model.config, q.source_row, q.length);
  Names names = q.source;
  names.push_back(checkpoint.source.token(models::kBos));
  const std::int64_t first_blank = std::ssize(names);
  names.resize(static_cast<std::size_t>(blanks.ids.size(1)), "<mask>");
  Maps maps;
  add_layers(maps,
             {AttentionPart::sequence, names, names,
              nn::padding_mask(blanks.lengths, blanks.ids.size(1)), first_blank},
             model.attention(blanks.ids, blanks.lengths));
  return maps;
}

}  // namespace

Maps attention_maps(const ZooCheckpoint& checkpoint, const Ids& source,
                    const models::Hypothesis& answer) {
  check(!source.empty() && answer.length() > 0,
        "attention_maps: source and answer must have tokens, got {} and {}", source.size(),
        answer.length());
  const NoGrad no_grad;
  const Question question(checkpoint, source, answer);
  return std::visit([&](const auto& model) { return maps_of(model, checkpoint, question); },
                    checkpoint.model);
}

}  // namespace gradzoo::examples
