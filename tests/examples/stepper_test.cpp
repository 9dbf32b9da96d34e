// Stepping: where keys lead, what they say, how far scrolling goes.
#include "examples/common/walk/stepper.h"

#include <doctest/doctest.h>

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

// Two functions with a text before each and an update behind them.
Walk two_functions() {
  using Kind = WalkStep::Kind;
  Walk walk;
  const auto add = [&](Kind kind, std::size_t graph) {
    WalkStep step;
    step.kind = kind;
    step.graph = graph;
    walk.steps.push_back(step);
  };
  for (std::size_t graph : {0, 1}) {  // steps 0 to 5 and 6 to 11
    add(Kind::note, kNone);
    for (int i = 0; i < 3; ++i) add(Kind::forward, graph);
    for (int i = 0; i < 2; ++i) add(Kind::backward, graph);
  }
  add(Kind::update, kNone);
  return walk;
}

void type(Stepper& stepper, const char* keys) {
  for (; *keys != 0; ++keys) stepper.press(*keys == '\n' ? static_cast<int>(kEnter) : *keys);
}

std::size_t after(const char* keys) {
  const Walk walk = two_functions();
  Stepper stepper(walk);
  type(stepper, keys);
  return stepper.step();
}

}  // namespace

TEST_CASE("stepping: a walk without steps is refused") {
  const Walk walk;
  CHECK_THROWS_WITH(Stepper{walk}, doctest::Contains("no steps"));
}

TEST_CASE("stepping: one forth, one back, and not beyond the ends") {
  const Walk walk = two_functions();
  Stepper stepper(walk);
  stepper.press(kLeft);
  CHECK(stepper.step() == 0);
  CHECK(stepper.message() == "this is the first step");
  for (const int key : {static_cast<int>(kRight), static_cast<int>('n'), static_cast<int>(' ')}) {
    const std::size_t before = stepper.step();
    stepper.press(key);
    CHECK(stepper.step() == before + 1);
    CHECK(stepper.message().empty());
  }
  stepper.press(kErase);
  stepper.press('p');
  CHECK(stepper.step() == 1);
  stepper.press(kEnd);
  CHECK(stepper.step() == 12);
  stepper.press('n');
  CHECK(stepper.step() == 12);
  CHECK(stepper.message() == "this is the last step");
  stepper.press(kHome);
  CHECK(stepper.step() == 0);
}

TEST_CASE("stepping: b and f go to the parts of the function one is in") {
  CHECK(after("b") == 4);  // from the text before it
  CHECK(after("nb") == 4);
  CHECK(after("nnbf") == 1);
  CHECK(after("nbnb") == 4);    // from within
  CHECK(after("g7\nb") == 10);  // the text before the second
  CHECK(after("g9\nbf") == 7);
  CHECK(after("g13\nb") == 10);  // nothing follows: the one before
  Walk walk;
  walk.steps.resize(2);
  Stepper stepper(walk);
  stepper.press('b');
  CHECK(stepper.step() == 0);
  CHECK(stepper.message() == "there is no backward part here");
  stepper.press('f');
  CHECK(stepper.message() == "there is no forward part here");
}

TEST_CASE("stepping: g takes a number, and says what is wrong with others") {
  CHECK(after("g5\n") == 4);
  CHECK(after("g 13\n") == 12);
  CHECK(after("ng\n") == 1);
  const Walk walk = two_functions();
  Stepper stepper(walk);
  for (const char* wrong : {"0", "14", "99999999999", "abc", "3x", "-1", "1.5"}) {
    type(stepper, "g");
    type(stepper, wrong);
    CHECK(stepper.message() == std::string("go to step ") + wrong);
    stepper.press(kEnter);
    CHECK(stepper.message() == std::string("there is no step ") + wrong + ": 1 to 13");
    CHECK(stepper.step() == 0);
  }
  type(stepper, "g12");
  stepper.press(kErase);
  type(stepper, "q");  // typed, and no reason to end
  CHECK(stepper.message() == "go to step 1q");
  CHECK_FALSE(stepper.done());
  stepper.press(kEscape);
  CHECK(stepper.message().empty());
  CHECK(stepper.step() == 0);
  type(stepper, "g00000000000000000000");
  CHECK(stepper.message() == "go to step 000000000000");
}

TEST_CASE("stepping: scrolling ends with the last line, and a new step begins at its top") {
  const Walk walk = two_functions();
  Stepper stepper(walk);
  stepper.set_room(30, 10);
  CHECK(stepper.scrolls());
  stepper.press('k');
  CHECK(stepper.scroll() == 0);
  stepper.press('j');
  stepper.press(kDown);
  CHECK(stepper.scroll() == 2);
  stepper.press(kPageDown);
  CHECK(stepper.scroll() == 11);
  stepper.press(kPageDown);
  stepper.press(kPageDown);
  CHECK(stepper.scroll() == 20);
  stepper.press(kPageUp);
  CHECK(stepper.scroll() == 11);
  stepper.press(kUp);
  CHECK(stepper.scroll() == 10);
  stepper.set_room(30, 25);  // a larger window
  CHECK(stepper.scroll() == 5);
  stepper.press('n');
  CHECK(stepper.scroll() == 0);
  stepper.set_room(5, 10);
  CHECK_FALSE(stepper.scrolls());
  stepper.press('j');
  CHECK(stepper.scroll() == 0);
}

TEST_CASE("stepping: check and help are looked at and left again; q ends everywhere") {
  using View = Stepper::View;
  const Walk walk = two_functions();
  Stepper stepper(walk);
  stepper.press('n');
  stepper.set_room(30, 10);
  stepper.press('j');
  stepper.press('c');
  CHECK(stepper.view() == View::check);
  CHECK(stepper.scroll() == 0);
  stepper.press(kPageDown);
  CHECK(stepper.scroll() == 9);
  stepper.press('h');
  CHECK(stepper.view() == View::help);
  stepper.press('?');
  CHECK(stepper.view() == View::card);
  CHECK(stepper.scroll() == 1);
  stepper.press('c');
  CHECK(stepper.scroll() == 0);
  stepper.press('n');  // leaves, and does no more
  CHECK(stepper.view() == View::card);
  CHECK(stepper.step() == 1);
  stepper.press('x');
  CHECK(stepper.message().find("? shows the keys") != std::string::npos);
  stepper.press('?');
  CHECK_FALSE(stepper.done());
  stepper.press('q');
  CHECK(stepper.done());
}
