// Reports: what the page is given, in what size, and that no text of a run becomes part of it.
#include "examples/common/report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/create.h"
#include "core/error.h"
#include "examples/common/run_report.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

Report small_report() {
  return {.title = "reverse: transformer",
          .summary = "3 steps",
          .results = {{"", "value"}, {{"steps", "3"}}},
          .charts = {{"Loss", "nats", true, {{"training", {{1, 2.5}, {2, 1.25}}}}}},
          .samples_about = "the first",
          .samples = {{"", "a b", "b a", {{"b ", true}, {"b", false}}, false}},
          .attention = {},
          .settings = {{"lr", "0.1"}}};
}

std::size_t written_size(const Report& report) {
  const test::TemporaryDirectory directory;
  write_report(directory / "report.html", report);
  return test::read_bytes(directory / "report.html").size();
}

}  // namespace

TEST_CASE("report: what the page is given") {
  const nlohmann::ordered_json json = report_json(small_report());
  CHECK(json["summary"] == "3 steps");
  CHECK(json["results"]["heads"].dump() == R"(["","value"])");
  CHECK(json["results"]["rows"].dump() == R"([["steps","3"]])");
  CHECK(json["charts"].dump() == R"([{"title":"Loss","unit":"nats","logarithmic":true,)"
                                 R"("lines":[{"name":"training","x":[1,2],"y":[2.5,1.25]}]}])");
  CHECK(json["samples"].dump() == R"([{"model":"","source":"a b","wanted":"b a",)"
                                  R"("answer":[["b ",true],["b",false]],"right":false}])");
  CHECK(json["settings"].dump() == R"([["lr","0.1"]])");
}

TEST_CASE("report: what is not there") {
  Report report = small_report();
  report.charts = {{"None", "", false, {{"a", {}}, {"b", {}}}},
                   {"One", "", false, {{"a", {}}, {"b", {{1, std::nan("")}, {2, 1.0 / 3}}}}}};
  report.samples[0].right = std::nullopt;
  const nlohmann::ordered_json json = report_json(report);
  REQUIRE(json["charts"].size() == 1);
  CHECK(json["charts"][0]["lines"].dump() == R"([{"name":"b","x":[1,2],"y":[null,0.333333]}])");
  CHECK(json["samples"][0]["right"].is_null());
}

