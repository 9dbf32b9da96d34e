// From text to ids and back.
#include "examples/common/vocabulary.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "models/decode.h"
#include "nn/config.h"

namespace gradzoo::examples {
namespace {

constexpr std::array<const char*, models::kUnk + 1> kSpecial{"<pad>", "<bos>", "<eos>", "<unk>"};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Bytes of the code point that begins at `text[i]`; 0 when it is malformed: cut short, longer than
// it need be, a surrogate, or beyond U+10FFFF (RFC 3629), or NUL.
std::size_t code_point_bytes(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  const unsigned first = byte(i);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(i + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool beyond = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || beyond ? 0 : bytes;
}

}  // namespace

std::size_t invalid_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = code_point_bytes(text, i);
    if (bytes == 0) return i;
    i += bytes;
  }
  return std::string::npos;
}

std::vector<std::string> tokenize(Level level, const std::string& line) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    if (level == Level::character) {
      end += std::max<std::size_t>(code_point_bytes(line, i), 1);
    } else if (is_blank(line[i])) {
      ++i;
      continue;
    } else {
      while (end < line.size() && !is_blank(line[end])) ++end;
    }
    tokens.push_back(line.substr(i, end - i));
    i = end;
  }
  return tokens;
}

Vocabulary::Vocabulary(Level level, const std::vector<std::string>& tokens)
    : level_(level), tokens_(kSpecial.begin(), kSpecial.end()) {
  for (const std::string& token : tokens) {
    check(invalid_utf8(token) == std::string::npos && tokenize(level, token).size() == 1,
          "vocabulary: '{}' is not one {}", token, nn::choice_name(level));
    check(ids_.emplace(token, size()).second, "vocabulary: '{}' is there twice", token);
    tokens_.push_back(token);
  }
}

Vocabulary Vocabulary::of_lines(Level level, const std::vector<std::string>& lines,
                                std::int64_t min_count) {
  std::map<std::string, std::int64_t> counts;  // in order of the bytes
  for (const std::string& line : lines) {
    for (const std::string& token : tokenize(level, line)) ++counts[token];
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> tokens;
  for (const auto& [token, count] : sorted) {
    if (count >= min_count) tokens.push_back(token);
  }
  return Vocabulary(level, tokens);
}

std::int64_t Vocabulary::size() const { return static_cast<std::int64_t>(tokens_.size()); }

Ids Vocabulary::encode(const std::string& line) const {
  Ids ids;
  for (const std::string& token : tokenize(level_, line)) {
    const auto found = ids_.find(token);
    ids.push_back(found == ids_.end() ? models::kUnk : found->second);
  }
  return ids;
}

std::string Vocabulary::token(std::int64_t id) const {
  check(id >= 0 && id < size(), "vocabulary: id {} is not one of the {}", id, size());
  return tokens_[static_cast<std::size_t>(id)];
}

std::string Vocabulary::decode(const Ids& ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0 && level_ == Level::word) text += ' ';
    text += token(ids[i]);
  }
  return text;
}

std::string Vocabulary::to_json() const {
  const std::vector<std::string> own(tokens_.begin() + std::ssize(kSpecial), tokens_.end());
  return nlohmann::ordered_json{{"level", nn::choice_name(level_)}, {"tokens", own}}.dump();
}

Vocabulary Vocabulary::from_json(const std::string& text, const std::string& origin) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Level level{};
    check(nn::parse_config(json.at("level").get<std::string>(), level), "the level is {}",
          json.at("level").dump());
    return Vocabulary(level, json.at("tokens").get<std::vector<std::string>>());
  } catch (const std::exception& error) {
    fail("{}: not a vocabulary: {}", origin, error.what());
  }
}

}  // namespace gradzoo::examples
