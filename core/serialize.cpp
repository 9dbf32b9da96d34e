// Tensors in files: the safetensors format. Eight bytes with the length of the header, the header
// (serialize_header.h), and the elements of the tensors one after another, all little-endian.
#include "core/serialize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/file.h"
#include "core/ops/view.h"
#include "core/serialize_header.h"

namespace gradzoo {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::uint64_t kLengthBytes = 8;
// Elements that are not as in the file pass through a buffer of this many.
constexpr std::int64_t kPiece = 1 << 16;

// The tensors in the order in which their elements are written: widest elements first. That puts
// every tensor at a multiple of its element size, which readers that map the file rely on.
std::vector<std::size_t> layout_order(const FileHeader& header) {
  std::vector<std::size_t> order(header.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return header.entries[a].type->bytes > header.entries[b].type->bytes;
  });
  return order;
}

void write_elements(AtomicFile& out, const Tensor& x) {
  const std::size_t element = size_of(x.dtype());
  if (x.is_contiguous()) {
    const char* data = static_cast<const char*>(x.impl().storage->data());
    out.write(data + static_cast<std::size_t>(x.impl().offset) * element,
              static_cast<std::size_t>(x.numel()) * element);
    return;
  }
  // Not empty and with an axis, or it would be contiguous: copied out some rows at a time, where
  // a single row is too long row by row.
  const std::int64_t row = x.numel() / x.size(0);
  const std::int64_t step = std::max<std::int64_t>(kPiece / row, 1);
  for (std::int64_t i = 0; i < x.size(0); i += step) {
    Shape shape = x.shape(), strides = x.strides();
    shape[0] = std::min(step, x.size(0) - i);
    if (row > kPiece) {
      shape.erase(0);
      strides.erase(0);
    }
    const Tensor part = view_of(x, shape, strides, x.impl().offset + i * x.strides()[0]);
    if (row > kPiece) {
      write_elements(out, part);
    } else {
      const Tensor packed = empty(shape, x.dtype());
      copy_into(packed, part);
      write_elements(out, packed);
    }
  }
}

float from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = std::bit_cast<float>(0x7f800000u | static_cast<std::uint32_t>(fraction) << 13);
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class T>
std::int64_t from_integer(T value) {
  return value;
}

// Reads elements of type From through a small buffer and stores them as `convert` gives them.
template <class From, class To>
void read_as(const InputFile& in, std::uint64_t offset, const Tensor& y, To (*convert)(From)) {
  To* out = mutable_data<To>(y);
  std::vector<From> buffer(static_cast<std::size_t>(std::min(y.numel(), kPiece)));
  for (std::int64_t done = 0; done < y.numel();) {
    const auto count = static_cast<std::size_t>(std::min(y.numel() - done, kPiece));
    in.read(offset + static_cast<std::uint64_t>(done) * sizeof(From), buffer.data(),
            count * sizeof(From));
    std::transform(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count), out + done,
                   convert);
    done += static_cast<std::int64_t>(count);
  }
}

// Elements as they are in memory, straight into it.
void read_plain(const std::string& path, const InputFile& in, std::uint64_t offset,
                const FileEntry& entry, const Tensor& y) {
  const auto count = static_cast<std::size_t>(y.numel());
  void* data = y.impl().storage->data();
  in.read(offset, data, count * size_of(y.dtype()));
  if (y.dtype() != DType::boolean) return;
  // A bool with another bit pattern would be undefined behaviour for whoever looks at it.
  const auto* bytes = static_cast<const unsigned char*>(data);
  const auto* wrong = std::find_if(bytes, bytes + count, [](unsigned char b) { return b > 1; });
  check(wrong == bytes + count, "{}: tensor {} is BOOL and has the byte {} at element {}", path,
        Quoted{entry.name}, *wrong, wrong - bytes);
}

