// The draw of a token.
#include "models/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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

// Only the likeliest places, as few as have the share top_p of all weights; ties: the lower place.
void keep_likeliest(std::vector<std::size_t>& places, const std::vector<double>& weights,
                    double top_p) {
  const double enough = top_p * std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto less = [&](std::size_t a, std::size_t b) {
    return weights[a] < weights[b] || (weights[a] == weights[b] && a > b);
  };
  // A heap, since a few places are mostly enough: they go to the end, one by one.
  std::make_heap(places.begin(), places.end(), less);
  auto end = places.end();
  double sum = 0;
  do {
    std::pop_heap(places.begin(), end, less);
    sum += weights[*--end];
  } while (sum < enough && end != places.begin());
  places.erase(places.begin(), end);
}

// The place drawn by u, uniform in [0, 1).
std::size_t draw(std::span<const double> log_probs, double temperature, double top_p, double u) {
  const double largest = *std::max_element(log_probs.begin(), log_probs.end());
  if (largest == -INFINITY) return 0;  // nothing may follow, as the caller will see
  std::vector<double> weights;
  for (const double log_prob : log_probs) {
    weights.push_back(std::exp((log_prob - largest) / temperature));
  }
  std::vector<std::size_t> places(weights.size());
  std::iota(places.begin(), places.end(), 0);
  if (top_p < 1) keep_likeliest(places, weights, top_p);
  std::vector<double> sums;  // of the weights up to each of the places
  double sum = 0;
  for (const std::size_t place : places) sums.push_back(sum += weights[place]);
  // The first whose sum exceeds the number: one without probability adds nothing to the sum, so it
  // is never the first.
  const auto drawn = std::upper_bound(sums.begin(), sums.end(), u * sum);
  return places[static_cast<std::size_t>(drawn - sums.begin())];
}

}  // namespace

std::vector<Hypothesis> sample(Decoder decoder, const SampleOptions& options) {
  check_options(options, decoder.rows());
  std::vector<Rng> rngs = generators(options, decoder.rows());
  return one_for_each_row("sample", std::move(decoder), {options.min_length, options.max_length},
                          options.top_k, [&](std::size_t row, std::span<const double> log_probs) {
                            return draw(log_probs, options.temperature, options.top_p,
                                        rngs[row].uniform());
                          });
}

}  // namespace gradzoo::models
