// Scores and orders.
#include "models/hypothesis.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "models/special_ids.h"

namespace gradzoo::models {

double length_normalised(double log_prob, std::int64_t length, double alpha) {
  return log_prob / std::pow(static_cast<double>(length), alpha);
}

void check_length_penalty(const char* op, double alpha) {
  check(alpha >= 0 && std::isfinite(alpha), "{}: length_penalty must be at least 0, got {}", op,
        alpha);
}

void keep_best(std::vector<Hypothesis>& answers, std::int64_t count) {
  std::stable_sort(answers.begin(), answers.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  answers.resize(std::min(answers.size(), static_cast<std::size_t>(count)));
}

bool likelier(const Continuation& a, const Continuation& b) {
  return std::tie(b.log_prob, a.token, a.row) < std::tie(a.log_prob, b.token, b.row);
}

Hypothesis answer_of(std::vector<std::int64_t> tokens, const Continuation& next, double alpha) {
  Hypothesis answer{std::move(tokens), next.log_prob, 0, next.token == kEos};
  if (!answer.finished) answer.tokens.push_back(next.token);
  answer.score = length_normalised(next.log_prob, answer.length(), alpha);
  return answer;
}

}  // namespace gradzoo::models
