// Configs as text and back.
#include "nn/config.h"

#include <doctest/doctest.h>

#include <array>
#include <clocale>
#include <cmath>

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

enum class Cell { rnn, lstm, gru };
constexpr std::array<const char*, 3> choice_names(Cell) { return {"rnn", "lstm", "gru"}; }

struct Sizes {
  std::int64_t width = 64;
  double rate = 0.1;
  bool flag = true;
  Cell cell = Cell::gru;
  static void fields(auto& self, auto&& visit) {
    visit("width", self.width, "with a description");
    visit("rate", self.rate);
    visit("flag", self.flag);
    visit("cell", self.cell);
  }
};

}  // namespace

TEST_CASE("a config goes into the metadata field by field, and comes back") {
  const Metadata metadata = config_metadata(Sizes{});
  CHECK(metadata == Metadata{{"config.width", "64"},
                             {"config.rate", "0.1"},
                             {"config.flag", "true"},
                             {"config.cell", "gru"}});
  const double odd = std::nextafter(1.0 / 3, 1);
  const Sizes back = config_from<Sizes>(config_metadata(Sizes{-3, odd, false, Cell::lstm}), "file");
  CHECK(back.width == -3);
  CHECK(back.rate == odd);
  CHECK(!back.flag);
  CHECK(back.cell == Cell::lstm);
}

TEST_CASE("B17, TRN4: what is missing or no value is reported all at once") {
  const Metadata metadata{{"config.width", "10x"}, {"config.rate", "nan"}, {"config.cell", "gnu"}};
  CHECK_THROWS_WITH_AS(
      config_from<Sizes>(metadata, "a.safetensors"),
      "a.safetensors: the metadata is not that of this model: 'config.width' is '10x', which is "
      "not a whole number; 'config.rate' is 'nan', which is not a finite number; 'config.flag' is "
      "missing; 'config.cell' is 'gnu', which is not one of rnn, lstm, gru",
      Error);
}

TEST_CASE("TXT1, B03, B04: a value is the whole text, whatever the locale") {
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where a decimal comma is usual; harmless if absent
  double number = 7;
  CHECK(parse_config("0.1", number));
  CHECK(number == 0.1);
  CHECK(config_text(0.1) == "0.1");
  std::setlocale(LC_ALL, "C");
  std::int64_t count = 7;
  for (const char* text : {"", " 1", "1 ", "10x", "0x10", "1e3", "99999999999999999999999999"}) {
    CAPTURE(text);
    CHECK(!parse_config(text, count));
  }
  for (const char* text : {"", "inf", "-inf", "nan", "1e999", "0,1", "1.5.2"}) {
    CAPTURE(text);
    CHECK(!parse_config(text, number));
  }
  bool flag = true;
  CHECK(!parse_config("0", flag));
  CHECK(!parse_config("False", flag));
  CHECK(count == 7);
  CHECK(number == 0.1);
  CHECK(flag);
}
