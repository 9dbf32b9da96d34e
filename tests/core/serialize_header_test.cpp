// The header of a safetensors file: what broken ones are told. Whole files: serialize_test.cpp.
#include "core/serialize_header.h"

#include <doctest/doctest.h>

#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return std::string("\"") + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}";
}

// What parse_header says about this text before these data, without the path.
std::string header_refusal(const std::string& header, const std::string& data = "") {
  const std::string message = message_of([&] { parse_header("f", header, data.size()); });
  if (message.rfind("f: ", 0) != 0) return message;
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.size() < 400);
  return message.substr(3);
}

const std::string kTwo(8, '\0');  // the data of two f32

}  // namespace

TEST_CASE("serialize_header: headers that are not JSON, or the wrong JSON") {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  CHECK(header_refusal("xx") == "the header is not JSON, wrong at its byte 1");
  CHECK(contains(header_refusal("{\"a\":{" + good + "}"), "not JSON"));
  CHECK(contains(header_refusal("{\"a\":{" + good + "},}", kTwo), "not JSON"));
  CHECK(contains(header_refusal("{\"a\":{" + good + "}} x", kTwo), "not JSON"));
  CHECK(contains(header_refusal("{\"\xff\":{" + good + "}}", kTwo), "not JSON"));
  CHECK(contains(header_refusal("{} /* */"), "not JSON"));
  CHECK(contains(header_refusal(std::string("{}\0garbage", 10)), "zero byte"));
  CHECK(contains(header_refusal("[]"), "not a JSON object"));
  CHECK(contains(header_refusal("12"), "not a JSON object"));
  CHECK(contains(header_refusal("null"), "not a JSON object"));
  CHECK(contains(header_refusal("{\"a\":1e999}"), "out of range"));
  CHECK(contains(header_refusal("{\"a\":7}"), "\"a\" must be a JSON object"));
  CHECK(contains(header_refusal("{\"a\":[]}"), "\"a\" must be a JSON object"));
  CHECK(contains(header_refusal("{\"a\":{}}"), "must have a dtype"));
  CHECK(contains(header_refusal("{\"a\":{" + good + ",\"more\":1}}", kTwo), "nothing else"));
  CHECK(contains(header_refusal(R"({"a":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})", kTwo),
                 "must have a dtype"));
  CHECK(contains(header_refusal(std::string("{") + entry("a", "F32", "2", "[0,8]") + "}", kTwo),
                 "a shape (list)"));
  CHECK(contains(header_refusal(std::string("{") + entry("a", "F32", "[2]", "\"08\"") + "}", kTwo),
                 "data_offsets (list)"));
  CHECK(contains(header_refusal(R"({"__metadata__":{"k":1}})"), "metadata \"k\" must be a string"));
  CHECK(contains(header_refusal(R"({"__metadata__":{"k":{}}})"), "nested"));
  CHECK(contains(header_refusal(R"({"__metadata__":"k"})"), "must be a JSON object"));
}

