// An answer of a model that has just been trained, short enough to look at its attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/common/attention_view.h"

namespace gradzoo::examples {

/// What the model looks at while it answers (greedily) one of the sources: the longest of at most
/// 12 tokens, or else the shortest. None when the model has no attention, no room for an answer, or
/// when no source can be written and read again (it has unknown tokens).
std::optional<AttentionView> attention_sample(const ZooCheckpoint& checkpoint,
                                              const std::string& model,
                                              const std::vector<Ids>& sources);

}  // namespace gradzoo::examples
