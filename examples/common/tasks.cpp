// Task generators.
#include "examples/common/tasks.h"

#include <algorithm>

#include "core/error.h"
#include "models/decode.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kFirst = models::kUnk + 1;  // the first symbol, or the digit 0
constexpr std::int64_t kPlus = kFirst + 10;

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

bool is_number(const Ids& digits) {
  return !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                        [](std::int64_t id) { return id >= kFirst && id < kPlus; });
}

// Column by column from the right, as on paper: any number of digits fits.
Ids sum_of(const Ids& source) {
  const auto plus = std::find(source.begin(), source.end(), kPlus);
  Ids a(source.begin(), plus), b(plus == source.end() ? plus : plus + 1, source.end());
  check(is_number(a) && is_number(b), "add: a source is two numbers with a + between them");
  std::reverse(a.begin(), a.end());
  std::reverse(b.begin(), b.end());
  Ids sum;
  std::int64_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    const std::int64_t column =
        carry + (i < a.size() ? a[i] - kFirst : 0) + (i < b.size() ? b[i] - kFirst : 0);
    sum.push_back(kFirst + column % 10);
    carry = column / 10;
  }
  return Ids(sum.rbegin(), sum.rend());
}

}  // namespace

Vocabulary task_vocabulary(Task task, std::int64_t num_symbols) {
  std::vector<std::string> tokens;
  if (task == Task::add) {
    for (char digit = '0'; digit <= '9'; ++digit) tokens.emplace_back(1, digit);
    tokens.emplace_back("+");
    return Vocabulary(Level::character, tokens);
  }
  for (std::int64_t i = 0; i < num_symbols; ++i) {
    tokens.push_back(i < 26 ? std::string(1, static_cast<char>('a' + i)) : fmt::format("s{}", i));
  }
  return Vocabulary(Level::word, tokens);
}

Ids target_of(Task task, const Ids& source) {
  switch (task) {
    case Task::copy:
      return source;
    case Task::reverse:
      return Ids(source.rbegin(), source.rend());
    case Task::sort: {
      Ids sorted = source;
      std::sort(sorted.begin(), sorted.end());
      return sorted;
    }
    case Task::add:
      return sum_of(source);
  }
  fail("target_of: no task has number {}", static_cast<int>(task));
}

TaskStream::TaskStream(const StreamOptions& options) : options_(options), rng_(options.seed) {
  check(options.min_length >= 1 && options.min_length <= options.max_length,
        "task: lengths must be from 1 and in order, got {} to {}", options.min_length,
        options.max_length);
  check(options.num_symbols >= 1, "task: at least 1 symbol is needed, got {}", options.num_symbols);
}

Ids TaskStream::random_source() {
  const auto length = [&] { return rng_.integer(options_.min_length, options_.max_length + 1); };
  Ids source;
  if (options_.task != Task::add) {
    source.resize(static_cast<std::size_t>(length()));
    for (std::int64_t& id : source) id = kFirst + rng_.integer(0, options_.num_symbols);
    return source;
  }
  for (int number = 0; number < 2; ++number) {
    if (number == 1) source.push_back(kPlus);
    const std::int64_t digits = length();
    // The first digit of a longer number is not 0.
    for (std::int64_t i = 0; i < digits; ++i) {
      source.push_back(kFirst + rng_.integer(i == 0 && digits > 1 ? 1 : 0, 10));
    }
  }
  return source;
}

std::vector<Pair> TaskStream::next(std::int64_t count) {
  std::vector<Pair> pairs;
  // With few short sequences one of the splits may be empty: then this would never end.
  for (std::int64_t tries = 0; std::ssize(pairs) < count; ++tries) {
    check(tries < 1000 * (count + 1),
          "task: too few different sequences of {} to {} symbols out of {}", options_.min_length,
          options_.max_length, options_.num_symbols);
    const Ids source = random_source();
    if (split_of(source) != options_.split) continue;
    pairs.push_back({source, target_of(options_.task, source)});
  }
  return pairs;
}

}  // namespace gradzoo::examples
