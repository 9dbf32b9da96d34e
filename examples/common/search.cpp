// One door to all searches.
#include "examples/common/search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/create.h"
#include "examples/common/blanks.h"
#include "models/beam_search.h"
#include "models/exhaustive.h"
#include "models/sample.h"

namespace gradzoo::examples {
namespace {

using Answers = std::vector<std::vector<models::Hypothesis>>;

Answers one_each(std::vector<models::Hypothesis> answers) {
  Answers all;
  for (models::Hypothesis& answer : answers) all.push_back({std::move(answer)});
  return all;
}

// Sources that are answered together: with room for answers of one length.
struct Group {
  std::vector<Ids> sources;
  std::vector<std::uint64_t> streams;
};

// As many ids, padding included, as are read together: one endless line among short ones must not
// make all of them endless.
constexpr std::size_t kMostIds = std::size_t{1} << 16;

// Cuts a list of sources, given by their places, so that each part has at most kMostIds.
std::vector<std::vector<std::size_t>> parts(const std::vector<Ids>& sources,
                                            const std::vector<std::size_t>& places) {
  std::vector<std::vector<std::size_t>> all;
  std::size_t longest = 0;
  for (const std::size_t i : places) {
    longest = std::max(longest, sources[i].size());
    if (all.empty() || longest * (all.back().size() + 1) > kMostIds) {
      all.emplace_back();
      longest = sources[i].size();
    }
    all.back().push_back(i);
  }
  return all;
}

Answers run_search(models::Decoder decoder, const Group& group, const SearchOptions& o) {
  switch (o.kind) {
    case SearchKind::sample:
      return one_each(models::sample(std::move(decoder), {.temperature = o.temperature,
                                                          .top_k = o.top_k,
                                                          .top_p = o.top_p,
                                                          .min_length = o.min_length,
                                                          .max_length = o.max_length,
                                                          .seed = o.seed,
                                                          .streams = group.streams}));
    case SearchKind::exhaustive:
      return models::exhaustive(std::move(decoder), {.length_penalty = o.length_penalty,
                                                     .min_length = o.min_length,
                                                     .max_length = o.max_length,
                                                     .n_best = o.n_best});
    case SearchKind::beam:
      break;
  }
  return models::beam_search(std::move(decoder), {.beam = o.beam,
                                                  .length_penalty = o.length_penalty,
                                                  .min_length = o.min_length,
                                                  .max_length = o.max_length,
                                                  .n_best = o.n_best});
}

Answers search_group(const ZooCheckpoint& checkpoint, const Group& group, const SearchOptions& o) {
  Ids sizes;
  for (const Ids& source : group.sources) sizes.push_back(std::ssize(source));
  const Tensor source = padded(group.sources), lengths = from_vector(sizes, {std::ssize(sizes)});
  return std::visit(
      [&]<class Model>(const Model& model) {
        if constexpr (std::is_same_v<Model, models::Encoder>) {
          return one_each(fill_in(model, source, lengths, o.max_length));
        } else {
          auto decoder = checkpoint.continues ? models::Decoder::after(model, source, lengths)
                                              : models::Decoder(model, source, lengths);
          return run_search(std::move(decoder), group, o);
        }
      },
      checkpoint.model);
}

}  // namespace

std::int64_t room_for_answer(const ZooCheckpoint& checkpoint, std::int64_t source) {
  const ZooConfig config = config_of(checkpoint.model);
  // Of a text the last token does what else the begin symbol does.
  return longest_answer(config, checkpoint.continues ? source - 1 : source) + 1;
}

Answers search(const ZooCheckpoint& checkpoint, const std::vector<Ids>& sources,
               const std::vector<std::uint64_t>& streams, const SearchOptions& options) {
  std::map<std::int64_t, std::vector<std::size_t>> by_limit;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::int64_t room = room_for_answer(checkpoint, std::ssize(sources[i]));
    by_limit[std::min(room, options.max_length)].push_back(i);
  }
  Answers all(sources.size());
  for (const auto& [limit, places] : by_limit) {
    SearchOptions limited = options;
    limited.max_length = limit;
    for (const std::vector<std::size_t>& part : parts(sources, places)) {
      Group group;
      for (const std::size_t i : part) {
        group.sources.push_back(sources[i]);
        group.streams.push_back(streams[i]);
      }
      Answers answers = search_group(checkpoint, group, limited);
      for (std::size_t k = 0; k < part.size(); ++k) all[part[k]] = std::move(answers[k]);
    }
  }
  return all;
}

models::Hypothesis continue_text(const ZooCheckpoint& checkpoint, const Ids& prompt,
                                 const SearchOptions& options) {
  const std::int64_t most = places(config_of(checkpoint.model));
  Ids text = prompt;
  models::Hypothesis all;
  for (std::uint64_t part = 0; !all.finished && all.length() < options.max_length; ++part) {
    const std::int64_t seen =
        std::ssize(text) <= most ? std::ssize(text) : std::max<std::int64_t>(most / 2, 1);
    SearchOptions rest = options;
    rest.max_length = std::min(options.max_length - all.length(), most - seen + 1);
    rest.min_length =
        std::clamp<std::int64_t>(options.min_length - all.length(), 0, rest.max_length);
    const models::Hypothesis next =
        search(checkpoint, {Ids(text.end() - seen, text.end())}, {part}, rest)[0][0];
    text.insert(text.end(), next.tokens.begin(), next.tokens.end());
    all.tokens.insert(all.tokens.end(), next.tokens.begin(), next.tokens.end());
    all.log_prob += next.log_prob;
    all.finished = next.finished;
  }
  all.score = all.log_prob;
  return all;
}

}  // namespace gradzoo::examples
