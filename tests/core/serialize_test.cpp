// safetensors files: what is written, what comes back, and what broken files are told.
#include "core/serialize.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/create.h"
#include "core/ops/view.h"
#include "core/storage.h"
#include "core/trace.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

std::string length_bytes(std::uint64_t length) {
  std::string bytes(8, '\0');
  for (auto& byte : bytes) {
    byte = static_cast<char>(length & 255);
    length >>= 8;
  }
  return bytes;
}

// A file with this header, its length right, and this data.
std::string file_bytes(const std::string& header, const std::string& data = "") {
  return length_bytes(header.size()) + header + data;
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return std::string("\"") + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}";
}

// What load_tensors says about a file with these bytes, without the path it must start with.
std::string refusal(const std::string& bytes) {
  const TemporaryDirectory directory;
  const std::string path = directory / "broken.safetensors";
  write_bytes(path, bytes);
  const std::string message = message_of([&] { load_tensors(path); });
  if (message.rfind(path + ": ", 0) != 0) return "no path: " + message;
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.size() < 400);
  return message.substr(path.size() + 2);
}

TensorFile round_trip(const TensorFile& file) {
  const TemporaryDirectory directory;
  save_tensors(directory / "f", file);
  return load_tensors(directory / "f");
}

template <class T>
void check_same(const Tensor& a, const Tensor& b) {
  REQUIRE(a.defined());
  CHECK(a.shape() == b.shape());
  REQUIRE(a.dtype() == b.dtype());
  const auto x = a.to_vector<T>(), y = b.to_vector<T>();
  REQUIRE(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::memcmp(&x[i], &y[i], sizeof(T)) == 0);
}
template <>
void check_same<bool>(const Tensor& a, const Tensor& b) {
  CHECK(a.shape() == b.shape());
  CHECK(a.to_vector<bool>() == b.to_vector<bool>());
}

}  // namespace

TEST_CASE("serialize: every dtype, special values, metadata and order come back") {
  const double inf = std::numeric_limits<double>::infinity();
  TensorFile file;
  file.tensors = {
      {"z.bool", tensor({true, false, true}, DType::boolean)},
      {"a.f32", tensor({{1.5, -0.0, inf}, {-inf, 1e-45, NAN}})},
      {"i64", from_vector<std::int64_t>({INT64_MIN, INT64_MAX, (INT64_C(1) << 53) + 1}, {3})},
      {"f64", tensor({0.1, -1e308, 5e-324}, DType::f64)},
      {"scalar", scalar(2.5)},
      {"empty", empty({0, 3}, DType::f64)},
      {"", ones({2})},
      {"näme \"quoted\" \\ \n", ones({1, 1, 1, 1, 1, 1, 1, 2})},
  };
  file.metadata = {{"format", "pt"}, {"config", "{\"d_model\": 64}"}, {"ключ", ""}};
  const TensorFile back = round_trip(file);
  CHECK(back.metadata == file.metadata);
  REQUIRE(back.tensors.size() == file.tensors.size());
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    CHECK(back.tensors[i].first == file.tensors[i].first);
    CHECK_FALSE(back.tensors[i].second.requires_grad());
  }
  check_same<bool>(back.find("z.bool"), file.find("z.bool"));
  check_same<float>(back.find("a.f32"), file.find("a.f32"));
  check_same<std::int64_t>(back.find("i64"), file.find("i64"));
  check_same<double>(back.find("f64"), file.find("f64"));
  check_same<float>(back.find("scalar"), file.find("scalar"));
  check_same<double>(back.find("empty"), file.find("empty"));
  check_same<float>(back.find(""), file.find(""));
  check_same<float>(back.tensors[7].second, file.tensors[7].second);
  CHECK_FALSE(back.find("none").defined());
}

TEST_CASE("serialize: a file without tensors") {
  TensorFile file;
  CHECK(round_trip(file).tensors.empty());
  file.metadata["key"] = "value";
  CHECK(round_trip(file).metadata == file.metadata);
}

