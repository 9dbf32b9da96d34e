// Padding, shifting, and batching by length.
#include "examples/common/batch.h"

#include <algorithm>

#include "core/create.h"
#include "core/random.h"
#include "models/decode.h"

namespace gradzoo::examples {
namespace {

std::int64_t length(const Ids& ids) { return static_cast<std::int64_t>(ids.size()); }

// What a batch of pairs costs: its rows, each as wide as the longest sides and one more.
struct Padded {
  std::int64_t rows = 0, source = 0, target = 0;

  void add(const Pair& pair) {
    ++rows;
    source = std::max(source, length(pair.source));
    target = std::max(target, length(pair.target));
  }
  std::int64_t tokens() const { return rows * (source + target + 1); }
};

template <class T>
std::vector<T> shuffled(const std::vector<T>& items, Rng& rng) {
  std::vector<T> result;
  for (std::int64_t i : permutation(std::ssize(items), rng).template to_vector<std::int64_t>()) {
    result.push_back(items[static_cast<std::size_t>(i)]);
  }
  return result;
}

}  // namespace

Tensor padded(const std::vector<Ids>& rows) {
  std::size_t width = 0;
  for (const Ids& row : rows) width = std::max(width, row.size());
  Ids flat(rows.size() * width, models::kPad);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    std::copy(rows[b].begin(), rows[b].end(),
              flat.begin() + static_cast<std::ptrdiff_t>(b * width));
  }
  return from_vector(flat,
                     {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)});
}

Batch make_batch(const std::vector<Pair>& pairs) {
  std::vector<Ids> sources, ins, outs;
  Ids lengths;
  for (const Pair& pair : pairs) {
    sources.push_back(pair.source);
    lengths.push_back(length(pair.source));
    ins.push_back(pair.target);
    ins.back().insert(ins.back().begin(), models::kBos);
    outs.push_back(pair.target);
    outs.back().push_back(models::kEos);
  }
  return {padded(sources), from_vector(lengths, {length(lengths)}), padded(ins), padded(outs)};
}

std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<Pair>& pairs,
                                                        std::int64_t max_tokens,
                                                        std::uint64_t seed) {
  using Places = std::vector<std::size_t>;
  Rng rng(seed);
  Places order;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Padded alone;
    alone.add(pairs[i]);
    check(alone.tokens() <= max_tokens,
          "batches_by_length: pair {} has {} tokens, more than the {} of a batch", i + 1,
          alone.tokens(), max_tokens);
    tokens += alone.tokens();
    order.push_back(i);
  }
  order = shuffled(order, rng);
  // Sorting all of them would put the same neighbours together in every epoch.
  const double share = 100.0 * static_cast<double>(max_tokens) / static_cast<double>(tokens + 1);
  const auto pool =
      static_cast<std::ptrdiff_t>(1 + std::min(share, 1.0) * static_cast<double>(pairs.size()));
  const auto by_length = [&](std::size_t a, std::size_t b) {
    const Pair &x = pairs[a], &y = pairs[b];
    return std::pair(x.target.size(), x.source.size()) <
           std::pair(y.target.size(), y.source.size());
  };
  for (auto from = order.begin(); from != order.end();) {
    const auto to = from + std::min(pool, order.end() - from);
    std::stable_sort(from, to, by_length);
    from = to;
  }
  std::vector<Places> batches;
  Padded batch;
  for (std::size_t place : order) {
    Padded more = batch;
    more.add(pairs[place]);
    if (batches.empty() || more.tokens() > max_tokens) {
      batches.emplace_back();
      more = {};
      more.add(pairs[place]);
    }
    batches.back().push_back(place);
    batch = more;
  }
  return shuffled(batches, rng);
}

}  // namespace gradzoo::examples
