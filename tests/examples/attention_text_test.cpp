// The heads as block characters.
#include <doctest/doctest.h>

#include <sstream>

#include "examples/common/attention_picture.h"
#include "examples/common/shown_text.h"
#include "tests/core/message.h"
#include "tests/examples/small_view.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::contains;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

AttentionView one_map(const AttentionMap& map) {
  AttentionView view = test::small_view();
  view.maps = {map};
  return view;
}

}  // namespace

TEST_CASE("attention_text: a map to the letter") {
  AttentionMap map;
  map.part = AttentionPart::answer;
  map.queries = {"a", "bc", "d"};
  map.keys = {"a", "b", "c"};
  map.weights = tensor({{1, 0, 0}, {0.74, 0.26, 0}, {0.1, 0.4, 0.5}});
  map.may_attend = tensor({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}, DType::boolean);
  const std::string text = attention_text({one_map(map)}, {});
  const std::string want =
      "Decoder self-attention: the answer looks at itself\n"
      "\n"
      "layer 1, head 1\n"
      "   a b c\n"
      " a ██····\n"
      "bc ▓▓▒▒··\n"
      " d ░░▒▒▓▓\n"
      "entropy 0.51 of 0.60\n"
      "diagonal 0.59\n"
      "anti-diagonal 0.18\n"
      "previous 0.57\n";
  CHECK(contains(text, want));
  CHECK(!contains(text, "\033"));
}

TEST_CASE("attention_text: long labels letter below letter") {
  AttentionMap map = test::small_map(AttentionPart::source, 0, 0);
  map.queries = {"a", "b"};
  map.keys = {"abc", "x", "longest word"};
  map.may_attend = tensor({{1, 1, 1}, {1, 1, 1}}, DType::boolean);
  const std::string text = attention_text({one_map(map)}, {});
  const std::string want =
      "      l\n"
      "      o\n"
      "      n\n"
      "  a   g\n"
      "  b   e\n"
      "  c x …\n"
      "a ▒▒██\n"
      "b   ▓▓▓▓\n";
  CHECK(contains(text, want));
}

TEST_CASE("attention_text: as many heads side by side as there is room for, and no line is wider") {
  const auto row_of_heads = [](const std::string& text) {
    std::size_t most = 0;
    for (const std::string& line : lines_of(text)) {
      std::size_t heads = 0;
      for (std::size_t at = line.find("head "); at != std::string::npos;
           at = line.find("head ", at + 1)) {
        ++heads;
      }
      most = std::max(most, heads);
    }
    return most;
  };
  for (const std::size_t columns : {20, 41, 42, 80}) {
    CAPTURE(columns);
    const std::string text = attention_text({test::small_view()}, {.columns = columns});
    for (const std::string& line : lines_of(text)) CHECK(text_columns(line) <= columns);
    CHECK(row_of_heads(text) == (columns < 42 ? 1 : 2));
  }
}

TEST_CASE("attention_text: of a map that is too wide the first keys, and a line that says so") {
  constexpr std::int64_t n = 50;
  AttentionMap map;
  map.queries.assign(n, "q");
  map.keys.assign(n, "k");
  map.weights = eye(n);
  map.may_attend = ones({n, n}, DType::boolean);
  const std::string wide = attention_text({one_map(map)}, {.columns = 60});
  CHECK(contains(wide, "q " + std::string("█") + "\n"));  // one column each
  CHECK(!contains(wide, "the first"));
  const std::string text = attention_text({one_map(map)}, {.columns = 30});
  CHECK(contains(text, "(the first 28 of 50 keys)"));
  map.keys.assign(n, "字");  // twice as wide as a cell
  CHECK(contains(attention_text({one_map(map)}, {.columns = 60}), "  " + repeated("…", 50) + "\n"));
  for (const std::string& line : lines_of(text)) CHECK(text_columns(line) <= 30);
}

TEST_CASE("B18: attention_text lets no token write to the terminal; colours only when asked for") {
  CHECK(!contains(attention_text({test::small_view()}, {}), "\033"));
  const std::string text = attention_text({test::small_view()}, {.columns = 80, .color = true});
  CHECK(contains(text, "\033[34m"));
  CHECK(!contains(text, "\033[1m"));
  CHECK(contains(text, "\uFFFD[1m"));
}

TEST_CASE("attention_text: what might have been written") {
  const std::string text = attention_text({test::small_view()}, {});
  CHECK(contains(text, "  1 <b>       75.0 %   <b> 75.0 & 25.0\n"));
  CHECK(contains(text, "  2 <eos>    100.0 %   <eos> 100.0\n"));
}
