// Reading with getline(3), which takes lines of any length and any bytes.
#include "examples/common/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace gradzoo::examples {

void LineReader::Close::operator()(std::FILE* file) const {
  if (file != stdin) std::fclose(file);
}

LineReader::LineReader() : name_("standard input"), file_(stdin) {}

LineReader::LineReader(const std::string& path)
    : name_(path), file_(std::fopen(path.c_str(), "r")) {
  check(file_ != nullptr, "'{}': {}", path, std::strerror(errno));
}

std::optional<std::string> LineReader::next() {
  char* bytes = nullptr;
  std::size_t room = 0;
  errno = 0;
  const ssize_t size = ::getline(&bytes, &room, file_.get());
  const int cause = errno;
  const std::unique_ptr<char, decltype(&std::free)> owner(bytes, &std::free);
  if (size < 0) {
    check(std::ferror(file_.get()) == 0, "{}: {}", name_, std::strerror(cause));
    return std::nullopt;
  }
  std::string line(bytes, static_cast<std::size_t>(size));
  if (line.ends_with('\n')) line.pop_back();
  if (line.ends_with('\r')) line.pop_back();
  const std::string mark = "\xef\xbb\xbf";
  if (++number_ == 1 && line.starts_with(mark)) line.erase(0, mark.size());
  return line;
}

bool LineReader::is_terminal() const { return ::isatty(::fileno(file_.get())) != 0; }

}  // namespace gradzoo::examples
