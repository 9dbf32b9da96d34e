// What a comparison of models came to: as a table, as JSON, and as a page.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "examples/common/attention_view.h"
#include "examples/common/evaluate.h"
#include "examples/common/run_folder.h"
#include "examples/common/vocabulary.h"

namespace gradzoo::examples {

/// Held-out sequences of one range of lengths.
struct ComparisonRange {
  std::string name;  ///< "10 to 20"
  std::vector<Pair> pairs;
};

/// A model, and how it did.
struct ComparisonRow {
  std::string name;
  std::int64_t parameters = 0;
  std::int64_t steps_to_learn = 0;  ///< 0: not learned
  double seconds_to_learn = 0;
  double seconds = 0, tokens_per_second = 0;
  std::vector<Evaluation> ranges;          ///< one for each ComparisonRange
  std::optional<AttentionView> attention;  ///< for the page
};

struct Comparison {
  std::string title, about;  ///< what was learned, and how it was measured
  std::vector<ComparisonRange> ranges;
  std::vector<ComparisonRow> rows;
};

void print_table(const Comparison& comparison);

/// {"model", "parameters", "steps_to_99", …, "lengths": {"10 to 20": {"exact_match",
/// "token_accuracy"}, …}}.
nlohmann::ordered_json comparison_json(const ComparisonRow& row,
                                       const std::vector<ComparisonRange>& ranges);

/// Writes the folder's report.html: the table, the curves of all models from its metrics (those of
/// one that was stopped, too) and what each model answers. Throws Error, naming the file, when it
/// cannot be written.
void write_comparison_report(const RunFolder& folder, const Comparison& comparison,
                             const Vocabulary& vocabulary, const std::string& settings);

}  // namespace gradzoo::examples
