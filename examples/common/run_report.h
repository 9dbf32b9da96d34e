// The report of a training run.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "examples/common/data.h"
#include "examples/common/evaluate.h"
#include "examples/common/report.h"
#include "examples/common/run_folder.h"
#include "examples/common/zoo.h"

namespace gradzoo::examples {

/// A run as it stands at its end, or where it was stopped.
struct FinishedRun {
  std::string title;               ///< "reverse: transformer"
  std::string summary;             ///< how it ended
  nlohmann::ordered_json results;  ///< as `train --json` prints them, "model" and more of them
  std::string settings;            ///< settings_text of its options
  const Data& data;
  const ZooModel& model;
  std::optional<Evaluation> evaluation;  ///< of all held-out pairs; none: a few are asked for
  bool diverged = false;                 ///< then its model is asked for nothing
};

/// Writes the folder's report.html: the curves from its metrics, so that a resumed run has all of
/// them. Throws Error, naming the file, when it cannot be written.
void write_run_report(const RunFolder& folder, const FinishedRun& run);

/// The curves of a run's metrics in pictures: loss, accuracy, learning rate, gradient norm.
std::vector<ReportChart> run_charts(const Curves& curves);

}  // namespace gradzoo::examples
