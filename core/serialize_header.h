// The header of a safetensors file: JSON that says which bytes of the file are which tensor.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"

namespace gradzoo {

/// An element type that files may have, and the dtype that holds all its values exactly.
struct FileType {
  const char* name;
  std::uint64_t bytes;
  DType dtype;
};

/// The type that a dtype is written as.
const FileType& file_type(DType dtype);

/// One tensor: its bytes are [begin, end) of what follows the header.
struct FileEntry {
  std::string name;
  const FileType* type = nullptr;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct FileHeader {
  std::vector<FileEntry> entries;  ///< in the order of the text
  std::map<std::string, std::string> metadata;
};

/// The most bytes that a header may have.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// Reads and checks a header: names unique, dtypes known, shapes matching their bytes, and the
/// entries covering `data_bytes` bytes without gap or overlap. Errors name `path` and the tensor.
FileHeader parse_header(const std::string& path, std::string_view text, std::uint64_t data_bytes);

/// The text of a header, padded with spaces to a multiple of 8 bytes. Throws when a name is used
/// twice or is not UTF-8.
std::string header_text(const std::string& path, const FileHeader& header);

/// A name or other text from a file, for a message: in quotes, on one line, cut when long.
struct Quoted {
  std::string_view text;
};
std::string to_string(const Quoted& quoted);

}  // namespace gradzoo

template <>
struct fmt::formatter<gradzoo::Quoted> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const gradzoo::Quoted& quoted, Context& context) const {
    const std::string text = gradzoo::to_string(quoted);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