TEST_CASE("serialize: the bytes are those of the format") {
  const TemporaryDirectory directory;
  TensorFile file;
  file.tensors = {{"flag", tensor({1, 0, 1}, DType::boolean)}, {"w", tensor({{1.0}, {-2.0}})}};
  file.metadata = {{"by", "hands"}};
  save_tensors(directory / "f", file);
  // Widest elements first, so that "w" lies at a multiple of 4.
  std::string header =
      R"({"__metadata__":{"by":"hands"},"flag":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},)"
      R"("w":{"dtype":"F32","shape":[2, 1],"data_offsets":[0,8]}})";
  REQUIRE(header.size() % 8 != 0);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string data("\0\0\x80\x3f\0\0\0\xc0\1\0\1", 11);
  CHECK(read_bytes(directory / "f") == file_bytes(header, data));
  CHECK(directory.count() == 1);
}

TEST_CASE("serialize: a file written by hand is read, with spaces, escapes and any order") {
  const TemporaryDirectory directory;
  const std::string header =
      "{ \"second\\u00e9\" : {\"data_offsets\": [4, 12], \"shape\": [], \"dtype\": \"I64\"},\n"
      "  \"first\": {\"dtype\": \"F32\", \"shape\": [1, 1], \"data_offsets\": [0, 4]} }   ";
  write_bytes(directory / "f",
              file_bytes(header, std::string("\0\0\x40\xbf\xfe\xff\xff\xff\xff\xff\xff\xff", 12)));
  const TensorFile file = load_tensors(directory / "f");
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors[0].first == "secondé");
  CHECK(file.find("secondé").shape() == Shape{});
  CHECK(file.find("secondé").to_vector<std::int64_t>().at(0) == -2);
  CHECK(file.find("first").shape() == Shape{1, 1});
  CHECK(file.find("first").item() == -0.75);
}

TEST_CASE("serialize: narrow types become f32 and i64 exactly") {
  const TemporaryDirectory directory;
  const std::string header =
      std::string("{") + entry("h", "F16", "[6]", "[0,12]") + "," +
      entry("b", "BF16", "[2]", "[12,16]") + "," + entry("i", "I32", "[2]", "[16,24]") + "," +
      entry("s", "I16", "[1]", "[24,26]") + "," + entry("c", "I8", "[2]", "[26,28]") + "," +
      entry("u", "U8", "[1]", "[28,29]") + "," + entry("v", "U16", "[1]", "[29,31]") + "," +
      entry("w", "U32", "[1]", "[31,35]") + "}";
  const std::string data(
      "\x00\x3c\x01\x00\xff\x03\xff\x7b\x00\xfc\x00\x80"  // 1, 2^-24, 1023/2^24, 65504, -inf, -0
      "\x80\x3f\xc0\xff"                                  // 1, NaN
      "\xff\xff\xff\xff\x00\x00\x00\x80"                  // -1, -2^31
      "\x00\x80"                                          // -32768
      "\x80\x7f"                                          // -128, 127
      "\xff\xff\xff\xfe\xff\xff\xff",                     // 255, 65535, 2^32 - 2
      35);
  write_bytes(directory / "f", file_bytes(header, data));
  const TensorFile file = load_tensors(directory / "f");
  const std::vector<float> h = file.find("h").to_vector<float>();
  CHECK(h[0] == 1.0f);
  CHECK(h[1] == std::ldexp(1.0f, -24));
  CHECK(h[2] == std::ldexp(1023.0f, -24));
  CHECK(h[3] == 65504.0f);
  CHECK(h[4] == -std::numeric_limits<float>::infinity());
  CHECK((h[5] == 0.0f && std::signbit(h[5])));
  CHECK(file.find("b").at({0}) == 1.0);
  CHECK(std::isnan(file.find("b").at({1})));
  using Ints = std::vector<std::int64_t>;
  CHECK(file.find("i").to_vector<std::int64_t>() == Ints{-1, INT32_MIN});
  CHECK(file.find("s").to_vector<std::int64_t>() == Ints{-32768});
  CHECK(file.find("c").to_vector<std::int64_t>() == Ints{-128, 127});
  CHECK(file.find("u").to_vector<std::int64_t>() == Ints{255});
  CHECK(file.find("v").to_vector<std::int64_t>() == Ints{65535});
  CHECK(file.find("w").to_vector<std::int64_t>() == Ints{INT64_C(4294967294)});
}

