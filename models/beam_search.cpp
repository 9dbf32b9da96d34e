// Beam search over a batch: the rows of the decoder are the open hypotheses, those of a source side
// by side, the likeliest first.
#include "models/beam_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradzoo::models {
namespace {

// The best continuations of the open hypotheses [begin, end).
std::vector<Continuation> best_continuations(const std::vector<Open>& open, std::size_t begin,
                                             std::size_t end, const Choices& choices,
                                             std::int64_t beam) {
  const std::size_t width = static_cast<std::size_t>(choices.width);
  std::vector<Continuation> all;
  for (std::size_t row = begin; row < end; ++row) {
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      if (choices.log_probs[i] == -INFINITY) continue;
      all.push_back({open[row].log_prob + choices.log_probs[i], choices.token(i), row});
    }
  }
  const std::size_t count = std::min(all.size(), static_cast<std::size_t>(beam));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    likelier);
  all.resize(count);
  return all;
}

// True when the answers of a source cannot change any more, given its likeliest open hypothesis: a
// log-probability only falls, and is divided by at most max_length^alpha; later answers lose ties.
bool is_done(const std::vector<Hypothesis>& answers, double likeliest, const BeamOptions& options) {
  return answers.size() == static_cast<std::size_t>(options.n_best) &&
         answers.back().score >=
             length_normalised(likeliest, options.max_length, options.length_penalty);
}

void check_options(const BeamOptions& options) {
  check_limits("beam_search", {options.min_length, options.max_length});
  check_length_penalty("beam_search", options.length_penalty);
  check(options.beam >= 1, "beam_search: beam must be at least 1, got {}", options.beam);
  check(options.n_best >= 1 && options.n_best <= options.beam,
        "beam_search: n_best must be from 1 to beam ({}), got {}", options.beam, options.n_best);
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(Decoder decoder, const BeamOptions& options) {
  check_options(options);
  std::vector<std::vector<Hypothesis>> answers(static_cast<std::size_t>(decoder.rows()));
  // One hypothesis for each source to begin with: several equal ones would stay equal for ever.
  std::vector<Open> open = first_open(decoder);
  Tensor tokens = decoder.first_tokens();
  for (std::int64_t length = 1; !open.empty(); ++length) {
    const Choices choices = next_tokens(
        decoder, tokens, {.may_end = length >= options.min_length, .best = options.beam});
    std::vector<Open> next;
    for (std::size_t begin = 0, end = 0; begin < open.size(); begin = end) {
      const std::size_t source = open[begin].source, first = next.size();
      while (end < open.size() && open[end].source == source) ++end;
      for (const Continuation& c : best_continuations(open, begin, end, choices, options.beam)) {
        if (c.token == kEos || length == options.max_length) {
          answers[source].push_back(answer_of(open[c.row].tokens, c, options.length_penalty));
        } else {
          next.push_back(open[c.row].longer_by(c));
        }
      }
      keep_best(answers[source], options.n_best);
      const bool stuck = next.size() == first;
      check(!stuck || !answers[source].empty(), "beam_search: no token may follow after {} tokens",
            length - 1);
      if (!stuck && is_done(answers[source], next[first].log_prob, options)) next.resize(first);
    }
    tokens = move_on(decoder, next);
    open = std::move(next);
  }
  return answers;
}

}  // namespace gradzoo::models
