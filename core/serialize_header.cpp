// The header of a safetensors file: JSON that says which bytes of the file are which tensor.
#include "core/serialize_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"

namespace gradzoo {
namespace {

using nlohmann::json;

constexpr FileType kFileTypes[] = {
    {"F32", 4, DType::f32},      {"F64", 8, DType::f64}, {"I64", 8, DType::i64},
    {"BOOL", 1, DType::boolean}, {"F16", 2, DType::f32}, {"BF16", 2, DType::f32},
    {"I32", 4, DType::i64},      {"I16", 2, DType::i64}, {"I8", 1, DType::i64},
    {"U32", 4, DType::i64},      {"U16", 2, DType::i64}, {"U8", 1, DType::i64},
};

// The key under which the format keeps strings instead of a tensor.
constexpr const char* kMetadata = "__metadata__";

// Takes the entries out of the JSON as the parser comes past them, so that nothing is built that
// a header cannot contain: no deep nesting, no second entry of the same name.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  // The parser's callback. The root is at depth 0, entries at 1, their fields at 2.
  bool operator()(int depth, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (event == Event::key) {
      note_key(depth, value.get_ref<const std::string&>());
    } else if (depth == 0) {
      check(event != Event::array_start && event != Event::value,
            "{}: the header is not a JSON object", path_);
    } else if (depth == 1 && event == Event::object_end) {
      take_entry(value);
      return false;  // no need to keep it
    } else if (depth == 1) {
      check(event == Event::object_start, "{}: {} must be a JSON object", path_, Quoted{name_});
      fields_.clear();
    } else {
      check(!opens || (depth == 2 && event == Event::array_start),
            "{}: {} has JSON nested where none belongs", path_, Quoted{name_});
    }
    return true;
  }

  FileHeader header;

 private:
  void note_key(int depth, const std::string& key) {
    if (depth == 1) {
      name_ = key;
      check(names_.insert(key).second, "{}: two tensors have the name {}", path_, Quoted{key});
    } else {
      check(fields_.insert(key).second, "{}: {} has two fields {}", path_, Quoted{name_},
            Quoted{key});
    }
  }

  void take_entry(const json& fields) {
    if (name_ == kMetadata) {
      for (const auto& [key, value] : fields.items()) {
        check(value.is_string(), "{}: metadata {} must be a string", path_, Quoted{key});
        header.metadata[key] = value.get<std::string>();
      }
      return;
    }
    const bool right_types = fields.size() == 3 && fields.contains("dtype") &&
                             fields["dtype"].is_string() && fields.contains("shape") &&
                             fields["shape"].is_array() && fields.contains("data_offsets") &&
                             fields["data_offsets"].is_array();
    check(right_types,
          "{}: tensor {} must have a dtype (text), a shape (list), data_offsets (list) and "
          "nothing else",
          path_, Quoted{name_});
    FileEntry entry;
    entry.name = name_;
    entry.type = type_named(fields["dtype"].get_ref<const std::string&>());
    entry.shape = shape_from(fields["shape"]);
    set_offsets(entry, fields["data_offsets"]);
    header.entries.push_back(std::move(entry));
  }

  const FileType* type_named(const std::string& name) const {
    const auto* type = std::find_if(std::begin(kFileTypes), std::end(kFileTypes),
                                    [&](const FileType& known) { return known.name == name; });
    check(type != std::end(kFileTypes), "{}: tensor {} has the dtype {}, which cannot be read",
          path_, Quoted{name_}, Quoted{name});
    return type;
  }

  Shape shape_from(const json& list) const {
    check(list.size() <= kMaxRank, "{}: tensor {} has {} axes, at most {} are allowed", path_,
          Quoted{name_}, list.size(), kMaxRank);
    // The bytes must fit 63 bits even when an extent of 0 makes the whole empty: strides are
    // made from the others.
    std::uint64_t room = std::uint64_t{1} << 59;
    Shape shape;
    for (const json& extent : list) {
      check(extent.is_number_unsigned(), "{}: tensor {} has an extent that is no whole number >= 0",
            path_, Quoted{name_});
      const auto value = extent.get<std::uint64_t>();
      check(value <= room, "{}: tensor {} has too many elements", path_, Quoted{name_});
      room /= std::max<std::uint64_t>(value, 1);
      shape.push_back(static_cast<std::int64_t>(value));
    }
    return shape;
  }

