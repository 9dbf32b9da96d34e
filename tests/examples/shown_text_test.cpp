// Tokens as they can be seen, and the columns they take.
#include "examples/common/shown_text.h"

#include <doctest/doctest.h>

using namespace gradzoo::examples;

TEST_CASE("shown_token: what cannot be seen has a sign, and nothing moves a cursor") {
  CHECK(shown_token("a<b>&\"'") == "a<b>&\"'");
  CHECK(shown_token(" \n\t") == "␣↵⇥");
  CHECK(shown_token("") == "''");
  CHECK(shown_token("\033[31mred\r\x7f") == "\uFFFD[31mred\uFFFD\uFFFD");
  CHECK(shown_token("\u009b2J") == "\uFFFD2J");  // the same sequence in one code point
  CHECK(shown_token("a\u202eb\u200b") == "a\uFFFDb\uFFFD");
  CHECK(shown_token(std::string("a\0b\xff", 4)) == "a\uFFFDb\uFFFD");
  CHECK(shown_token("\uFFFE\uFFFF") == "\uFFFD\uFFFD");  // no characters of XML
  CHECK(shown_token("größe 字😀") == "größe␣字😀");
}

TEST_CASE("text_columns: wide and combining characters") {
  CHECK(text_columns("") == 0);
  CHECK(text_columns("größe") == 5);
  CHECK(text_columns("字😀") == 4);
  CHECK(text_columns("e\u0301") == 1);
  CHECK(text_columns("█·→") == 3);
}

TEST_CASE("cut_text: never more columns than asked for") {
  CHECK(cut_text("abc", 3) == "abc");
  CHECK(cut_text("abcd", 3) == "ab…");
  CHECK(cut_text("abc", 1) == "…");
  CHECK(cut_text("abc", 0) == "");
  CHECK(cut_text("字字字", 4) == "字…");
}
