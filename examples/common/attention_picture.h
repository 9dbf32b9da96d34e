// All heads of an answer as a picture: SVG, or characters for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/common/attention_view.h"

namespace gradzoo::examples {

/// One SVG document: for each model and part of the attention a grid, a row for each layer and a
/// column for each head; the darker a cell, the larger its weight, and masked ones are hatched.
/// Texts are escaped.
std::string attention_svg(const std::vector<AttentionView>& views);

struct AttentionTextOptions {
  std::size_t columns = 80;  ///< no line takes more
  bool color = false;        ///< escape sequences for a terminal
};
/// Heat maps of block characters, from blank (below 5 %) to █ (from 75 % on), masked cells as ·, as
/// many heads side by side as there is room for; below them the likeliest tokens of each step. Of a
/// map that is too wide the first keys are shown, and a line says so.
std::string attention_text(const std::vector<AttentionView>& views,
                           const AttentionTextOptions& options);

/// "Encoder self-attention: the source looks at itself".
const char* part_title(AttentionPart part);
/// The parts that a view has, in the order in which they are computed, each once.
std::vector<AttentionPart> parts_of(const AttentionView& view);
/// "transformer: a b c → c b a, probability 99.8 %", with tokens as shown_token shows them.
std::string view_title(const AttentionView& view);

}  // namespace gradzoo::examples
