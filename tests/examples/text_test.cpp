// Text files: every line is used or reported, never dropped.
#include "examples/common/text.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using gradzoo::test::write_bytes;

namespace {

// The file's lines as "NUMBER:TEXT".
std::vector<std::string> numbered(const Lines& lines) {
  std::vector<std::string> all;
  for (const TextLine& line : lines.good)
    all.push_back(fmt::format("{}:{}", line.number, line.text));
  return all;
}

}  // namespace

TEST_CASE(
    "B12, TXT3: lines end with \\n or \\r\\n, a byte order mark is no text, blank lines count") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "a.txt";
  write_bytes(path, "\xef\xbb\xbfone\r\n\ntwo\n\r\nthree");
  const Lines lines = read_lines(path);
  CHECK(numbered(lines) == std::vector<std::string>{"1:one", "2:", "3:two", "4:", "5:three"});
  CHECK(lines.count == 5);
  write_bytes(path, "last line ended\n");
  CHECK(read_lines(path).count == 1);
}

TEST_CASE("B12: invalid bytes are reported with line and byte") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "a.txt";
  write_bytes(path, std::string("good\nab\xff"
                                "c\nn\0l\nfine\n",
                                18));
  const Lines lines = read_lines(path);
  CHECK(numbered(lines) == std::vector<std::string>{"1:good", "4:fine"});
  REQUIRE(lines.bad.size() == 2);
  CHECK(to_text(lines.bad[0]) == path + ":2: byte 3 is not UTF-8");
  CHECK(to_text(lines.bad[1]) == path + ":3: byte 2 is not UTF-8");
  CHECK(lines.count == 4);
}

TEST_CASE("B06, B10: a file that is missing, a folder, or empty is an error naming it") {
  const test::TemporaryDirectory folder;
  CHECK_THROWS_WITH_AS(read_lines(folder / "none"), doctest::Contains("none"), Error);
  CHECK_THROWS_WITH_AS(read_lines(folder.path()), doctest::Contains(folder.path().c_str()), Error);
  CHECK_THROWS_AS(read_lines(""), Error);
  const std::string path = folder / "empty.txt";
  for (const char* text : {"", "\xef\xbb\xbf"}) {
    write_bytes(path, text);
    CHECK_THROWS_WITH_AS(read_lines(path), (path + ": the file is empty").c_str(), Error);
  }
}

TEST_CASE("TXT5, TXT6: parallel text in two columns: each line is a pair or a reason") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "a.tsv";
  write_bytes(path,
              "a b\tc\n"        // 1
              "no tab\n"        // 2
              "x\ty\tz\n"       // 3
              "left\t\n"        // 4
              " \tright\n"      // 5
              "a b c d\tx\n"    // 6: four tokens
              "b\ta b c d e\n"  // 7: five tokens
              "\xff\tx\n"       // 8
              "\n"              // 9
              "last\tone");     // 10
  const ParallelText text = read_tsv(path, {.max_length = 3});
  REQUIRE(text.pairs.size() == 2);
  CHECK(text.pairs[0].line == 1);
  CHECK(text.pairs[0].source == "a b");
  CHECK(text.pairs[0].target == "c");
  CHECK(text.pairs[1].line == 10);
  const std::vector<std::string> wanted{
      ":2: 1 columns, must be 2",
      ":3: 3 columns, must be 2",
      ":4: the target is empty",
      ":5: the source is empty",
      ":6: the source has 4 tokens, more than 3",
      ":7: the target has 5 tokens, more than 3",
      ":8: byte 1 is not UTF-8",
      ":9: 1 columns, must be 2",
  };
  REQUIRE(text.bad.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(to_text(text.bad[i]) == path + wanted[i]);
  // By characters "a b" has three tokens, and the pair of line 10 four and three.
  CHECK(read_tsv(path, {.level = Level::character, .max_length = 3}).pairs.size() == 1);
}

TEST_CASE("B10: no training on nothing") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "a.tsv";
  write_bytes(path, "\n\n");
  CHECK_THROWS_WITH_AS(
      read_tsv(path),
      (path + ": no line can be used, the first because: " + path + ":1: 1 columns, must be 2")
          .c_str(),
      Error);
}

TEST_CASE("B11: two files belong together line by line, or not at all") {
  const test::TemporaryDirectory folder;
  const std::string left = folder / "left.txt", right = folder / "right.txt";
  write_bytes(left, "a\nb\xff\n\nd\n");
  write_bytes(right, "1\n2\n3\n\n");
  const ParallelText text = read_aligned(left, right);
  REQUIRE(text.pairs.size() == 1);
  CHECK(text.pairs[0].source == "a");
  CHECK(text.pairs[0].target == "1");
  REQUIRE(text.bad.size() == 3);
  CHECK(to_text(text.bad[0]) == left + ":2: byte 2 is not UTF-8");
  CHECK(to_text(text.bad[1]) == left + ":3: the source is empty");
  CHECK(to_text(text.bad[2]) == right + ":4: the target is empty");
  write_bytes(right, "1\n2\n3\n");
  CHECK_THROWS_WITH_AS(
      read_aligned(left, right),
      (left + " has 4 lines and " + right + " has 3: they do not belong together").c_str(), Error);
}

TEST_CASE("a tab inside a line of two files is a blank between words") {
  const test::TemporaryDirectory folder;
  write_bytes(folder / "s", "a\tb\n");
  write_bytes(folder / "t", "c\n");
  const ParallelText text = read_aligned(folder / "s", folder / "t");
  CHECK(tokenize(Level::word, text.pairs.at(0).source).size() == 2);
}