TEST_CASE("serialize: narrow types are converted piece by piece") {
  const TemporaryDirectory directory;
  std::string data;
  for (int i = 0; i < 150000; ++i) {
    data += static_cast<char>(i & 255);
    data += static_cast<char>((i >> 8) & 255);
  }
  write_bytes(
      directory / "f",
      file_bytes(std::string("{") + entry("w", "U16", "[150000]", "[0,300000]") + "}", data));
  const auto values = load_tensors(directory / "f").find("w").to_vector<std::int64_t>();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wrong += values[i] != static_cast<std::int64_t>(i & 65535);
  }
  CHECK(values.size() == 150000);
  CHECK(wrong == 0);
}

TEST_CASE("serialize SFT7, VIW5: strided and broadcast tensors are saved as their elements") {
  const Tensor base = reshape(arange(24, DType::f32), {2, 3, 4});
  TensorFile file;
  file.tensors = {
      {"transposed", transpose(base, 0, 2)},
      {"steps", slice(base, 2, 1, kEnd, 2)},
      {"row", select(base, 1, 2)},
      {"broadcast", expand(tensor({{7.0, 8.0}}), {4, 2})},
      {"inside", slice(arange(10, DType::f32), 0, 3, 6)},
  };
  const TensorFile back = round_trip(file);
  for (const auto& entry : file.tensors) {
    const std::string& name = entry.first;
    const Tensor& x = entry.second;
    CAPTURE(name);
    check_same<float>(back.find(name), x);
    CHECK(back.find(name).is_contiguous());
  }
  CHECK(back.find("broadcast").to_vector<float>() == std::vector<float>{7, 8, 7, 8, 7, 8, 7, 8});
}

TEST_CASE("serialize: strided tensors that are written in many pieces") {
  TensorFile file;
  file.tensors = {
      {"rows", transpose(reshape(arange(300000, DType::f64), {1000, 300}))},
      {"long rows", transpose(reshape(arange(280000, DType::f64), {140000, 2}))},
      {"stretched", expand(arange(3, DType::f64), {70000, 3})},
  };
  const TensorFile back = round_trip(file);
  for (const auto& entry : file.tensors) {
    const std::string& name = entry.first;
    const Tensor& x = entry.second;
    CAPTURE(name);
    CHECK(back.find(name).to_vector<double>() == x.to_vector<double>());
  }
}

