// Pages that open from disk and need nothing else: text made safe, and one file put together.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gradzoo::examples {

/// Text as it may stand in HTML and SVG, in an element or in a quoted attribute. Bytes that are
/// not UTF-8, and control characters, become U+FFFD.
std::string html_text(std::string_view text);

/// JSON as it may stand inside <script>: nothing in it can end the element or open a comment.
/// Numbers that JSON has no word for (NaN, infinities) must be strings already.
std::string script_json(const nlohmann::ordered_json& data);

struct Page {
  std::string title;
  std::string body;                  ///< HTML, its texts made safe by html_text
  std::vector<std::string> scripts;  ///< names in examples/web/: they run in this order
  std::vector<std::string> styles;   ///< names in examples/web/, after page.css
};

/// The page as one HTML document: styles and scripts stand inside, `data` is what the scripts find
/// as `DATA`. Its Content-Security-Policy lets nothing be loaded. Throws on an unknown name.
std::string page_html(const Page& page, const nlohmann::ordered_json& data);

/// Writes the whole page or nothing. Throws Error, naming the file, when it cannot be written.
void write_page(const std::string& path, const Page& page, const nlohmann::ordered_json& data);

}  // namespace gradzoo::examples
