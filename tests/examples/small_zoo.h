// Every model, small and untrained, with a vocabulary: for the tests of what takes any model.
#pragma once

#include <vector>

#include "core/random.h"
#include "examples/common/tasks.h"
#include "examples/common/zoo.h"

namespace gradzoo::test {

inline const std::vector<examples::ModelKind> kAllKinds{
    examples::ModelKind::transformer, examples::ModelKind::rnn,
    examples::ModelKind::lstm,        examples::ModelKind::gru,
    examples::ModelKind::decoder_lm,  examples::ModelKind::encoder};

/// A model with that config, of the symbols a, b, c, d, e.
inline examples::ZooCheckpoint small_checkpoint(examples::ZooConfig config) {
  const examples::Vocabulary vocabulary = examples::task_vocabulary(examples::Task::copy, 5);
  examples::set_vocabularies(config, vocabulary, vocabulary);
  Rng rng(3);
  return {examples::make_model(config, rng), vocabulary, vocabulary};
}
inline examples::ZooCheckpoint small_checkpoint(examples::ModelKind kind) {
  return small_checkpoint(examples::small_config(kind));
}

}  // namespace gradzoo::test
