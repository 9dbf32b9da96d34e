// Models without weights, for the tests of searches: what they say depends on the source and on all
// tokens so far, and on nothing else, bit for bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/create.h"
#include "core/ops/view.h"
#include "core/random.h"
#include "core/tensor.h"
#include "models/decoder.h"

namespace gradzoo::test {

struct ToyState {
  std::vector<std::uint64_t> past;  // of each row: a hash of source and tokens

  void select(const Tensor& rows) {
    std::vector<std::uint64_t> kept;
    for (const std::int64_t row : rows.to_vector<std::int64_t>()) {
      kept.push_back(past.at(static_cast<std::size_t>(row)));
    }
    past = kept;
  }
};

// Logits are random numbers.
struct Toy {
  std::int64_t vocab = 7;
  std::uint64_t seed = 1;
  double spread = 4;                         // logits lie in [0, spread)
  bool whole = false;                        // logits are whole numbers: many ties
  std::vector<double> bias{};                // added to the logits of the first ids
  mutable std::int64_t steps = 0, rows = 0;  // how many there were, and of how many rows in all

  static std::uint64_t hash(std::uint64_t past, std::int64_t token) {
    Rng rng(past);
    rng.set_counter(static_cast<std::uint64_t>(token) + 1000);
    return rng.next();
  }

  std::vector<float> logits_after(std::uint64_t past) const {
    Rng rng(past);
    std::vector<float> logits;
    for (std::size_t id = 0; id < static_cast<std::size_t>(vocab); ++id) {
      const double logit = rng.uniform() * spread;
      logits.push_back(static_cast<float>(whole ? std::floor(logit) : logit));
      if (id < bias.size()) logits.back() += static_cast<float>(bias[id]);
    }
    return logits;
  }

  ToyState start(const Tensor& source, const Tensor& lengths) const {
    ToyState state;
    for (std::int64_t b = 0; b < source.size(0); ++b) {
      state.past.push_back(seed);
      for (std::int64_t s = 0; s < static_cast<std::int64_t>(lengths.at({b})); ++s) {
        state.past.back() = hash(state.past.back(), static_cast<std::int64_t>(source.at({b, s})));
      }
    }
    return state;
  }

  Tensor decode_step(const Tensor& tokens, ToyState& state) const {
    steps += 1;
    rows += tokens.size(0);
    std::vector<float> logits;
    for (std::size_t row = 0; row < state.past.size(); ++row) {
      state.past[row] = hash(
          state.past[row], static_cast<std::int64_t>(tokens.at({static_cast<std::int64_t>(row)})));
      const std::vector<float> next = logits_after(state.past[row]);
      logits.insert(logits.end(), next.begin(), next.end());
    }
    return from_vector(logits, {tokens.size(0), vocab});
  }

  // Teacher forcing.
  Tensor operator()(const Tensor& source, const Tensor& lengths, const Tensor& target_in) const {
    ToyState state = start(source, lengths);
    std::vector<Tensor> columns;
    for (std::int64_t t = 0; t < target_in.size(1); ++t) {
      columns.push_back(decode_step(select(target_in, 1, t), state));
    }
    return stack(columns, 1);
  }
};

struct ScriptState {
  std::vector<std::vector<std::int64_t>> pasts;

  void select(const Tensor& rows) {
    std::vector<std::vector<std::int64_t>> kept;
    for (const std::int64_t row : rows.to_vector<std::int64_t>()) {
      kept.push_back(pasts.at(static_cast<std::size_t>(row)));
    }
    pasts = kept;
  }
};

// Says what a function of the tokens so far says: the probability of each id.
struct Script {
  std::function<std::vector<double>(const std::vector<std::int64_t>& past)> probabilities;
  mutable std::int64_t steps = 0;

  ScriptState start(const Tensor& source, const Tensor&) const {
    return {std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(source.size(0)))};
  }
  Tensor decode_step(const Tensor& tokens, ScriptState& state) const {
    steps += 1;
    std::vector<double> logits;
    const std::vector<std::int64_t> ids = tokens.to_vector<std::int64_t>();
    for (std::size_t row = 0; row < ids.size(); ++row) {
      if (ids[row] != models::kBos) state.pasts[row].push_back(ids[row]);
      for (const double p : probabilities(state.pasts[row])) logits.push_back(std::log(p));
    }
    const std::int64_t rows = tokens.size(0);
    return from_vector(logits, {rows, static_cast<std::int64_t>(logits.size()) / rows});
  }
};

}  // namespace gradzoo::test
