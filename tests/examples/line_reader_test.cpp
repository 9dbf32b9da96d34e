// Lines as they come.
#include "examples/common/line_reader.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/core/temporary.h"

using namespace gradzoo;
using examples::LineReader;
using test::message_of;
using test::write_bytes;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  while (const auto line = reader.next()) lines.push_back(*line);
  CHECK(reader.number() == static_cast<std::int64_t>(lines.size()));
  return lines;
}

}  // namespace

TEST_CASE("B12, TXT3: LineReader gives each line without its end, blank ones too") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "a.txt";
  using Lines = std::vector<std::string>;
  write_bytes(path, "\xef\xbb\xbfone\r\n\ntwo\n\r\n\xef\xbb\xbfthree");
  CHECK(lines_of(path) == Lines{"one", "", "two", "", "\xef\xbb\xbfthree"});
  write_bytes(path, std::string("a\0b\n\xff\n", 6));
  CHECK(lines_of(path) == Lines{std::string("a\0b", 3), "\xff"});
  write_bytes(path, "");
  CHECK(lines_of(path).empty());
  write_bytes(path, std::string(100'000, 'x') + "\n");
  CHECK(lines_of(path) == Lines{std::string(100'000, 'x')});
}

TEST_CASE("B06: LineReader names what it cannot read, and why") {
  const test::TemporaryDirectory folder;
  CHECK(message_of([&] { LineReader(folder / "none"); }) ==
        fmt::format("'{}': No such file or directory", folder / "none"));
  CHECK(message_of([] { LineReader(""); }) == "'': No such file or directory");
  const std::string path = folder / ".";
  LineReader directory(path);
  CHECK(message_of([&] { directory.next(); }) == path + ": Is a directory");
}
