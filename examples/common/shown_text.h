// Texts of others in little room: nothing in them moves a cursor, and they are cut where they must.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradzoo::examples {

/// A token as it can be seen: a blank as ␣, a line end as ↵, a tab as ⇥, other control characters,
/// the codes that turn the direction of writing and bytes that are not UTF-8 as U+FFFD. An empty
/// one is shown as ''.
std::string shown_token(std::string_view token);

/// The code points of a text.
std::vector<std::string> code_points(std::string_view text);

/// Columns of a terminal that a text takes: 2 for each wide character (Chinese, Japanese, Korean,
/// emoji), 0 for a combining one.
std::size_t text_columns(std::string_view text);

/// At most so many columns of it, the last one an … when something had to go.
std::string cut_text(std::string_view text, std::size_t columns);

}  // namespace gradzoo::examples