TEST_CASE("report: long runs and long texts stay below 2 MB") {
  Report report = small_report();
  report.charts.clear();
  for (int chart = 0; chart < 5; ++chart) {
    ReportChart all{"Loss", "", false, {}};
    for (int model = 0; model < 20; ++model) {
      std::vector<Point> points;
      for (int i = 0; i < 20'000; ++i) points.push_back({1e8 + i, std::sin(i) / 1e5});
      all.lines.emplace_back("model " + std::to_string(model), std::move(points));
    }
    report.charts.push_back(std::move(all));
  }
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "ä";
  report.samples.assign(100,
                        {"", text, text, {{"short", true}, {text, false}, {text, true}}, false});
  report.settings.assign(100, {"name", text});
  const nlohmann::ordered_json json = report_json(report);
  CHECK(json["charts"][0]["lines"][0]["x"].size() <= 240);
  CHECK(json["charts"][0]["lines"][0]["x"].size() >= 120);
  std::string wanted;
  for (int i = 0; i < 300; ++i) wanted += "ä";
  CHECK(json["samples"][0]["source"] == wanted + "…");
  CHECK(json["samples"][0]["answer"][0][0] == "short");
  CHECK(json["samples"][0]["answer"][1][0] == wanted.substr(2 * 5) + "…");
  CHECK(json["samples"][0]["answer"].size() == 2);
  CHECK(json["settings"][0][1] == wanted + "…");
  CHECK(written_size(report) < 2'000'000);
}

TEST_CASE("report: attention as far as there is room, the others by name") {
  Report report = small_report();
  const auto map_of = [](std::int64_t size) {
    AttentionMap map;
    map.queries.assign(static_cast<std::size_t>(size), "a");
    map.keys = map.queries;
    map.weights = full({size, size}, 1.0 / 3);
    map.may_attend = ones({size, size}, DType::boolean);
    return map;
  };
  for (const std::int64_t size : {300, 2000, 200, 10}) {
    AttentionView view;
    view.model = std::to_string(size);
    view.maps.push_back(map_of(size));
    report.attention.push_back(view);
  }
  const nlohmann::ordered_json json = report_json(report)["attention"];
  REQUIRE(json["answers"].size() == 2);  // what is too large hides nothing behind it
  CHECK(json["answers"][0]["model"] == "300");
  CHECK(json["answers"][1]["model"] == "10");
  CHECK(json["answers"][1]["attention"][0]["weights"][3][4] == 0.333333);
  CHECK(json["left_out"].dump() == R"(["2000","200"])");
  CHECK(written_size(report) < 2'000'000);
}

TEST_CASE("B18, VIS1: texts of a run are data, not part of the page") {
  Report report = small_report();
  const std::string evil = "</script><script>alert(1)</script><!--#exec";
  report.title = evil;
  report.samples = {{evil, evil, evil, {{evil, true}}, true}};
  report.settings = {{"train", evil}};
  report.charts[0].lines[0].first = evil;
  const test::TemporaryDirectory directory;
  write_report(directory / "report.html", report);
  const std::string html = test::read_bytes(directory / "report.html");
  CHECK(html.find("<script>alert") == std::string::npos);
  CHECK(html.find("<!--#exec") == std::string::npos);
  CHECK(html.find("&lt;script&gt;alert(1)") != std::string::npos);  // the title
  CHECK(report_json(report)["samples"][0]["source"] == evil);
}

TEST_CASE("report: a page that cannot be written is named") {
  const test::TemporaryDirectory directory;
  CHECK_THROWS_WITH_AS(write_report(directory / "none/report.html", small_report()),
                       doctest::Contains("none/report.html"), Error);
}

TEST_CASE("report: the parts of an answer that are right, and those that are not") {
  const auto parts_of = [](Level level, const Ids& answer, const Ids& target) {
    std::string text;
    for (const AnswerPart& part :
         answer_parts(Vocabulary(level, {"a", "b", "c"}), answer, target)) {
      text += (part.right ? "[" : "(") + part.text + (part.right ? "]" : ")");
    }
    return text;
  };
  CHECK(parts_of(Level::word, {4, 5, 6}, {4, 5, 6}) == "[a b c]");
  CHECK(parts_of(Level::word, {4, 6, 6, 4}, {4, 5, 6}) == "[a ](c )[c ](a)");
  CHECK(parts_of(Level::word, {5, 4}, {4}) == "(b a)");
  CHECK(parts_of(Level::character, {4, 6, 6, 4}, {4, 5, 6}) == "[a](c)[c](a)");
  CHECK(parts_of(Level::word, {}, {4}).empty());
}

TEST_CASE("report: settings, line by line") {
  const auto rows = settings_rows("lr = 0.1\ntext = a = b\nempty\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].first == "lr");
  CHECK(rows[0].second == "0.1");
  CHECK(rows[1].second == "a = b");
  CHECK(settings_rows("").empty());
}

TEST_CASE("report: the curves of a run, accuracy in percent") {
  const Curves curves = {
      {"loss", {{10, 2}}}, {"valid_loss", {{20, 3}}}, {"accuracy", {{10, 0.25}}}};
  const std::vector<ReportChart> charts = run_charts(curves);
  REQUIRE(charts.size() == 4);
  CHECK(charts[0].lines[0].second[0].value == 2);
  CHECK(charts[0].lines[1].first == "validation");
  CHECK(charts[0].lines[1].second[0].value == 3);
  CHECK(charts[0].logarithmic);
  CHECK(charts[1].lines[0].second[0].value == 25);
  CHECK(charts[3].lines[0].second.empty());
}
