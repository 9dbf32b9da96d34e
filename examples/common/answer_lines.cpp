// Lines, tables and JSON.
#include "examples/common/answer_lines.h"

#include <nlohmann/json.hpp>

#include "examples/common/attention_view.h"

namespace gradzoo::examples {
namespace {

using Json = nlohmann::ordered_json;

std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else if (c == '\t') {
      line += "\\t";
    } else {
      line += c;
    }
  }
  return line;
}

Json maps_json(const ZooCheckpoint& checkpoint, const Ids& source,
               const models::Hypothesis& answer) {
  Json maps = Json::array();
  for (const AttentionMap& map : attention_maps(checkpoint, source, answer)) {
    maps.push_back(map_json(map));
  }
  return maps;
}

}  // namespace

std::string answer_line(const Answered& answered, const Vocabulary& target) {
  if (answered.answers.empty()) return "\n";
  return on_one_line(target.decode(answered.answers.front().tokens)) + "\n";
}

std::string answer_table(const Answered& answered, const Vocabulary& target) {
  if (answered.answers.empty()) return fmt::format("{}\t1\t0\t0\t\n", answered.line);
  std::string lines;
  for (std::size_t i = 0; i < answered.answers.size(); ++i) {
    const models::Hypothesis& answer = answered.answers[i];
    lines += fmt::format("{}\t{}\t{:.4f}\t{:.4f}\t{}\n", answered.line, i + 1, answer.score,
                         answer.log_prob, on_one_line(target.decode(answer.tokens)));
  }
  return lines;
}

std::string answer_json(const Answered& answered, const ZooCheckpoint& checkpoint, bool attention) {
  Json json{{"line", answered.line}, {"source", answered.text}, {"answers", Json::array()}};
  for (const models::Hypothesis& answer : answered.answers) {
    Json tokens = Json::array();
    for (const std::int64_t id : answer.tokens) tokens.push_back(checkpoint.target.token(id));
    Json entry{{"text", checkpoint.target.decode(answer.tokens)},
               {"tokens", std::move(tokens)},
               {"score", rounded(answer.score)},
               {"log_prob", rounded(answer.log_prob)},
               {"finished", answer.finished}};
    if (attention) entry["attention"] = maps_json(checkpoint, answered.ids, answer);
    json["answers"].push_back(std::move(entry));
  }
  if (!answered.fault.empty()) json["error"] = answered.fault;
  // What is not UTF-8 is shown as U+FFFD; the fault says where.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradzoo::examples
