// Steps with the model's probabilities, JSON, and the page.
#include "examples/common/attention_view.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/ops.h"
#include "core/scope.h"
#include "examples/common/attention_statistics.h"
#include "examples/common/page.h"
#include "models/score.h"
#include "models/special_ids.h"
#include "nn/config.h"

namespace gradzoo::examples {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLikeliest = 5;
constexpr std::size_t kMostBytes = 2'000'000;  // of a page
constexpr std::int64_t kMostCells = 250'000;   // more do not fit in, whatever they are

// A source and an answer under teacher forcing.
Batch forced(const Ids& source, const models::Targets& targets) {
  const std::int64_t n = std::ssize(source);
  return {from_vector(source, {1, n}), from_vector(Ids{n}, {1}), targets.in, targets.out};
}

// Of a text the last token does what else the begin symbol does, and the last tokens that there
// are places for are read.
Batch continued(const models::DecoderLM& model, const Ids& source, const models::Targets& targets) {
  const std::int64_t steps = targets.in.size(1);
  Ids read = targets.in.to_vector<std::int64_t>();
  read.front() = source.back();
  const std::int64_t before = std::min(std::ssize(source) - 1, model.config.max_length - steps);
  check(before >= 0, "attention: an answer of {} tokens is more than the model's {} places", steps,
        model.config.max_length);
  const Ids prefix(source.end() - 1 - before, source.end() - 1);
  return forced(prefix, {from_vector(read, {1, steps}), targets.out});
}

// log p of every token at every step, [steps, classes].
Tensor step_log_probs(const ZooCheckpoint& checkpoint, const Ids& source,
                      const models::Targets& targets) {
  const Batch batch =
      checkpoint.continues
          ? continued(std::get<models::DecoderLM>(checkpoint.model), source, targets)
          : forced(source, targets);
  const Tensor logits = predict(checkpoint.model, batch).logits;  // [1, steps or more, classes]
  return log_softmax(to(slice(select(logits, 0, 0), 0, 0, targets.out.size(1)), DType::f64));
}

std::vector<AnswerStep> steps_of(const ZooCheckpoint& checkpoint, const Tensor& log_probs,
                                 const Ids& written) {
  const Ordered best = topk(log_probs, std::min(kLikeliest, log_probs.size(1)));
  std::vector<AnswerStep> steps;
  for (std::int64_t t = 0; t < std::ssize(written); ++t) {
    const std::int64_t id = written[static_cast<std::size_t>(t)];
    AnswerStep step{checkpoint.target.token(id), std::exp(log_probs.at({t, id})), {}};
    for (std::int64_t k = 0; k < best.values.size(1); ++k) {
      const auto likely = static_cast<std::int64_t>(best.indices.at({t, k}));
      step.likeliest.emplace_back(checkpoint.target.token(likely),
                                  std::exp(best.values.at({t, k})));
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

// Puts what is written in the place of <unk>. The source comes first in all that it is part of.
void name_unknown(AttentionView& view, const Ids& ids, const std::vector<std::string>& written) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != models::kUnk) continue;
    const bool told =
        std::find(view.unknown.begin(), view.unknown.end(), written[i]) != view.unknown.end();
    if (!told) view.unknown.push_back(written[i]);
    for (AttentionMap& map : view.maps) {
      if (map.part == AttentionPart::answer || map.keys.size() < ids.size()) continue;
      map.keys[i] = written[i];
      if (map.part != AttentionPart::answer_to_source) map.queries[i] = written[i];
    }
  }
}

Json or_null(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(); }

Json statistics_json(const AttentionStatistics& s) {
  return {{"entropy", rounded(s.entropy)},
          {"most_entropy", rounded(s.most_entropy)},
          {"diagonal", or_null(s.diagonal)},
          {"anti_diagonal", or_null(s.anti_diagonal)},
          {"previous", or_null(s.previous)}};
}

// A row for each query; null when nothing is masked.
Json masked_json(const AttentionCells& cells) {
  if (std::find(cells.masked.begin(), cells.masked.end(), true) == cells.masked.end()) return {};
  Json rows = Json::array();
  for (std::int64_t query = 0; query < cells.queries; ++query) {
    Json row = Json::array();
    for (std::int64_t key = 0; key < cells.keys; ++key) row.push_back(cells.is_masked(query, key));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json steps_json(const std::vector<AnswerStep>& steps) {
  Json all = Json::array();
  for (const AnswerStep& step : steps) {
    Json top = Json::array();
    for (const auto& likely : step.likeliest) {
      top.push_back({{"token", likely.first}, {"probability", rounded(likely.second)}});
    }
    all.push_back({{"token", step.token},
                   {"probability", rounded(step.probability)},
                   {"top", std::move(top)}});
  }
  return all;
}

}  // namespace

AttentionView attention_view(const ZooCheckpoint& checkpoint, const std::string& model,
                             const std::string& source, const models::Hypothesis& answer) {
  AttentionView view;
  const Ids ids = checkpoint.source.encode(source);
  view.maps = attention_maps(checkpoint, ids, answer);
  name_unknown(view, ids, tokenize(checkpoint.source.level(), source));
  const NoGrad no_grad;
  const models::Targets targets = models::targets_of({answer});
  view.model = model;
  view.source = source;
  view.answer = checkpoint.target.decode(answer.tokens);
  for (const std::int64_t id : answer.tokens) view.tokens.push_back(checkpoint.target.token(id));
  view.finished = answer.finished;
  const Tensor log_probs = step_log_probs(checkpoint, ids, targets);
  view.log_prob = sum(gather(log_probs, 1, transpose(targets.out, 0, 1))).item();
  view.steps = steps_of(checkpoint, log_probs, targets.out.to_vector<std::int64_t>());
  return view;
}

double rounded(double x) { return std::round(x * 1e6) / 1e6; }

Json map_json(const AttentionMap& map) {
  const AttentionCells cells(map);
  Json rows = Json::array();
  for (std::int64_t query = 0; query < cells.queries; ++query) {
    Json row = Json::array();
    for (std::int64_t key = 0; key < cells.keys; ++key) {
      row.push_back(rounded(cells.weight(query, key)));
    }
    rows.push_back(std::move(row));
  }
  return {{"part", nn::choice_name(map.part)},
          {"layer", map.layer},
          {"head", map.head},
          {"queries", map.queries},
          {"keys", map.keys},
          {"weights", std::move(rows)}};
}

Json attention_json(const AttentionView& view) {
  Json maps = Json::array();
  for (const AttentionMap& map : view.maps) {
    Json json = map_json(map);
    json["masked"] = masked_json(AttentionCells(map));
    json["first_step"] = map.first_step < 0 ? Json() : Json(map.first_step);
    json["statistics"] = statistics_json(attention_statistics(map));
    maps.push_back(std::move(json));
  }
  return {{"model", view.model},
          {"source", view.source},
          {"unknown", view.unknown},
          {"answer",
           {{"text", view.answer},
            {"tokens", view.tokens},
            {"log_prob", rounded(view.log_prob)},
            {"finished", view.finished}}},
          {"steps", steps_json(view.steps)},
          {"attention", std::move(maps)}};
}

std::vector<std::string> attention_scripts() {
  return {
      "dom.js",      "heatmap.js", "attention_words.js", "attention_lines.js", "attention_steps.js",
      "attention.js"};
}
std::vector<std::string> attention_styles() { return {"heatmap.css", "attention.css"}; }

std::string attention_page(const std::vector<AttentionView>& views) {
  std::int64_t cells = 0;
  for (const AttentionView& view : views) {
    for (const AttentionMap& map : view.maps) cells += map.weights.numel();
  }
  check(cells <= kMostCells, "{} weights are too many for a page: a shorter text has fewer", cells);
  Json answers = Json::array();
  for (const AttentionView& view : views) answers.push_back(attention_json(view));
  Page page{.title = "What the model looks at",
            .body = "<!-- Made by gradzoo attention. -->\n<h1>What the model looks at</h1>",
            .scripts = attention_scripts(),
            .styles = attention_styles()};
  page.scripts.push_back("attention_page.js");
  std::string html = page_html(page, {{"answers", std::move(answers)}});
  check(html.size() <= kMostBytes, "a page of {} bytes is too large: a shorter text has fewer",
        html.size());
  return html;
}

}  // namespace gradzoo::examples
