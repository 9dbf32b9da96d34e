// Answers as text: lines, a table, or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/common/zoo.h"
#include "models/hypothesis.h"

namespace gradzoo::examples {

/// A line that was read and what became of it.
struct Answered {
  std::int64_t line = 0;  ///< from 1
  std::string text;
  Ids ids;                                    ///< of the text; empty: nothing was asked
  std::string fault{};                        ///< why it could not be answered
  std::vector<models::Hypothesis> answers{};  ///< the best first
};

/// The best answer and a line end; empty when there is none. Line ends, carriage returns and tabs
/// in an answer become \n, \r and \t.
std::string answer_line(const Answered& answered, const Vocabulary& target);

/// A line for each answer: line, rank from 1, score, log-probability and answer, with tabs between.
/// Without answers one with an empty answer.
std::string answer_table(const Answered& answered, const Vocabulary& target);

/// One object, on one line: {"line", "source", "answers": [{"text", "tokens", "score", "log_prob",
/// "finished"}]}, with "error" when there is a fault, and with `attention` for each answer the
/// "attention": [{"part", "layer", "head", "queries", "keys", "weights"}] of attention_maps.
std::string answer_json(const Answered& answered, const ZooCheckpoint& checkpoint, bool attention);

}  // namespace gradzoo::examples