  void set_offsets(FileEntry& entry, const json& list) const {
    check(list.size() == 2 && list[0].is_number_unsigned() && list[1].is_number_unsigned(),
          "{}: tensor {} must have two whole numbers >= 0 as data_offsets", path_, Quoted{name_});
    entry.begin = list[0].get<std::uint64_t>();
    entry.end = list[1].get<std::uint64_t>();
    check(entry.begin <= entry.end, "{}: tensor {} ends at byte {}, before its start at {}", path_,
          Quoted{name_}, entry.end, entry.begin);
    const std::uint64_t needed =
        static_cast<std::uint64_t>(entry.shape.numel()) * entry.type->bytes;
    check(entry.end - entry.begin == needed,
          "{}: tensor {} of dtype {} and shape {} needs {} bytes, its data_offsets give {}", path_,
          Quoted{name_}, entry.type->name, entry.shape, needed, entry.end - entry.begin);
  }

  const std::string& path_;
  std::string name_;              // of the entry being read
  std::set<std::string> names_;   // of all entries
  std::set<std::string> fields_;  // of the entry being read
};

// The entries must cover the data exactly: each starts where the one before ends.
void check_layout(const std::string& path, const std::vector<FileEntry>& entries,
                  std::uint64_t data_bytes) {
  std::vector<const FileEntry*> sorted;
  for (const FileEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const FileEntry* a, const FileEntry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t end = 0;
  for (const FileEntry* entry : sorted) {
    check(entry->end <= data_bytes,
          "{}: tensor {} ends at byte {} of the data, the file has {} (is it cut short?)", path,
          Quoted{entry->name}, entry->end, data_bytes);
    check(entry->begin >= end, "{}: tensor {} starts at byte {} and overlaps one that ends at {}",
          path, Quoted{entry->name}, entry->begin, end);
    check(entry->begin == end, "{}: bytes {} to {} before tensor {} belong to no tensor", path, end,
          entry->begin, Quoted{entry->name});
    end = entry->end;
  }
  check(end == data_bytes, "{}: {} bytes follow the last tensor", path, data_bytes - end);
}

std::string json_text(const std::string& path, const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    fail("{}: the name or metadata {} is not UTF-8", path, Quoted{text});
  }
}

}  // namespace

const FileType& file_type(DType dtype) {
  return *std::find_if(std::begin(kFileTypes), std::end(kFileTypes),
                       [&](const FileType& type) { return type.dtype == dtype; });
}

FileHeader parse_header(const std::string& path, std::string_view text, std::uint64_t data_bytes) {
  // The parser takes a zero byte for the end and would not look at what follows.
  check(text.find('\0') == text.npos, "{}: the header is not JSON: it contains a zero byte", path);
  HeaderReader reader(path);
  try {
    [[maybe_unused]] const json left = json::parse(text, std::ref(reader));
  } catch (const json::parse_error& error) {
    fail("{}: the header is not JSON, wrong at its byte {}", path, error.byte);
  } catch (const json::exception&) {
    fail("{}: the header has a number that is out of range", path);
  }
  check_layout(path, reader.header.entries, data_bytes);
  return std::move(reader.header);
}

std::string header_text(const std::string& path, const FileHeader& header) {
  std::string text = "{";
  const auto separate = [&] { text += text.size() > 1 ? "," : ""; };
  if (!header.metadata.empty()) {
    std::string strings;
    for (const auto& [key, value] : header.metadata) {
      strings += strings.empty() ? "" : ",";
      strings += json_text(path, key) + ":" + json_text(path, value);
    }
    text += fmt::format("\"{}\":{{{}}}", kMetadata, strings);
  }
  std::set<std::string> names = {kMetadata};
  for (const FileEntry& entry : header.entries) {
    check(names.insert(entry.name).second, "{}: the name {} is taken", path, Quoted{entry.name});
    separate();
    text += fmt::format(R"({}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                        json_text(path, entry.name), entry.type->name, entry.shape, entry.begin,
                        entry.end);
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::string to_string(const Quoted& quoted) {
  constexpr std::size_t longest = 60;
  const std::string shown(quoted.text.substr(0, longest));
  const std::string escaped = json(shown).dump(-1, ' ', true, json::error_handler_t::replace);
  return quoted.text.size() <= longest ? escaped : escaped + "...";
}

}  // namespace gradzoo