TEST_CASE("serialize SFT6: tensors that share memory are written under each name") {
  const Tensor weight = tensor({{1.0, 2.0}, {3.0, 4.0}});
  TensorFile file;
  file.tensors = {{"embedding", weight}, {"output", weight}, {"part", slice(weight, 0, 0, 1)}};
  const TensorFile back = round_trip(file);
  check_same<float>(back.find("embedding"), weight);
  check_same<float>(back.find("output"), weight);
  CHECK(back.find("part").to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("serialize: a leaf keeps its gradient, and saving leaves no step in a trace") {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  const Tensor view = transpose(x);
  const Trace trace;
  TensorFile file;
  file.tensors = {{"x", view}};
  const TensorFile back = round_trip(file);
  CHECK(trace.steps().empty());
  CHECK(x.requires_grad());
  CHECK_FALSE(back.find("x").requires_grad());
}

TEST_CASE("serialize: what cannot be saved is refused before anything is written") {
  const TemporaryDirectory directory;
  const std::string path = directory / "f";
  const auto message = [&](const TensorFile& file) {
    return message_of([&] { save_tensors(path, file); });
  };
  TensorFile twice;
  twice.tensors = {{"w", ones({1})}, {"w", ones({1})}};
  CHECK(message(twice) == path + ": the name \"w\" is taken");
  TensorFile reserved;
  reserved.tensors = {{"__metadata__", ones({1})}};
  CHECK(message(reserved) == path + ": the name \"__metadata__\" is taken");
  TensorFile undefined;
  undefined.tensors = {{"w", Tensor()}};
  CHECK(message(undefined) == path + ": tensor \"w\" is undefined and cannot be saved");
  TensorFile bytes;
  bytes.tensors = {{"\xff", ones({1})}};
  CHECK(contains(message(bytes), "is not UTF-8"));
  TensorFile metadata;
  metadata.metadata = {{"key", "\xc3"}};
  CHECK(contains(message(metadata), "is not UTF-8"));
  CHECK(directory.count() == 0);
  CHECK(message_of([] {
          save_tensors("/dev/full", {{{"w", ones({4})}}, {}});
        }) == "/dev/full: cannot write: No space left on device");
}

TEST_CASE("serialize B14: a file cut at every byte is refused, and so is one too long") {
  const TemporaryDirectory directory;
  TensorFile file;
  file.tensors = {{"a", tensor({1.0, 2.0, 3.0})}, {"b", tensor({true, false}, DType::boolean)}};
  file.metadata = {{"k", "v"}};
  save_tensors(directory / "whole", file);
  const std::string whole = read_bytes(directory / "whole");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const std::string why = refusal(whole.substr(0, length));
    CHECK((contains(why, "bytes") || contains(why, "cut short")));
    CHECK_FALSE(contains(why, "no path"));
  }
  CHECK(refusal(whole + "x") == "1 bytes follow the last tensor");
}

TEST_CASE("serialize B15: header lengths that are not to be believed allocate nothing") {
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  CHECK(refusal(std::string(8, '\xff')) ==
        "not a safetensors file: a header of 18446744073709551615 bytes, 2 to 100000000 are "
        "allowed");
  CHECK(contains(refusal(length_bytes(0) + "{}"), "a header of 0 bytes"));
  CHECK(contains(refusal(length_bytes(100000001) + "{}"), "a header of 100000001 bytes"));
  CHECK(refusal(length_bytes(100000000) + "{}") ==
        "the header has 100000000 bytes, the file only 2 after its length (is it cut short?)");
  CHECK(contains(refusal(length_bytes(3) + "{}"), "the header has 3 bytes"));
  CHECK(memory::peak_bytes() == before);
}

TEST_CASE("serialize: bytes that are no bool") {
  const auto with_bytes = [](const std::string& data) {
    const std::string size = std::to_string(data.size());
    const std::string header =
        std::string("{") + entry("m", "BOOL", "[" + size + "]", "[0," + size + "]") + "}";
    return refusal(file_bytes(header, data));
  };
  CHECK(with_bytes(std::string("\0\1\2", 3)) ==
        "tensor \"m\" is BOOL and has the byte 2 at element 2");
  CHECK(contains(with_bytes("\xff"), "has the byte 255 at element 0"));
  CHECK(with_bytes(std::string("\0\1", 2)) == "no path: no error");
}

TEST_CASE("serialize: no file, an empty one, a directory") {
  const TemporaryDirectory directory;
  CHECK(message_of([&] { load_tensors(directory / "none"); }) ==
        directory / "none" + ": cannot open: No such file or directory");
  CHECK(message_of([&] { load_tensors(directory.path()); }) ==
        directory.path() + ": cannot read: it is a directory");
  CHECK(refusal("") == "not a safetensors file: it has 0 bytes");
}

TEST_CASE("serialize: loading holds each number once") {
  const TemporaryDirectory directory;
  TensorFile file;
  file.tensors = {{"a", zeros({1000, 250})}, {"b", transpose(zeros({1000, 250}))}};
  save_tensors(directory / "f", file);
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  const TensorFile back = load_tensors(directory / "f");
  CHECK(memory::live_bytes() == before + 2000000);
  CHECK(memory::peak_bytes() == before + 2000000);
  memory::reset_peak();
  save_tensors(directory / "f", file);
  CHECK(memory::peak_bytes() <= before + 2000000 + 300000);
}

TEST_CASE("serialize: the metadata alone, without the tensors") {
  const TemporaryDirectory directory;
  TensorFile file;
  file.tensors = {{"a", zeros({1000, 250})}};
  file.metadata = {{"note", "hello"}, {"empty", ""}};
  save_tensors(directory / "f", file);
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  CHECK(load_metadata(directory / "f") == file.metadata);
  CHECK(memory::peak_bytes() == before);
  const std::string whole = read_bytes(directory / "f");
  write_bytes(directory / "f", whole.substr(0, whole.size() - 1));
  CHECK(contains(message_of([&] { load_metadata(directory / "f"); }), "cut short"));
}
