// Data for training and validation.
#include "examples/common/data.h"

#include <algorithm>

#include "core/error.h"

namespace gradzoo::examples {
namespace {

Data task_data(const DataOptions& o, ZooConfig& config, std::int64_t held_out) {
  Data data;
  data.source = data.target = task_vocabulary(o.task, o.symbols);
  set_vocabularies(config, data.source, data.target);
  const std::int64_t source = o.task == Task::add ? 2 * o.longest + 1 : o.longest;
  const std::int64_t target = o.task == Task::add ? o.longest + 1 : o.longest;
  check(fits(config, source, target),
        "sequences of {} symbols, answered by {}, do not fit the model's {} places (--max-length)",
        source, target, places(config));
  const StreamOptions training{o.task, Split::train, o.symbols, o.shortest, o.longest, o.seed};
  data.training = std::make_unique<TaskBatches>(training, o.batch_size);
  StreamOptions other = training;
  other.split = Split::held_out;
  other.min_length = held_out_shortest(o);
  other.seed = o.seed + 1;
  data.held_out = TaskStream(other).next(held_out);
  return data;
}

ParallelText read_pairs(const std::string& source, const std::optional<std::string>& target,
                        const DataOptions& o) {
  const ParallelOptions options{.level = o.level};
  return target ? read_aligned(source, *target, options) : read_tsv(source, options);
}

// The pairs that fit the model; the others become bad lines.
std::vector<Pair> encoded(const ParallelText& text, const std::string& path, const Data& data,
                          const ZooConfig& config, std::vector<BadLine>& bad) {
  bad.insert(bad.end(), text.bad.begin(), text.bad.end());
  std::vector<Pair> pairs;
  for (const TextPair& pair : text.pairs) {
    Pair ids{data.source.encode(pair.source), data.target.encode(pair.target)};
    if (fits(config, std::ssize(ids.source), std::ssize(ids.target))) {
      pairs.push_back(std::move(ids));
    } else {
      bad.push_back({path, pair.line,
                     fmt::format("{} and {} tokens do not fit the model's {} places (--max-length)",
                                 ids.source.size(), ids.target.size(), places(config))});
    }
  }
  check(!pairs.empty(), "{}: no pair fits the model's {} places (--max-length)", path,
        places(config));
  return pairs;
}

Data pair_data(const DataOptions& o, ZooConfig& config) {
  const ParallelText training = read_pairs(*o.train, o.train_target, o);
  const ParallelText valid = read_pairs(*o.valid, o.valid_target, o);
  std::vector<std::string> sources, targets;
  for (const TextPair& pair : training.pairs) {
    sources.push_back(pair.source);
    targets.push_back(pair.target);
  }
  const bool two = std::holds_alternative<models::TransformerConfig>(config) ||
                   std::holds_alternative<models::RNNSeq2SeqConfig>(config);
  if (!two) sources.insert(sources.end(), targets.begin(), targets.end());
  Data data;
  data.source = Vocabulary::of_lines(o.level, sources, o.min_count);
  data.target = two ? Vocabulary::of_lines(o.level, targets, o.min_count) : data.source;
  set_vocabularies(config, data.source, data.target);
  const std::vector<Pair> pairs = encoded(training, *o.train, data, config, data.bad);
  data.held_out = encoded(valid, *o.valid, data, config, data.bad);
  data.training =
      std::make_unique<PairBatches>(pairs, PairBatchesOptions{o.batch_size, o.max_tokens, o.seed});
  return data;
}

Data text_data(const DataOptions& o, ZooConfig& config) {
  const Lines lines = read_lines(*o.text);
  std::string text;
  for (const TextLine& line : lines.good) text += line.text + "\n";
  Data data;
  data.bad = lines.bad;
  data.source = data.target = Vocabulary::of_lines(Level::character, {text});
  set_vocabularies(config, data.source, data.target);
  check(fits(config, 0, o.context - 1),
        "contexts of {} do not fit the model's {} places (--max-length)", o.context,
        places(config));
  Ids ids = data.source.encode(text);
  const auto tenth = std::ssize(ids) - std::ssize(ids) / 10;
  data.held_out_text.assign(ids.begin() + tenth, ids.end());
  ids.resize(static_cast<std::size_t>(tenth));
  check(std::ssize(data.held_out_text) > o.context,
        "{}: a tenth of the text is {} characters, too few for contexts of {}", *o.text,
        data.held_out_text.size(), o.context);
  data.training = std::make_unique<WindowBatches>(std::move(ids), o.context, o.batch_size, o.seed);
  return data;
}

}  // namespace

std::int64_t held_out_shortest(const DataOptions& o) {
  return std::max(o.shortest, (o.longest + 1) / 2);
}

Data make_data(const DataOptions& options, ZooConfig& config, std::int64_t held_out) {
  if (options.text) return text_data(options, config);
  if (options.train) return pair_data(options, config);
  return task_data(options, config, held_out);
}

}  // namespace gradzoo::examples
