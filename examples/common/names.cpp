// Names that people type, and what they may have meant.
#include "examples/common/names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

namespace gradzoo::examples {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The fewest letters to insert, delete or replace (Levenshtein), row by row of the table.
std::size_t changes(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

bool same_name(const std::string& a, const std::string& b) { return lower(a) == lower(b); }

std::string nearest_names(const std::string& typed, std::vector<std::string> names,
                          std::size_t count) {
  const std::string wanted = lower(typed);
  std::map<std::string, std::size_t> distance;
  for (const std::string& name : names) {
    const std::string found = lower(name);
    const bool contains = !wanted.empty() && (found.find(wanted) != std::string::npos ||
                                              wanted.find(found) != std::string::npos);
    distance[name] = contains ? 0 : changes(wanted, found);
  }
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return distance[a] < distance[b];
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(count, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

}  // namespace gradzoo::examples
