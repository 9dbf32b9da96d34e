// What somebody who mistyped a name is told.
#include "examples/common/names.h"

#include <doctest/doctest.h>

using namespace gradzoo::examples;

TEST_CASE("names are equal but for upper and lower case") {
  CHECK(same_name("layerNorm", "LayerNorm"));
  CHECK_FALSE(same_name("LayerNorm", "LayerNor"));
}

TEST_CASE("the nearest names: parts of a name first, then the fewest changed letters") {
  const std::vector<std::string> names{"Linear", "LayerNorm", "GRU", "GRUCell", "LSTM", "RmsNorm"};
  CHECK(nearest_names("norm", names, 2) == "LayerNorm, RmsNorm");
  CHECK(nearest_names("Liner", names, 1) == "Linear");
  CHECK(nearest_names("LTSM", names, 1) == "LSTM");
  CHECK(nearest_names("my gru layer", names, 1) == "GRU");
  CHECK(nearest_names("", names, 1) == "GRU");  // the shortest: the fewest letters to insert
  CHECK(nearest_names("x", {"a", "b"}, 5) == "a, b");
}
