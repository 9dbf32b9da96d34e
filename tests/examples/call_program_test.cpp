// Other programs: what they write comes back, and whatever they do we go on.
#include "examples/common/call_program.h"

#include <doctest/doctest.h>

using namespace gradzoo::examples;
using std::chrono::milliseconds;

TEST_CASE("call_program: what goes in comes out, however long") {
  const milliseconds limit(20'000);
  CHECK(output_of({"cat"}, "text", limit) == "text");
  CHECK(output_of({"cat"}, "", limit) == "");
  const std::string large(3'000'000, 'x');  // more than pipes hold
  CHECK((output_of({"cat"}, large, limit) == large));
}

TEST_CASE("call_program: arguments are no shell's business") {
  CHECK(output_of({"printf", "%s|", "$(id)", "a b", "`x`"}, "", milliseconds(20'000)) ==
        "$(id)|a b|`x`|");
}

TEST_CASE("call_program: nothing from a program that is not there or fails") {
  const milliseconds limit(20'000);
  CHECK_FALSE(output_of({"gradzoo-no-such-program"}, "", limit));
  CHECK_FALSE(output_of({"false"}, "", limit));
  CHECK_FALSE(output_of({"sh", "-c", "echo partly; kill -9 $$"}, "", limit));
}

TEST_CASE("call_program: a program that does not read its input is no harm") {
  const std::string large(3'000'000, 'x');
  CHECK(output_of({"true"}, large, milliseconds(20'000)) == "");
}

TEST_CASE("call_program: one that takes too long is given up") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(output_of({"sleep", "60"}, "", milliseconds(100)));
  CHECK_FALSE(output_of({"sh", "-c", "exec >&-; exec sleep 60"}, "", milliseconds(100)));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}
