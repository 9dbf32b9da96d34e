// Task generators and batches.
#include "examples/common/tasks.h"

#include <algorithm>

#include "core/create.h"
#include "models/decode.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kFirstSymbol = models::kUnk + 1;

// One in eight sources is held out, by a hash of its symbols (the mixer of SplitMix64 at each, so
// that short sequences are spread as well as long ones).
Split split_of(const Ids& source) {
  std::uint64_t hash = 0;
  for (std::int64_t id : source) {
    hash += static_cast<std::uint64_t>(id) + 0x9e3779b97f4a7c15ull;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
    hash ^= hash >> 31;
  }
  return hash % 8 == 0 ? Split::held_out : Split::train;
}

// Rows of ids, padded to `width`: [rows, width].
Tensor padded(const std::vector<Ids>& rows, std::size_t width) {
  Ids flat(rows.size() * width, models::kPad);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    std::copy(rows[b].begin(), rows[b].end(),
              flat.begin() + static_cast<std::ptrdiff_t>(b * width));
  }
  return from_vector(flat,
                     {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)});
}

std::size_t longest(const std::vector<Ids>& rows) {
  std::size_t length = 0;
  for (const Ids& row : rows) length = std::max(length, row.size());
  return length;
}

}  // namespace

Task task_named(const std::string& name) {
  if (name == "copy") return Task::copy;
  if (name == "reverse") return Task::reverse;
  fail("task: '{}' is not known; allowed: copy, reverse", name);
}

Ids target_of(Task task, const Ids& source) {
  if (task == Task::copy) return source;
  return Ids(source.rbegin(), source.rend());
}

Batch make_batch(const std::vector<Pair>& pairs) {
  std::vector<Ids> sources, ins, outs;
  Ids lengths;
  for (const Pair& pair : pairs) {
    sources.push_back(pair.source);
    lengths.push_back(static_cast<std::int64_t>(pair.source.size()));
    ins.push_back(pair.target);
    ins.back().insert(ins.back().begin(), models::kBos);
    outs.push_back(pair.target);
    outs.back().push_back(models::kEos);
  }
  return {padded(sources, longest(sources)),
          from_vector(lengths, {static_cast<std::int64_t>(lengths.size())}),
          padded(ins, longest(ins)), padded(outs, longest(outs))};
}

TaskStream::TaskStream(const StreamOptions& options) : options_(options), rng_(options.seed) {
  check(options.min_length >= 1 && options.min_length <= options.max_length,
        "task: lengths must be from 1 and in order, got {} to {}", options.min_length,
        options.max_length);
  check(options.num_symbols >= 1, "task: at least 1 symbol is needed, got {}", options.num_symbols);
}

std::vector<Pair> TaskStream::next(std::int64_t count) {
  std::vector<Pair> pairs;
  // With few short sequences one of the splits may be empty: then this would never end.
  for (std::int64_t tries = 0; std::ssize(pairs) < count; ++tries) {
    check(tries < 1000 * (count + 1),
          "task: too few different sequences of {} to {} symbols out of {}", options_.min_length,
          options_.max_length, options_.num_symbols);
    Ids source(
        static_cast<std::size_t>(rng_.integer(options_.min_length, options_.max_length + 1)));
    for (std::int64_t& id : source) id = kFirstSymbol + rng_.integer(0, options_.num_symbols);
    if (split_of(source) != options_.split) continue;
    pairs.push_back({source, target_of(options_.task, source)});
  }
  return pairs;
}

std::int64_t TaskStream::vocab() const { return kFirstSymbol + options_.num_symbols; }

std::string to_text(const Ids& ids) {
  std::string text;
  for (std::int64_t id : ids) {
    const std::int64_t symbol = id - kFirstSymbol;
    if (!text.empty()) text += ' ';
    if (symbol < 0) {
      text += fmt::format("<{}>", id);
    } else if (symbol < 26) {
      text += static_cast<char>('a' + symbol);
    } else {
      text += std::to_string(symbol);
    }
  }
  return text;
}

}  // namespace gradzoo::examples
