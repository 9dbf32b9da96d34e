// The report of a training run.
#include "examples/common/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "examples/common/attention_sample.h"
#include "examples/common/search.h"

namespace gradzoo::examples {
namespace {

constexpr std::size_t kSamples = 8;         // of the first pairs, and of those that are wrong
constexpr std::int64_t kContinuation = 60;  // characters

std::vector<Point> curve(const Curves& curves, const std::string& name, double factor = 1) {
  const auto found = curves.find(name);
  if (found == curves.end()) return {};
  std::vector<Point> points = found->second;
  for (Point& point : points) point.value *= factor;
  return points;
}

// The results in words; what is not among them is left out.
ReportTable results_table(const nlohmann::ordered_json& results) {
  enum class Kind { text, number, count, share };
  struct Row {
    const char *key, *words;
    Kind kind;
  };
  constexpr Row rows[] = {
      {"data", "learned", Kind::text},
      {"model", "model", Kind::text},
      {"parameters", "parameters", Kind::count},
      {"steps", "steps", Kind::count},
      {"seconds", "seconds", Kind::number},
      {"loss", "loss of the last step", Kind::number},
      {"valid_loss", "validation loss", Kind::number},
      {"exact_match", "held-out sequences exactly right", Kind::share},
      {"token_accuracy", "held-out tokens right", Kind::share},
      {"exact_match_longest", "longest sequences exactly right", Kind::share},
      {"seed", "seed", Kind::count},
      {"threads", "threads", Kind::count},
  };
  ReportTable table{{"", "value"}, {}};
  for (const Row& row : rows) {
    const auto found = results.find(row.key);
    if (found == results.end() || found->is_null()) continue;
    std::string value;
    if (row.kind == Kind::text) value = found->get<std::string>();
    if (row.kind == Kind::count) value = fmt::format("{}", found->get<std::int64_t>());
    if (row.kind == Kind::number) value = fmt::format("{:.5g}", found->get<double>());
    if (row.kind == Kind::share) value = fmt::format("{:.1f} %", 100 * found->get<double>());
    table.rows.push_back({row.words, value});
  }
  return table;
}

ReportSample sample(const Data& data, const Pair& pair, const Ids& answer) {
  return {"", data.source.decode(pair.source), data.target.decode(pair.target),
          answer_parts(data.target, answer, pair.target), answer == pair.target};
}

// The first held-out pairs, and the first wrong answers among the others.
void add_pairs(Report& report, const FinishedRun& run) {
  std::vector<Pair> pairs = run.data.held_out;
  if (!run.evaluation) pairs.resize(std::min(pairs.size(), kSamples));
  const Evaluation evaluation = run.evaluation ? *run.evaluation : evaluate(run.model, pairs);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool right = evaluation.answers[i] == pairs[i].target;
    if (i >= kSamples && (right || wrong++ >= kSamples)) continue;
    report.samples.push_back(sample(run.data, pairs[i], evaluation.answers[i]));
  }
  report.samples_about =
      fmt::format("Held-out sequences: the first {}", std::min(pairs.size(), kSamples)) +
      (wrong == 0
           ? ""
           : fmt::format(", and the first {} wrong ones after them", std::min(wrong, kSamples))) +
      ". Wrong tokens are underlined.";
}

// How the model continues the beginning of the held-out text.
void add_continuation(Report& report, const FinishedRun& run) {
  const Ids& text = run.data.held_out_text;
  const auto half =
      static_cast<std::ptrdiff_t>(std::min<std::int64_t>(kContinuation, std::ssize(text) / 2));
  const Ids prompt(text.begin(), text.begin() + half);
  const Ids wanted(text.begin() + half, text.begin() + 2 * half);
  const ZooCheckpoint checkpoint{run.model, run.data.source, run.data.target, true};
  const models::Hypothesis answer = continue_text(checkpoint, prompt, {.max_length = half});
  report.samples.push_back({"",
                            run.data.source.decode(prompt),
                            run.data.source.decode(wanted),
                            {{run.data.target.decode(answer.tokens), true}},
                            std::nullopt});
  report.samples_about =
      "The beginning of the held-out text, how it goes on, and how the model continues it.";
}

void add_samples(Report& report, const FinishedRun& run) {
  if (run.data.is_text()) {
    add_continuation(report, run);
  } else {
    add_pairs(report, run);
  }
}

// What the model looks at while it answers a held-out pair, or continues the text.
void add_attention(Report& report, const FinishedRun& run) {
  constexpr std::ptrdiff_t prompt = 16;  // characters
  const ZooCheckpoint checkpoint{run.model, run.data.source, run.data.target, run.data.is_text()};
  std::vector<Ids> sources;
  for (const Pair& pair : run.data.held_out) sources.push_back(pair.source);
  const Ids& text = run.data.held_out_text;
  if (std::ssize(text) >= prompt) sources.emplace_back(text.begin(), text.begin() + prompt);
  auto view = attention_sample(checkpoint, run.results["model"].get<std::string>(), sources);
  if (view) report.attention.push_back(std::move(*view));
}

}  // namespace

std::vector<ReportChart> run_charts(const Curves& curves) {
  return {{"Loss",
           "nats a token",
           true,
           {{"training", curve(curves, "loss")}, {"validation", curve(curves, "valid_loss")}}},
          {"Accuracy",
           "% of the tokens of a training batch",
           false,
           {{"training", curve(curves, "accuracy", 100)}}},
          {"Learning rate", "", false, {{"learning rate", curve(curves, "lr")}}},
          {"Gradient norm",
           "length of the gradient before it is clipped",
           true,
           {{"gradient norm", curve(curves, "gradient_norm")}}}};
}

void write_run_report(const RunFolder& folder, const FinishedRun& run) {
  const auto metrics = read_metrics(folder.metrics());
  const auto own = metrics.find("");
  Report report{
      .title = run.title,
      .summary = run.summary,
      .results = results_table(run.results),
      .charts = own == metrics.end() ? std::vector<ReportChart>{} : run_charts(own->second),
      .samples_about = "",
      .samples = {},
      .attention = {},
      .settings = settings_rows(run.settings)};
  if (!run.diverged) {
    add_samples(report, run);
    add_attention(report, run);
  }
  write_report(folder.report(), report);
}

}  // namespace gradzoo::examples