Tensor read_tensor(const std::string& path, const InputFile& in, std::uint64_t data_start,
                   const FileEntry& entry) {
  const Tensor y = empty(entry.shape, entry.type->dtype);
  const std::uint64_t offset = data_start + entry.begin;
  const std::string_view type = entry.type->name;
  if (type == "F16") {
    read_as(in, offset, y, from_half);
  } else if (type == "BF16") {
    read_as(in, offset, y, from_bfloat);
  } else if (type == "I32") {
    read_as(in, offset, y, from_integer<std::int32_t>);
  } else if (type == "I16") {
    read_as(in, offset, y, from_integer<std::int16_t>);
  } else if (type == "I8") {
    read_as(in, offset, y, from_integer<std::int8_t>);
  } else if (type == "U32") {
    read_as(in, offset, y, from_integer<std::uint32_t>);
  } else if (type == "U16") {
    read_as(in, offset, y, from_integer<std::uint16_t>);
  } else if (type == "U8") {
    read_as(in, offset, y, from_integer<std::uint8_t>);
  } else {
    read_plain(path, in, offset, entry, y);
  }
  return y;
}

// The text of the header, whose length the file has been checked to hold.
std::string read_header(const std::string& path, const InputFile& in) {
  check(in.size() >= kLengthBytes, "{}: not a safetensors file: it has {} bytes", path, in.size());
  std::uint64_t length = 0;
  in.read(0, &length, kLengthBytes);
  check(length >= 2 && length <= kMaxHeaderBytes,
        "{}: not a safetensors file: a header of {} bytes, 2 to {} are allowed", path, length,
        kMaxHeaderBytes);
  check(length <= in.size() - kLengthBytes,
        "{}: the header has {} bytes, the file only {} after its length (is it cut short?)", path,
        length, in.size() - kLengthBytes);
  std::string text(static_cast<std::size_t>(length), ' ');
  in.read(kLengthBytes, text.data(), text.size());
  return text;
}

}  // namespace

Tensor TensorFile::find(const std::string& name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const auto& entry) { return entry.first == name; });
  return it == tensors.end() ? Tensor() : it->second;
}

void save_tensors(const std::string& path, const TensorFile& file) {
  FileHeader header;
  header.metadata = file.metadata;
  for (const auto& [name, tensor] : file.tensors) {
    check(tensor.defined(), "{}: tensor {} is undefined and cannot be saved", path, Quoted{name});
    header.entries.push_back({name, &file_type(tensor.dtype()), tensor.shape(), 0, 0});
  }
  const std::vector<std::size_t> order = layout_order(header);
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    FileEntry& entry = header.entries[i];
    entry.begin = end;
    end += static_cast<std::uint64_t>(entry.shape.numel()) * entry.type->bytes;
    entry.end = end;
  }
  const std::string text = header_text(path, header);
  const std::uint64_t length = text.size();
  check(length <= kMaxHeaderBytes, "{}: the header would have {} bytes, {} are allowed", path,
        length, kMaxHeaderBytes);
  AtomicFile out(path);
  out.write(&length, kLengthBytes);
  out.write(text);
  for (const std::size_t i : order) write_elements(out, file.tensors[i].second);
  out.commit();
}

TensorFile load_tensors(const std::string& path) {
  const InputFile in(path);
  const std::string text = read_header(path, in);
  const std::uint64_t data_start = kLengthBytes + text.size();
  FileHeader header = parse_header(path, text, in.size() - data_start);
  TensorFile file;
  file.metadata = std::move(header.metadata);
  for (const FileEntry& entry : header.entries) {
    file.tensors.emplace_back(entry.name, read_tensor(path, in, data_start, entry));
  }
  return file;
}

std::map<std::string, std::string> load_metadata(const std::string& path) {
  const InputFile in(path);
  const std::string text = read_header(path, in);
  return parse_header(path, text, in.size() - kLengthBytes - text.size()).metadata;
}

}  // namespace gradzoo
