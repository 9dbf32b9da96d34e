// The answers of a search, what may follow one, and the order of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradzoo::models {

/// An answer, whole or cut. Its length counts the end symbol, and not the begin symbol.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  ///< without begin and end symbol
  double log_prob = 0;               ///< of all tokens, and of the end symbol when finished
  double score = 0;                  ///< what it is ranked by: log_prob / length^alpha
  bool finished = false;             ///< false: cut at the longest length, before an end symbol

  std::int64_t length() const {
    return static_cast<std::int64_t>(tokens.size()) + (finished ? 1 : 0);
  }
};

/// log_prob / length^alpha (Wu et al. 2016, without the 5 they add to the length): alpha 0 ranks by
/// the log-probability, 1 by its mean over the tokens. The larger, the longer the answers.
double length_normalised(double log_prob, std::int64_t length, double alpha);

/// An Error that begins with `op` unless alpha is a number from 0 on.
void check_length_penalty(const char* op, double alpha);

/// The `count` best, the highest score first; of equal ones the first stays first.
void keep_best(std::vector<Hypothesis>& answers, std::int64_t count);

/// A hypothesis (a row of the decoder) and a token more.
struct Continuation {
  double log_prob;  ///< of all tokens
  std::int64_t token;
  std::size_t row;
};
/// The likelier first; of equal ones the one with the lower id, then the one with the lower row.
bool likelier(const Continuation& a, const Continuation& b);

/// The tokens of a hypothesis that went on, with a score: what ended in an end symbol is finished.
Hypothesis answer_of(std::vector<std::int64_t> tokens, const Continuation& next, double alpha);

}  // namespace gradzoo::models
