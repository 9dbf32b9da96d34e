// Vocabularies: tokens, ids, and both ways between them.
#include "examples/common/vocabulary.h"

#include <doctest/doctest.h>

#include "core/error.h"

using namespace gradzoo;
using namespace gradzoo::examples;

TEST_CASE("words are what stands between blanks, characters are code points") {
  CHECK(tokenize(Level::word, "  the\tcat  sat ") == std::vector<std::string>{"the", "cat", "sat"});
  CHECK(tokenize(Level::word, " \t ").empty());
  CHECK(tokenize(Level::character, "né €") == std::vector<std::string>{"n", "é", " ", "€"});
  CHECK(tokenize(Level::character, "").empty());
}

TEST_CASE("a vocabulary counts: frequent tokens first, then by their bytes") {
  const Vocabulary words = Vocabulary::of_lines(Level::word, {"b a c", "c b d", "c"});
  CHECK(words.size() == 8);
  CHECK(words.decode({4, 5, 6, 7}) == "c b a d");
  CHECK(words.encode("a nosuch c") == Ids{6, 3, 4});
  CHECK(Vocabulary::of_lines(Level::word, {"b a c", "c b d", "c"}, 2).size() == 6);
  CHECK(words.decode({1, 4, 3, 2, 0}) == "<bos> c <unk> <eos> <pad>");
  CHECK_THROWS_WITH_AS(words.decode({8}), "vocabulary: id 8 is not one of the 8", Error);
  CHECK_THROWS_AS(words.decode({-1}), Error);
}

TEST_CASE("text that looks like a special token is text") {
  const Vocabulary some = Vocabulary::of_lines(Level::word, {"a"});
  CHECK(some.encode("<eos> a <pad>") == Ids{3, 4, 3});
  const Vocabulary with = Vocabulary::of_lines(Level::word, {"<eos> <eos> a"});
  CHECK(with.encode("<eos> a") == Ids{4, 5});
}

TEST_CASE("characters keep every code point whole") {
  const Vocabulary letters = Vocabulary::of_lines(Level::character, {"日本語 text"});
  CHECK(letters.decode(letters.encode("語本 txet日")) == "語本 txet日");
  CHECK(letters.encode("語").size() == 1);
}

TEST_CASE("a vocabulary is saved as JSON and read back, whatever its tokens") {
  const Vocabulary odd(Level::word, {"\"", "\\", "</script>", "é", "<pad>"});
  const Vocabulary back = Vocabulary::from_json(odd.to_json(), "file");
  CHECK(back.to_json() == odd.to_json());
  CHECK(back.encode("é </script>") == odd.encode("é </script>"));
  CHECK(Vocabulary::from_json(Vocabulary(Level::character, {" ", "\t"}).to_json(), "x").level() ==
        Level::character);
  for (const char* text : {"", "{", "[]", "{\"level\": \"word\"}", "{\"level\": 1, \"tokens\": []}",
                           "{\"level\": \"byte\", \"tokens\": []}",
                           "{\"level\": \"word\", \"tokens\": [\"a\", \"a\"]}"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(Vocabulary::from_json(text, "v.json"),
                         doctest::Contains("v.json: not a vocabulary: "), Error);
  }
}

TEST_CASE("a token must be one token") {
  CHECK_THROWS_WITH_AS(Vocabulary(Level::word, {"a b"}), "vocabulary: 'a b' is not one word",
                       Error);
  CHECK_THROWS_AS(Vocabulary(Level::word, {""}), Error);
  CHECK_THROWS_AS(Vocabulary(Level::character, {"ab"}), Error);
  CHECK_THROWS_WITH_AS(Vocabulary(Level::word, {"a", "a"}), "vocabulary: 'a' is there twice",
                       Error);
}

TEST_CASE("B12: malformed UTF-8 is found, at its byte") {
  for (const char* good : {"", "plain", "é€😀", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    CAPTURE(good);
    CHECK(invalid_utf8(good) == std::string::npos);
  }
  CHECK(invalid_utf8(std::string("a\0b", 3)) == 1);
  for (const char* bad : {"ab\x80", "ab\xc0\xaf", "ab\xc1\xbf", "ab\xe0\x9f\xbf", "ab\xed\xa0\x80",
                          "ab\xf0\x8f\xbf\xbf", "ab\xf4\x90\x80\x80", "ab\xf5\x80\x80\x80",
                          "ab\xff", "ab\xe2\x82", "ab\xc3", "ab\xf0\x9f\x98", "ab\xc3\x28"}) {
    CAPTURE(bad);
    CHECK(invalid_utf8(bad) == 2);
  }
}
