// A comparison as a table, as JSON, and as a page.
#include "examples/common/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "examples/common/report.h"

namespace gradzoo::examples {
namespace {

using Ranges = std::vector<ComparisonRange>;

// The cells of a row as the table and the page show them.
std::vector<std::string> cells(const ComparisonRow& row) {
  const bool learned = row.steps_to_learn > 0;
  std::vector<std::string> all{row.name, fmt::format("{}", row.parameters),
                               learned ? fmt::format("{}", row.steps_to_learn) : "never",
                               learned ? fmt::format("{:.1f}", row.seconds_to_learn) : "never",
                               fmt::format("{:.0f}", row.tokens_per_second)};
  for (const Evaluation& range : row.ranges) {
    all.push_back(fmt::format("{:.1f} %", 100 * range.exact_match));
    all.push_back(fmt::format("{:.1f} %", 100 * range.token_accuracy));
  }
  return all;
}

ReportTable table_of(const Comparison& comparison) {
  ReportTable table{
      {"model", "parameters", "steps to 99\u00a0%", "seconds to 99\u00a0%", "tokens/s"}, {}};
  for (const ComparisonRange& range : comparison.ranges) {
    table.heads.push_back(range.name + ": exact");
    table.heads.push_back(range.name + ": tokens");
  }
  for (const ComparisonRow& row : comparison.rows) table.rows.push_back(cells(row));
  return table;
}

// One picture with a line for each model that has such values: those of `rows` first, in their
// order, then others.
ReportChart chart_of(const std::map<std::string, Curves>& metrics, const Comparison& comparison,
                     const std::string& key, ReportChart chart, double factor = 1) {
  std::vector<std::string> names;
  for (const ComparisonRow& row : comparison.rows) names.push_back(row.name);
  for (const auto& [name, curves] : metrics) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    const auto model = metrics.find(name);
    if (model == metrics.end() || !model->second.contains(key)) continue;
    std::vector<Point> points = model->second.at(key);
    for (Point& point : points) point.value *= factor;
    chart.lines.emplace_back(name, std::move(points));
  }
  return chart;
}

// What each model answers to the first sequences of the first range.
void add_samples(Report& report, const Comparison& comparison, const Vocabulary& vocabulary) {
  constexpr std::size_t count = 2;
  const std::vector<Pair>& pairs = comparison.ranges.front().pairs;
  for (std::size_t i = 0; i < std::min(count, pairs.size()); ++i) {
    for (const ComparisonRow& row : comparison.rows) {
      const Ids& answer = row.ranges.front().answers[i];
      report.samples.push_back(
          {row.name, vocabulary.decode(pairs[i].source), vocabulary.decode(pairs[i].target),
           answer_parts(vocabulary, answer, pairs[i].target), answer == pairs[i].target});
    }
  }
  report.samples_about =
      "What each model answers to the same held-out sequences; wrong tokens are underlined.";
}

}  // namespace

void print_table(const Comparison& comparison) {
  fmt::print("{:<16} {:>10} {:>9} {:>9} {:>9}", "", "", "to 99 %", "to 99 %", "");
  for (const ComparisonRange& range : comparison.ranges) fmt::print("  {:^15}", range.name);
  fmt::print("\n{:<16} {:>10} {:>9} {:>9} {:>9}", "model", "parameters", "steps", "seconds",
             "tokens/s");
  for (std::size_t i = 0; i < comparison.ranges.size(); ++i) {
    fmt::print("  {:>7} {:>7}", "exact", "tokens");
  }
  fmt::print("\n");
  for (const ComparisonRow& row : comparison.rows) {
    const std::vector<std::string> all = cells(row);
    fmt::print("{:<16} {:>10} {:>9} {:>9} {:>9}", all[0], all[1], all[2], all[3], all[4]);
    for (std::size_t i = 5; i < all.size(); i += 2) fmt::print("  {:>7} {:>7}", all[i], all[i + 1]);
    fmt::print("\n");
  }
}

nlohmann::ordered_json comparison_json(const ComparisonRow& row, const Ranges& ranges) {
  nlohmann::ordered_json json = {{"model", row.name},
                                 {"parameters", row.parameters},
                                 {"steps_to_99", row.steps_to_learn},
                                 {"seconds_to_99", row.seconds_to_learn},
                                 {"seconds", row.seconds},
                                 {"tokens_per_second", row.tokens_per_second}};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    json["lengths"][ranges[i].name] = {{"exact_match", row.ranges[i].exact_match},
                                       {"token_accuracy", row.ranges[i].token_accuracy}};
  }
  return json;
}

void write_comparison_report(const RunFolder& folder, const Comparison& comparison,
                             const Vocabulary& vocabulary, const std::string& settings) {
  const auto metrics = read_metrics(folder.metrics());
  const auto chart = [&](const char* key, ReportChart empty, double factor = 1) {
    return chart_of(metrics, comparison, key, std::move(empty), factor);
  };
  Report report{
      .title = comparison.title,
      .summary = comparison.about,
      .results = table_of(comparison),
      .charts = {chart("loss", {"Training loss", "nats a token", true, {}}),
                 chart("accuracy", {"Accuracy", "% of the tokens of a training batch", false, {}},
                       100),
                 chart("exact_match",
                       {"Held-out sequences exactly right",
                        "%, at each look until 99 % are right",
                        false,
                        {}},
                       100),
                 chart("gradient_norm",
                       {"Gradient norm", "length of the gradient before it is clipped", true, {}}),
                 chart("lr", {"Learning rate", "", false, {}})},
      .samples_about = "",
      .samples = {},
      .attention = {},
      .settings = settings_rows(settings)};
  add_samples(report, comparison, vocabulary);
  for (const ComparisonRow& row : comparison.rows) {
    if (row.attention) report.attention.push_back(*row.attention);
  }
  write_report(folder.report(), report);
}

}  // namespace gradzoo::examples
