// Reads the ONNX vectors. The file uses element types that load_tensors refuses, hence a reader of
// its own here.
#include "tests/core/onnx_cases.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gradzoo::test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  check(file.good(), "onnx: {} cannot be read", path.string());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

double half_to_double(std::uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double brain_to_double(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Elements of type Stored, each converted to one of type Ours.
template <class Ours, class Stored, class Convert>
Tensor convert(const char* bytes, const Shape& shape, Convert conversion) {
  std::vector<Ours> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    Stored value;
    std::memcpy(&value, bytes + static_cast<std::size_t>(i) * sizeof(Stored), sizeof(Stored));
    values.push_back(static_cast<Ours>(conversion(value)));
  }
  return from_vector(values, shape);
}

Tensor to_tensor(const std::string& type, const char* bytes, const Shape& shape) {
  const auto same = [](auto value) { return value; };
  if (type == "F32") return convert<float, float>(bytes, shape, same);
  if (type == "F64") return convert<double, double>(bytes, shape, same);
  if (type == "F16") return convert<float, std::uint16_t>(bytes, shape, half_to_double);
  if (type == "BF16") return convert<float, std::uint16_t>(bytes, shape, brain_to_double);
  if (type == "BOOL") return convert<bool, std::uint8_t>(bytes, shape, same);
  if (type == "I64") return convert<std::int64_t, std::int64_t>(bytes, shape, same);
  if (type == "I32") return convert<std::int64_t, std::int32_t>(bytes, shape, same);
  if (type == "I16") return convert<std::int64_t, std::int16_t>(bytes, shape, same);
  if (type == "I8") return convert<std::int64_t, std::int8_t>(bytes, shape, same);
  if (type == "U8") return convert<std::int64_t, std::uint8_t>(bytes, shape, same);
  if (type == "U16") return convert<std::int64_t, std::uint16_t>(bytes, shape, same);
  if (type == "U32") return convert<std::int64_t, std::uint32_t>(bytes, shape, same);
  if (type == "U64") return convert<std::int64_t, std::uint64_t>(bytes, shape, same);
  fail("onnx: element type {} is not known", type);
}

class Vectors {
 public:
  explicit Vectors(const std::filesystem::path& path) : bytes_(read_file(path)) {
    std::uint64_t length = 0;
    check(bytes_.size() >= sizeof(length), "onnx: {} is too short", path.string());
    std::memcpy(&length, bytes_.data(), sizeof(length));
    check(length <= bytes_.size() - sizeof(length), "onnx: {} is too short", path.string());
    header_ = nlohmann::json::parse(bytes_.substr(sizeof(length), length));
    data_ = sizeof(length) + length;
  }

  Tensor tensor(const std::string& key, bool& half) const {
    const auto& entry = header_.at(key);
    const std::vector<std::int64_t> extents = entry.at("shape");
    const std::string type = entry.at("dtype");
    half = half || type == "F16" || type == "BF16";
    return to_tensor(type,
                     bytes_.data() + data_ + entry.at("data_offsets").at(0).get<std::size_t>(),
                     Shape(std::span<const std::int64_t>(extents)));
  }

 private:
  std::string bytes_;
  nlohmann::json header_;
  std::size_t data_ = 0;
};

}  // namespace

std::string onnx_folder() {
  namespace fs = std::filesystem;
  std::vector<fs::path> places;
  if (const char* given = std::getenv("GRADZOO_ONNX_DIR")) {
    places.emplace_back(given);
  } else {
    const fs::path root = GRADZOO_SOURCE_ROOT;
    places = {root / ".." / "shared" / "onnx", root / "shared" / "onnx"};
  }
  for (const fs::path& place : places) {
    if (fs::exists(place / "vectors.json") && fs::exists(place / "vectors.safetensors")) {
      return place.string();
    }
  }
  return "";
}

std::vector<OnnxCase> read_onnx_cases(const std::string& folder) {
  const std::filesystem::path path = folder;
  const Vectors vectors(path / "vectors.safetensors");
  const auto index = nlohmann::json::parse(read_file(path / "vectors.json"));
  std::vector<OnnxCase> cases;
  for (const auto& entry : index.at("cases")) {
    OnnxCase one;
    one.name = entry.at("case");
    one.op = entry.at("op");
    one.attrs = entry.at("attrs");
    one.random = entry.at("random");
    const auto read = [&](const char* which, Tensors& tensors) {
      for (const auto& key : entry.at(which)) {
        tensors.push_back(key.is_null() ? Tensor() : vectors.tensor(key, one.half));
      }
    };
    read("inputs", one.inputs);
    read("outputs", one.outputs);
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace gradzoo::test
