// Text in columns: wrapped, cut, in tables, numbers of tensors.
#include "examples/common/walk/text_layout.h"

#include <doctest/doctest.h>

#include "core/create.h"

using namespace gradzoo;
using namespace gradzoo::examples;

TEST_CASE("text: columns are characters") {
  CHECK(columns("abc") == 3);
  CHECK(columns("größe √2") == 8);
  CHECK(columns("字") == 2);
  CHECK(cut("字字字", 5) == "字...");
  CHECK(left("ü", 3) == "ü  ");
  CHECK(right("ü", 3) == "  ü");
  CHECK(cut("größer als", 8) == "größe...");
  CHECK(cut("abc", 3) == "abc");
  CHECK(cut_front("encoder.größe", 8) == "...größe");
  CHECK(cut_front("abc", 3) == "abc");
  CHECK(cut("üüü", 2) == "üü");
  CHECK(printable("a\033[31m\tb") == "a?[31m?b");
}

TEST_CASE("text: wrapping keeps paragraphs, breaks long words, indents what follows") {
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("one\n\ntwo", 9) == Lines{"one", "", "two"});
  CHECK(wrapped("abcdefgh ij", 4) == Lines{"abcd", "efgh", "ij"});
  CHECK(wrapped("  da = dy b c", 9, 4) == Lines{"  da = dy", "    b c"});
  CHECK(wrapped("äö üß", 2) == Lines{"äö", "üß"});
  CHECK(wrapped("", 10) == Lines{""});
}

TEST_CASE("text: tables align numbers to the right and words to the left") {
  CHECK(table_lines({"d", "variance", "word"}, {{"4", "4.0", "a"}, {"16", "-16.25", "bcd"}}, 40) ==
        Lines{"d   variance  word", "4        4.0  a", "16    -16.25  bcd"});
  CHECK(table_lines({"name", "value"}, {{"encoder.weight", "-1.25"}, {"x", "2"}}, 18) ==
        Lines{"name         value", "...r.weight  -1.25", "x                2"});
  CHECK(table_lines({}, {}, 10).empty());
  for (const std::string& line : table_lines({"a", "b"}, {{"long words", "and more"}}, 12)) {
    CHECK(columns(line) <= 12);
  }
}

TEST_CASE("text: a tensor whole while it fits, else statistics") {
  CHECK(number_lines(tensor({1, 2.5}, DType::f64), 30) == Lines{"[1, 2.5]"});
  CHECK(number_lines(tensor({{1, 2}, {3, 4}}, DType::f64), 30) ==
        Lines{"[[1., 2.],", " [3., 4.]]"});
  CHECK(number_lines(tensor({{1, 2}, {3, 4}}, DType::f64), 8) ==
        Lines{"min 1", "mean 2.5", "max 4"});
  CHECK(number_lines(zeros({65}), 60) == Lines{"min 0 mean 0 max 0"});
  CHECK(number_lines(Tensor(), 60) == Lines{"none"});
  CHECK(number_lines(zeros({0, 3}), 60) == Lines{"[]"});
  CHECK(type_text(zeros({2, 3})) == "f32 [2, 3]");
}
