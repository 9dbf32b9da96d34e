// Pages: whatever a text holds, it stays text, and nothing on a page is loaded from elsewhere.
#include "examples/common/page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;

TEST_CASE("B18, VIS1: text is escaped for elements and attributes") {
  CHECK(html_text("x<script>alert(1)</script>") == "x&lt;script&gt;alert(1)&lt;/script&gt;");
  CHECK(html_text("<!--#exec") == "&lt;!--#exec");
  CHECK(html_text("\" ' & &amp;") == "&quot; &#39; &amp; &amp;amp;");
  CHECK(html_text("größer \xE2\x82\xAC") == "größer \xE2\x82\xAC");
  CHECK(html_text(std::string("a\0b\x01\x7F\n\t", 7)) == "a\uFFFDb\uFFFD\uFFFD\n\t");
  CHECK(html_text("a\xFFz\xC3") == "a\uFFFDz\uFFFD");
}

TEST_CASE("B18: JSON in a script cannot end it, and reads back the same") {
  const nlohmann::ordered_json data = {{"</script><!--", "<script>&\"'\\"}, {"n", {1.5, -2, true}}};
  const std::string text = script_json(data);
  CHECK(text.find_first_of("<>&") == std::string::npos);
  CHECK(nlohmann::ordered_json::parse(text) == data);
  CHECK(nlohmann::json::parse(script_json({"a\xFFz"}))[0] == "a\uFFFDz");
}

TEST_CASE("page: styles, scripts and data stand inside, and nothing may be loaded") {
  const Page page{.title = "A & B", .body = "<main></main>", .scripts = {"dom.js"}, .styles = {}};
  const std::string html = page_html(page, {{"key", "</script>"}});
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.find("<title>A &amp; B</title>") != std::string::npos);
  CHECK(html.find("function element(") != std::string::npos);
  CHECK(html.find("--accent:") != std::string::npos);
  CHECK(html.find("default-src 'none'") != std::string::npos);
  CHECK(html.find("{\"key\":\"\\u003c/script\\u003e\"}") != std::string::npos);
  CHECK(html.find("http://") == html.rfind("http://www.w3.org/2000/svg"));  // a name, no address
  CHECK(html.find("https://") == std::string::npos);
  CHECK_THROWS_WITH_AS(page_html({.title = "", .body = "", .scripts = {"no.js"}, .styles = {}}, {}),
                       doctest::Contains("no.js"), Error);
}

TEST_CASE("page: a file is written whole, or an error names it") {
  const test::TemporaryDirectory directory;
  const Page page{.title = "T", .body = "", .scripts = {}, .styles = {}};
  write_page(directory / "page.html", page, {});
  CHECK(test::read_bytes(directory / "page.html") == page_html(page, {}));
  CHECK_THROWS_WITH_AS(write_page(directory / "no/page.html", page, {}),
                       doctest::Contains("no/page.html"), Error);
}
