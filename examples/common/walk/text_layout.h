// Text in columns of a terminal: wrapped, cut, set in tables. Widths are columns, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace gradzoo::examples {

using Lines = std::vector<std::string>;

/// How many columns a UTF-8 text takes (text_columns, shown_text.h).
std::size_t columns(std::string_view text);

/// Control characters, which a terminal would obey, become "?".
std::string printable(std::string_view text);

/// The text, or what of it fits before "...".
std::string cut(const std::string& text, std::size_t width);
/// The text, or what of its end fits after "...": of "encoder.0.weight" the part that tells more.
std::string cut_front(const std::string& text, std::size_t width);
/// With blanks after it, or before it, up to a width.
std::string left(const std::string& text, std::size_t width);
std::string right(const std::string& text, std::size_t width);

/// Paragraphs broken at blanks; "\n" ends a line, an empty line a paragraph. Lines after the first
/// begin with `indent` blanks.
Lines wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// A line of heads and one of each row, two blanks between columns. The first column is set to the
/// left, numbers to the right. If there is not enough room, the first column is cut in front.
Lines table_lines(const std::vector<std::string>& heads,
                  const std::vector<std::vector<std::string>>& rows, std::size_t width);

/// The numbers of a tensor: on one line if they fit, as rows if those fit, else statistics.
Lines number_lines(const Tensor& x, std::size_t width);

/// "f64 [2, 3]".
std::string type_text(const Tensor& x);

}  // namespace gradzoo::examples
