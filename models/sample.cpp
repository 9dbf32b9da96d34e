// The draw of a token.
#include "models/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/random.h"

namespace gradzoo::models {
namespace {

void check_options(const SampleOptions& options, std::int64_t rows) {
  check(options.temperature > 0 && std::isfinite(options.temperature),
        "sample: temperature must be above 0, got {}; for the likeliest tokens use greedy search",
        options.temperature);
  check(options.top_k >= 0, "sample: top_k must be at least 1, or 0 for all tokens, got {}",
        options.top_k);
  check(options.top_p > 0 && options.top_p <= 1,
        "sample: top_p must be above 0 and at most 1, got {}", options.top_p);
  check(options.streams.empty() || options.streams.size() == static_cast<std::size_t>(rows),
        "sample: {} streams for {} rows", options.streams.size(), rows);
}

// A generator for each row: number i of stream s is a function of the seed, s and i.
std::vector<Rng> generators(const SampleOptions& options, std::int64_t rows) {
  std::vector<Rng> result;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    Rng rng(options.seed);
    rng.set_counter(options.streams.empty() ? row : options.streams[row]);
    result.push_back(rng.fork());
  }
  return result;
}

// The place drawn by u, uniform in [0, 1). With top_p < 1 the likeliest must come first.
std::size_t draw(std::span<const double> log_probs, double temperature, double top_p, double u) {
  const double largest = *std::max_element(log_probs.begin(), log_probs.end());
  if (largest == -INFINITY) return 0;  // nothing may follow, as the caller will see
  std::vector<double> sums;            // of the probabilities up to each place, not yet divided
  double sum = 0;
  for (const double log_prob : log_probs) {
    sum += std::exp((log_prob - largest) / temperature);
    sums.push_back(sum);
  }
  if (top_p < 1) {
    const auto enough = std::lower_bound(sums.begin(), sums.end(), top_p * sum);
    sums.erase(std::min(enough, sums.end() - 1) + 1, sums.end());
  }
  // The first place whose sum exceeds the number: one without probability adds nothing to the sum,
  // so it is never the first.
  return static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), u * sums.back()) -
                                  sums.begin());
}

}  // namespace

std::vector<Hypothesis> sample(Decoder decoder, const SampleOptions& options) {
  check_options(options, decoder.rows());
  std::vector<Rng> rngs = generators(options, decoder.rows());
  // In order of probability only where that matters: sorting a vocabulary takes its time.
  const std::int64_t all = options.top_p < 1 ? std::numeric_limits<std::int64_t>::max() : 0;
  return one_for_each_row("sample", std::move(decoder), {options.min_length, options.max_length},
                          options.top_k > 0 ? options.top_k : all,
                          [&](std::size_t row, std::span<const double> log_probs) {
                            return draw(log_probs, options.temperature, options.top_p,
                                        rngs[row].uniform());
                          });
}

}  // namespace gradzoo::models
