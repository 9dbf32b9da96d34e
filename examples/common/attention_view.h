// An answer with all that there is to see of it: what every head looks at and what the model might
// have written instead, as data, JSON and a page. attention_picture.h draws it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "examples/common/attention.h"

namespace gradzoo::examples {

/// A step that writes a token, or the end symbol.
struct AnswerStep {
  std::string token;
  double probability = 0;  ///< of that token, given all before it
  /// The likeliest tokens and their probabilities, at most five, the likeliest first; ties by id.
  std::vector<std::pair<std::string, double>> likeliest;
};

struct AttentionView {
  std::string model;  ///< what it is called: "transformer"
  std::string source, answer;
  std::vector<std::string> unknown;  ///< tokens of the source that are read as <unk>, each once
  std::vector<std::string> tokens;   ///< of the answer
  double log_prob = 0;               ///< of the answer: the sum over the steps
  bool finished = false;
  std::vector<AnswerStep> steps;
  std::vector<AttentionMap> maps;  ///< none: a model without attention
};

/// The steps are the model's own probabilities under teacher forcing: over the whole vocabulary,
/// special ids included. Tokens of the source that the model does not know are shown as they are
/// written. Throws as attention_maps does.
AttentionView attention_view(const ZooCheckpoint& checkpoint, const std::string& model,
                             const std::string& source, const models::Hypothesis& answer);

/// Numbers to six decimals: more say nothing about weights in f32.
double rounded(double x);

/// {"part", "layer", "head", "queries", "keys", "weights"}, a row of weights for each query.
nlohmann::ordered_json map_json(const AttentionMap& map);

/// {"model", "source", "unknown", "answer": {"text", "tokens", "log_prob", "finished"}, "steps":
/// [{"token", "probability", "top": [{"token", "probability"}]}], "attention": [...]}: of each map
/// map_json and "masked" (rows of booleans; null where nothing is masked), "first_step" (the query
/// of the first step, or null) and "statistics" {"entropy", "most_entropy", "diagonal",
/// "anti_diagonal", "previous"}, null where there is none. What is not UTF-8 must be replaced by
/// who writes it.
nlohmann::ordered_json attention_json(const AttentionView& view);

/// What belongs into Page::scripts and Page::styles, dom.js included, so that a page can show
/// attentionView(list of attention_json), an element (examples/web/attention.js).
std::vector<std::string> attention_scripts();
std::vector<std::string> attention_styles();

/// A page that shows them, as one HTML document. Throws when it would be larger than a page should
/// be (2 MB).
std::string attention_page(const std::vector<AttentionView>& views);

}  // namespace gradzoo::examples
