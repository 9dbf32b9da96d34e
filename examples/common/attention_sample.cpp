// Choosing a source, asking, looking.
#include "examples/common/attention_sample.h"

#include "examples/common/search.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kShort = 12;          // tokens
constexpr std::int64_t kLongestAnswer = 24;  // tokens, where a model does not stop

// The longest of the short sources, or else the shortest; empty when there is none.
Ids chosen(const ZooCheckpoint& checkpoint, const std::vector<Ids>& sources) {
  const auto better = [](const Ids& a, const Ids& b) {
    const bool short_a = std::ssize(a) <= kShort, short_b = std::ssize(b) <= kShort;
    if (short_a != short_b) return short_a;
    return short_a ? a.size() > b.size() : a.size() < b.size();
  };
  Ids best;
  for (const Ids& source : sources) {
    if (!best.empty() && !better(source, best)) continue;
    if (checkpoint.source.encode(checkpoint.source.decode(source)) == source) best = source;
  }
  return best;
}

}  // namespace

std::optional<AttentionView> attention_sample(const ZooCheckpoint& checkpoint,
                                              const std::string& model,
                                              const std::vector<Ids>& sources) {
  const Ids source = chosen(checkpoint, sources);
  if (source.empty() || room_for_answer(checkpoint, std::ssize(source)) < 1) return std::nullopt;
  const auto answers = search(checkpoint, {source}, {1}, {.max_length = kLongestAnswer});
  AttentionView view =
      attention_view(checkpoint, model, checkpoint.source.decode(source), answers.front().front());
  if (view.maps.empty()) return std::nullopt;
  return view;
}

}  // namespace gradzoo::examples
