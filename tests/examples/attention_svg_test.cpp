// The heads as SVG: what is drawn, and that every text stays text.
#include <doctest/doctest.h>

#include <string_view>

#include "examples/common/attention_picture.h"
#include "tests/core/message.h"
#include "tests/examples/small_view.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::contains;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("B18, VIS1: attention_svg escapes every text") {
  const std::string svg = attention_svg({test::small_view()});
  CHECK(contains(svg, ">&lt;b&gt;</text>"));
  CHECK(contains(svg, ">&quot;&amp;&#39;</text>"));
  CHECK(contains(svg, ">&lt;/script&gt;</text>"));
  CHECK(contains(svg, ">\uFFFD[1m</text>"));
  CHECK(contains(svg,
                 "m&lt;1&gt;: &quot;&amp;&#39; &lt;/script&gt; → &lt;b&gt;, probability 60.7 %"));
  CHECK(!contains(svg, "<b>"));
  CHECK(!contains(svg, "script>"));
  CHECK(!contains(svg, "\033"));
}

TEST_CASE("attention_svg: weights by their darkness, masked cells hatched, zeros not drawn") {
  AttentionView view = test::small_view();
  view.maps = {view.maps[0]};
  const std::string svg = attention_svg({view});
  CHECK(count(svg, "fill-opacity=\"0.25\"") == 1);
  CHECK(count(svg, "fill-opacity=\"0.75\"") == 1);
  CHECK(count(svg, "fill-opacity=\"0.50\"") == 2);
  CHECK(count(svg, "fill-opacity=") == 4);
  CHECK(count(svg, "class=\"masked\"") == 1);
  CHECK(contains(svg, "entropy 0.63 of 0.90"));
  CHECK(contains(svg, "diagonal 0.38, anti 0.50"));
  CHECK(contains(svg, "previous 0.00"));
}

TEST_CASE("attention_svg: parts in the order they are computed, a row for each layer") {
  const std::string svg = attention_svg({test::small_view(), test::small_view()});
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("Encoder self-attention") < svg.find("Cross attention"));
  CHECK(count(svg, "<title>layer 1, head 1</title>") == 4);
  CHECK(count(svg, "<title>layer 2, head 2</title>") == 2);
  CHECK(count(svg, "<g ") == count(svg, "</g>"));
}
