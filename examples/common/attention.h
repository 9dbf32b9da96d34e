// What a model looks at while it writes an answer, for any model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/common/zoo.h"
#include "models/hypothesis.h"

namespace gradzoo::examples {

/// Who looks at whom: the source at itself, the answer at itself, or the answer at the source; and,
/// in models that read source and answer as one sequence, that at itself.
enum class AttentionPart { source, answer, answer_to_source, sequence };
constexpr std::array<const char*, 4> choice_names(AttentionPart) {
  return {"source", "answer", "answer_to_source", "sequence"};
}

/// What one head of one layer looks at.
struct AttentionMap {
  AttentionPart part = AttentionPart::sequence;
  std::int64_t layer = 0, head = 0;  ///< both from 0
  std::vector<std::string> queries;  ///< the tokens that look, one for each row
  std::vector<std::string> keys;     ///< the tokens that are looked at, one for each column
  Tensor weights;                    ///< [queries, keys], each row a distribution
  Tensor may_attend;                 ///< boolean [queries, keys]: false where a mask hides the key
  /// The query at which the first token of the answer is written, the next ones following; -1 where
  /// nothing is written.
  std::int64_t first_step = -1;
};

/// All heads of all layers while `answer`, given to the model token by token, follows `source`
/// (ids). In answer_to_source row t is the step that writes token t of the answer, its end symbol
/// being one when it is finished; elsewhere rows and columns are the tokens that are read: for what
/// writes, the begin symbol and all tokens of the answer but the last. A model without attention
/// has no maps. Of a text that has more tokens than the model has places, the last are read.
std::vector<AttentionMap> attention_maps(const ZooCheckpoint& checkpoint, const Ids& source,
                                         const models::Hypothesis& answer);

}  // namespace gradzoo::examples
