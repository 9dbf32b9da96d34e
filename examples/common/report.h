// report.html: what came of a run, on one page: curves, results, samples, settings, attention.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/common/attention_view.h"
#include "examples/common/curves.h"
#include "examples/common/vocabulary.h"

namespace gradzoo::examples {

/// Cells are text; every row has as many as there are heads.
struct ReportTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};

/// Lines in one picture.
struct ReportChart {
  std::string title;
  std::string unit;          ///< of the values: "nats a token"
  bool logarithmic = false;  ///< has a switch for a logarithmic scale
  std::vector<std::pair<std::string, std::vector<Point>>> lines;  ///< by name
};

/// A part of an answer whose tokens are all right or all wrong.
struct AnswerPart {
  std::string text;
  bool right = true;
};
/// The answer in parts: a token is right that is the target's in the same place.
std::vector<AnswerPart> answer_parts(const Vocabulary& vocabulary, const Ids& answer,
                                     const Ids& target);

struct ReportSample {
  std::string model;  ///< empty: there is only one
  std::string source, wanted;
  std::vector<AnswerPart> answer;
  std::optional<bool> right;  ///< none: there is more than one good answer
};

struct Report {
  std::string title, summary;
  ReportTable results;
  std::vector<ReportChart> charts;  ///< those without points are left out
  std::string samples_about;        ///< which ones they are
  std::vector<ReportSample> samples;
  std::vector<AttentionView> attention;  ///< of each model that has one
  std::vector<std::pair<std::string, std::string>> settings;
};

/// What the page's script reads. Curves are thinned, long texts cut, and attention for which there
/// is no room is left out but named, so that the page stays small; numbers have six digits.
nlohmann::ordered_json report_json(const Report& report);

/// Writes the page. Throws Error, naming the file, when it cannot be written.
void write_report(const std::string& path, const Report& report);

/// The settings of settings_text (settings.h), line by line.
std::vector<std::pair<std::string, std::string>> settings_rows(const std::string& text);

}  // namespace gradzoo::examples