TEST_CASE("serialize_header: nesting is refused where it starts, however deep it goes") {
  const std::string bomb(5000000, '[');
  CHECK(contains(header_refusal(bomb), "not a JSON object"));
  CHECK(contains(header_refusal("{\"a\":" + bomb), "must be a JSON object"));
  CHECK(contains(header_refusal("{\"a\":{\"shape\":" + bomb), "nested"));
  CHECK(contains(header_refusal("{\"a\":{\"shape\":{"), "nested"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(contains(header_refusal(objects), "nested"));
}

TEST_CASE("serialize_header SFT1: names and fields that appear twice") {
  const std::string one = entry("key00", "F32", "[2]", "[0,8]");
  CHECK(header_refusal(std::string("{") + one + "," + one + "}", kTwo) ==
        "two tensors have the name \"key00\"");
  const std::string same = entry("key\\u00300", "F32", "[2]", "[8,16]");
  CHECK(header_refusal(std::string("{") + one + "," + same + "}", kTwo + kTwo) ==
        "two tensors have the name \"key00\"");
  CHECK(header_refusal(R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                       kTwo) == "\"a\" has two fields \"dtype\"");
  CHECK(contains(header_refusal(R"({"__metadata__":{"k":"1","k":"2"}})"), "two fields \"k\""));
  CHECK(contains(header_refusal(R"({"__metadata__":{},"__metadata__":{}})"), "two tensors"));
}

TEST_CASE("serialize_header SFT2: a shape that does not match its bytes") {
  CHECK(
      header_refusal(std::string("{") + entry("w", "F32", "[1000,1000]", "[0,4]") + "}", "1234") ==
      "tensor \"w\" of dtype F32 and shape [1000, 1000] needs 4000000 bytes, its data_offsets "
      "give 4");
  CHECK(contains(header_refusal(std::string("{") + entry("w", "F32", "[1]", "[0,8]") + "}", kTwo),
                 "needs 4"));
  CHECK(contains(header_refusal(std::string("{") + entry("w", "F32", "[0]", "[0,8]") + "}", kTwo),
                 "needs 0"));
  CHECK(contains(header_refusal(std::string("{") + entry("w", "F32", "[]", "[0,8]") + "}", kTwo),
                 "needs 4"));
  CHECK(contains(header_refusal(std::string("{") + entry("w", "F64", "[2]", "[0,8]") + "}", kTwo),
                 "needs 16"));
}

TEST_CASE("serialize_header: shapes out of range") {
  const auto shape = [](const std::string& text) {
    return header_refusal(std::string("{") + entry("w", "F32", text, "[0,8]") + "}", kTwo);
  };
  CHECK(contains(shape("[-2]"), "no whole number >= 0"));
  CHECK(contains(shape("[2.0]"), "no whole number >= 0"));
  CHECK(contains(shape("[\"2\"]"), "no whole number >= 0"));
  CHECK(contains(shape("[null]"), "no whole number >= 0"));
  CHECK(contains(shape("[true]"), "no whole number >= 0"));
  CHECK(contains(shape("[18446744073709551615]"), "too many elements"));
  CHECK(contains(shape("[18446744073709551618]"), "no whole number >= 0"));
  CHECK(contains(shape("[4294967296,4294967296,2]"), "too many elements"));
  CHECK(contains(shape("[4611686018427387905,4]"), "too many elements"));
  CHECK(contains(shape("[0,9223372036854775807,9223372036854775807]"), "too many elements"));
  CHECK(contains(shape("[0,1152921504606846976,8]"), "too many elements"));
  CHECK(contains(shape("[1,1,1,1,1,1,1,1,2]"), "has 9 axes, at most 8"));
}

TEST_CASE("serialize_header SFT4: offsets that overlap, leave holes, point outside or overflow") {
  const auto two = [](const std::string& k, const std::string& v, std::size_t bytes = 16) {
    return header_refusal(
        std::string("{") + entry("k", "F32", "[2]", k) + "," + entry("v", "F32", "[2]", v) + "}",
        std::string(bytes, '\0'));
  };
  CHECK(two("[0,8]", "[8,16]") == "no error");
  CHECK(contains(two("[0,8]", "[0,8]", 8), "overlaps"));
  CHECK(two("[0,8]", "[4,12]", 12) ==
        "tensor \"v\" starts at byte 4 and overlaps one that ends at 8");
  CHECK(contains(two("[4,12]", "[0,8]", 12), "overlaps"));
  CHECK(two("[0,8]", "[9,17]", 17) == "bytes 8 to 9 before tensor \"v\" belong to no tensor");
  CHECK(contains(two("[1,9]", "[9,17]", 17), "bytes 0 to 1"));
  CHECK(two("[0,8]", "[8,16]", 17) == "1 bytes follow the last tensor");
  CHECK(contains(two("[0,8]", "[8,16]", 15), "tensor \"v\" ends at byte 16 of the data"));
  CHECK(contains(two("[0,8]", "[18446744073709551600,18446744073709551608]"), "ends at byte"));
  CHECK(contains(two("[0,8]", "[18446744073709551612,4]"), "before its start"));
  CHECK(contains(two("[0,8]", "[16,8]"), "before its start"));
  CHECK(contains(two("[0,8]", "[8,18446744073709551624]"), "two whole numbers"));
  CHECK(contains(two("[0,8]", "[-8,0]"), "two whole numbers"));
  CHECK(contains(two("[0,8]", "[8]"), "two whole numbers"));
  CHECK(contains(two("[0,8]", "[8,16,24]"), "two whole numbers"));
  CHECK(contains(two("[0,8]", "[8.0,16.0]"), "two whole numbers"));
  CHECK(header_refusal("{}", "data") == "4 bytes follow the last tensor");
}

TEST_CASE("serialize_header: empty tensors lie anywhere between the others, and only there") {
  const auto with_empty = [](const std::string& offsets) {
    return header_refusal(std::string("{") + entry("e", "F32", "[0,3]", offsets) + "," +
                              entry("w", "F32", "[2]", "[0,8]") + "}",
                          kTwo);
  };
  CHECK(with_empty("[0,0]") == "no error");
  CHECK(with_empty("[8,8]") == "no error");
  CHECK(contains(with_empty("[4,4]"), "overlaps"));
  CHECK(contains(with_empty("[9,9]"), "ends at byte 9"));
}

TEST_CASE("serialize_header: dtypes that are not known") {
  const auto dtype = [](const std::string& name) {
    return header_refusal(std::string("{") + entry("layer.w", name, "[1]", "[0,8]") + "}", kTwo);
  };
  CHECK(dtype("F8_E4M3") == "tensor \"layer.w\" has the dtype \"F8_E4M3\", which cannot be read");
  CHECK(contains(dtype("U64"), "cannot be read"));
  CHECK(contains(dtype("f32"), "cannot be read"));
  CHECK(contains(dtype(""), "cannot be read"));
}

TEST_CASE("serialize_header: names in messages are cut and stay on one line") {
  const std::string name = "a\\n\\u0000" + std::string(1000, 'b');
  const std::string message =
      header_refusal(std::string("{") + entry(name, "X", "[1]", "[0,8]") + "}", kTwo);
  CHECK(contains(message, "tensor \"a\\n\\u0000bbb"));
  CHECK(contains(message, "bbb\"... has the dtype \"X\""));
}

TEST_CASE("serialize_header: a text is read back as what it was made from") {
  FileHeader header;
  header.entries = {{"b", &file_type(DType::f64), {2, 0}, 24, 24},
                    {"a \"quoted\"", &file_type(DType::i64), {3}, 0, 24}};
  header.metadata = {{"key", "line\nline"}};
  const std::string text = header_text("f", header);
  CHECK(text.size() % 8 == 0);
  const FileHeader back = parse_header("f", text, 24);
  CHECK(back.metadata == header.metadata);
  REQUIRE(back.entries.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(back.entries[i].name == header.entries[i].name);
    CHECK(back.entries[i].type == header.entries[i].type);
    CHECK(back.entries[i].shape == header.entries[i].shape);
    CHECK(back.entries[i].begin == header.entries[i].begin);
    CHECK(back.entries[i].end == header.entries[i].end);
  }
}
