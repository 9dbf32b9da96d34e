// A view of attention made by hand, with tokens that would be markup or escape sequences.
#pragma once

#include "core/create.h"
#include "examples/common/attention_view.h"

namespace gradzoo::test {

/// Two queries and three keys, the last key of the first query masked.
inline examples::AttentionMap small_map(examples::AttentionPart part, std::int64_t layer,
                                        std::int64_t head) {
  return {part,
          layer,
          head,
          {"<b>", "\033[1m"},
          {"\"&'", "</script>", "x y"},
          tensor({{0.25, 0.75, 0}, {0, 0.5, 0.5}}),
          tensor({{1, 1, 0}, {1, 1, 1}}, DType::boolean),
          0};
}

/// Cross attention of two layers with two heads, and a head of the source.
inline examples::AttentionView small_view() {
  using Part = examples::AttentionPart;
  return {"m<1>",
          "\"&' </script>",
          "<b>",
          {},
          {"<b>"},
          -0.5,
          true,
          {{"<b>", 0.75, {{"<b>", 0.75}, {"&", 0.25}}}, {"<eos>", 1, {{"<eos>", 1}}}},
          {small_map(Part::answer_to_source, 0, 0), small_map(Part::answer_to_source, 0, 1),
           small_map(Part::answer_to_source, 1, 0), small_map(Part::answer_to_source, 1, 1),
           small_map(Part::source, 0, 0)}};
}

}  // namespace gradzoo::test
