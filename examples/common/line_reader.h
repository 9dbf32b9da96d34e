// Lines one by one, as they come, from a file or from standard input.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace gradzoo::examples {

class LineReader {
 public:
  /// Standard input.
  LineReader();
  /// Throws, naming path and cause, for a file that cannot be read.
  explicit LineReader(const std::string& path);

  /// The next line without its end, \n or \r\n; none at the end. A byte order mark before the first
  /// is not text. Whatever else a line holds is left to the caller. Throws when reading fails.
  std::optional<std::string> next();
  /// The number of the last line, from 1.
  std::int64_t number() const { return number_; }
  /// Is a person typing?
  bool is_terminal() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  std::int64_t number_ = 0;
};

}  // namespace gradzoo::examples
