// Answers as text, byte by byte.
#include "examples/common/answer_lines.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/examples/small_zoo.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

// Characters that have a meaning in lines and tables, in pages, and in JSON: ids 4 to 11.
const Vocabulary kCharacters(Level::character, {"a", "\n", "\t", "\r", "\"", "<", "\\", "é"});

Answered two_answers() {
  return {7, "a\"<", {4, 8, 9}, "", {{{4, 5, 6, 7, 4}, -1.25, -0.25, true}, {{}, -2, -2, false}}};
}

}  // namespace

TEST_CASE("answer_line: the best answer, on one line whatever is in it") {
  CHECK(answer_line(two_answers(), kCharacters) == "a\\n\\t\\ra\n");
  CHECK(answer_line({1, "", {}}, kCharacters) == "\n");
  CHECK(answer_line({1, "", {}, "", {{{11, 10}, 0, 0, true}}}, kCharacters) == "é\\\n");
}

TEST_CASE("answer_table: five columns, also where there is no answer") {
  CHECK(answer_table(two_answers(), kCharacters) ==
        "7\t1\t-0.2500\t-1.2500\ta\\n\\t\\ra\n7\t2\t-2.0000\t-2.0000\t\n");
  CHECK(answer_table({3, "", {}}, kCharacters) == "3\t1\t0\t0\t\n");
}

TEST_CASE("B18: answer_json escapes what JSON must, and replaces what is no text") {
  ZooCheckpoint checkpoint = test::small_checkpoint(ModelKind::gru);
  checkpoint.target = kCharacters;
  const std::string line = answer_json(two_answers(), checkpoint, false);
  CHECK(line.find('\n') == line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  CHECK(json["line"] == 7);
  CHECK(json["source"] == "a\"<");
  CHECK(!json.contains("error"));
  REQUIRE(json["answers"].size() == 2);
  const nlohmann::json first = {{"text", "a\n\t\ra"},
                                {"tokens", {"a", "\n", "\t", "\r", "a"}},
                                {"score", -0.25},
                                {"log_prob", -1.25},
                                {"finished", true}};
  CHECK(json["answers"][0] == first);
  CHECK(json["answers"][1]["finished"] == false);
  CHECK(answer_json({2, "a\xff", {}, "byte 2 is not UTF-8"}, checkpoint, true) ==
        "{\"line\":2,\"source\":\"a\xef\xbf\xbd\",\"answers\":[],"
        "\"error\":\"byte 2 is not UTF-8\"}\n");
}

TEST_CASE("answer_json: attention to six decimals") {
  const ZooCheckpoint checkpoint = test::small_checkpoint(ModelKind::gru);
  const Answered answered{1, "a b", {4, 5}, "", {{{6}, -1, -1, true}}};
  const auto json = nlohmann::json::parse(answer_json(answered, checkpoint, true));
  const auto& maps = json["answers"][0]["attention"];
  REQUIRE(maps.size() == 1);
  CHECK(maps[0]["part"] == "answer_to_source");
  CHECK(maps[0]["layer"] == 0);
  CHECK(maps[0]["head"] == 0);
  CHECK(maps[0]["queries"] == std::vector<std::string>{"c", "<eos>"});
  CHECK(maps[0]["keys"] == std::vector<std::string>{"a", "b"});
  REQUIRE(maps[0]["weights"].size() == 2);
  for (const auto& row : maps[0]["weights"]) {
    REQUIRE(row.size() == 2);
    CHECK(row[0].get<double>() + row[1].get<double>() == doctest::Approx(1).epsilon(2e-6));
    CHECK(row[0].dump().size() <= 8);
  }
}
