// Pages that open from disk and need nothing else.
#include "examples/common/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "examples/common/web_files.h"

namespace gradzoo::examples {
namespace {

using Json = nlohmann::ordered_json;

// The library writes U+FFFD for what is not UTF-8.
std::string dumped(const Json& data) {
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string valid_utf8(std::string_view text) {
  return Json::parse(dumped(Json(std::string(text)))).get<std::string>();
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    const auto code = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((code < 32 && c != '\n' && c != '\t') || code == 127) {
          out += "\uFFFD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string script_json(const Json& data) {
  std::string out;
  for (const char c : dumped(data)) {
    // Outside strings JSON has none of these; inside, an escape means the same.
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string page_html(const Page& page, const Json& data) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n";
  out += fmt::format("<title>{}</title>\n<style>\n{}", html_text(page.title), web_file("page.css"));
  for (const std::string& name : page.styles) out += web_file(name);
  out += fmt::format("</style>\n</head>\n<body>\n{}\n", page.body);
  out +=
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", script_json(data));
  out +=
      "<script>\n\"use strict\";\n"
      "const DATA = JSON.parse(document.getElementById(\"data\").textContent);\n";
  for (const std::string& name : page.scripts) out += web_file(name);
  return out + "</script>\n</body>\n</html>\n";
}

void write_page(const std::string& path, const Page& page, const Json& data) {
  const std::string html = page_html(page, data);
  AtomicFile file(path);
  file.write(html);
  file.commit();
}

}  // namespace gradzoo::examples
