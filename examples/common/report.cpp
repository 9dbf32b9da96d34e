// The page of a run.
#include "examples/common/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/common/page.h"

namespace gradzoo::examples {
namespace {

using Json = nlohmann::ordered_json;

// A page of less than 2 MB: points of all curves together, points that a screen can tell apart, and
// characters of a text.
constexpr std::size_t kAllPoints = 24'000, kMostPoints = 2'000, kFewestPoints = 20;
constexpr std::size_t kLongestText = 300;
constexpr std::size_t kAttentionBytes = 1'100'000;  // of all models together

// JSON has no word for NaN and infinities: null is a gap in a curve.
Json number(double x) {
  if (!std::isfinite(x)) return nullptr;
  return std::stod(fmt::format("{:.6g}", x));
}

Json line_json(const std::string& name, const std::vector<Point>& points) {
  Json x = Json::array(), y = Json::array();
  for (const Point& point : points) {
    x.push_back(static_cast<std::int64_t>(point.step));
    y.push_back(number(point.value));
  }
  return {{"name", name}, {"x", std::move(x)}, {"y", std::move(y)}};
}

Json charts_json(const std::vector<ReportChart>& charts) {
  std::size_t count = 0;
  for (const ReportChart& chart : charts) count += chart.lines.size();
  const std::size_t most =
      std::clamp(kAllPoints / std::max<std::size_t>(count, 1), kFewestPoints, kMostPoints);
  Json all = Json::array();
  for (const ReportChart& chart : charts) {
    Json lines = Json::array();
    for (const auto& [name, points] : chart.lines) {
      if (!points.empty()) lines.push_back(line_json(name, thinned(points, most)));
    }
    if (lines.empty()) continue;
    all.push_back({{"title", chart.title},
                   {"unit", chart.unit},
                   {"logarithmic", chart.logarithmic},
                   {"lines", std::move(lines)}});
  }
  return all;
}

// At most so many code points; `room` is what is left of them.
std::string cut(const std::string& text, std::size_t& room) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (begins && room-- == 0) {
      room = 0;
      return text.substr(0, i) + "…";
    }
  }
  return text;
}

std::string cut(const std::string& text) {
  std::size_t room = kLongestText;
  return cut(text, room);
}

// [text, is it right?] of each part.
Json parts_json(const std::vector<AnswerPart>& parts) {
  Json all = Json::array();
  std::size_t room = kLongestText;
  for (const AnswerPart& part : parts) {
    const std::string text = cut(part.text, room);
    all.push_back({text, part.right});
    if (text != part.text) break;
  }
  return all;
}

Json table_json(const ReportTable& table) { return {{"heads", table.heads}, {"rows", table.rows}}; }

Json sample_json(const ReportSample& sample) {
  return {{"model", sample.model},
          {"source", cut(sample.source)},
          {"wanted", cut(sample.wanted)},
          {"answer", parts_json(sample.answer)},
          {"right", sample.right ? Json(*sample.right) : Json()}};
}

// The models that there is room for, the first first, and the names of the others.
Json attention_section(const std::vector<AttentionView>& views) {
  Json answers = Json::array(), left_out = Json::array();
  std::size_t bytes = 0;
  for (const AttentionView& view : views) {
    Json answer = attention_json(view);
    const std::size_t size = script_json(answer).size();
    if (bytes + size > kAttentionBytes) {
      left_out.push_back(view.model);
      continue;
    }
    bytes += size;
    answers.push_back(std::move(answer));
  }
  return {{"answers", std::move(answers)}, {"left_out", std::move(left_out)}};
}

}  // namespace

Json report_json(const Report& report) {
  Json samples = Json::array(), settings = Json::array();
  for (const ReportSample& sample : report.samples) samples.push_back(sample_json(sample));
  for (const auto& [name, value] : report.settings) settings.push_back({name, cut(value)});
  return {{"summary", report.summary},
          {"results", table_json(report.results)},
          {"charts", charts_json(report.charts)},
          {"samples_about", report.samples_about},
          {"samples", std::move(samples)},
          {"attention", attention_section(report.attention)},
          {"settings", std::move(settings)}};
}

void write_report(const std::string& path, const Report& report) {
  Page page{
      .title = report.title,
      .body = fmt::format("<h1>{}</h1>\n<main id=\"report\"></main>", html_text(report.title)),
      .scripts = attention_scripts(),
      .styles = attention_styles()};
  for (const char* script : {"chart.js", "report.js"}) page.scripts.emplace_back(script);
  for (const char* style : {"chart.css", "report.css"}) page.styles.emplace_back(style);
  write_page(path, page, report_json(report));
}

std::vector<AnswerPart> answer_parts(const Vocabulary& vocabulary, const Ids& answer,
                                     const Ids& target) {
  const auto right = [&](std::size_t i) { return i < target.size() && answer[i] == target[i]; };
  std::vector<AnswerPart> parts;
  for (std::size_t from = 0; from < answer.size();) {
    std::size_t to = from + 1;
    while (to < answer.size() && right(to) == right(from)) ++to;
    const auto at = [&](std::size_t i) { return answer.begin() + static_cast<std::ptrdiff_t>(i); };
    const bool blank = to < answer.size() && vocabulary.level() == Level::word;
    parts.push_back({vocabulary.decode(Ids(at(from), at(to))) + (blank ? " " : ""), right(from)});
    from = to;
  }
  return parts;
}

std::vector<std::pair<std::string, std::string>> settings_rows(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    const std::size_t equals = line.find(" = ");
    if (equals != std::string::npos) {
      rows.emplace_back(line.substr(0, equals), line.substr(equals + 3));
    }
    from = end + 1;
  }
  return rows;
}

}  // namespace gradzoo::examples
