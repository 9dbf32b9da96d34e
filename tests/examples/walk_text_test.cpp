// Cards: what they say, in how many columns, and that nothing decorates what should be plain.
#include "examples/common/walk/walk_text.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "examples/common/walk/text_layout.h"
#include "examples/lessons/lessons.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

bool has(const Lines& lines, const std::string& text) {
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Walk expression() {
  Tensor x = scalar(3, DType::f64).requires_grad_();
  Lesson lesson("", 1);
  lesson.walk("x * x + x", {{"x", x}}, [&] { return x * x + x; });
  return lesson.result();
}

}  // namespace

TEST_CASE("cards: a step forward and the last one backward, word for word") {
  const Walk walk = expression();
  CHECK(joined(step_card(walk, 0)) ==
        "step 1 of 4: forward, x * x + x\n"
        "  x   leaf        f64 []  3\n"
        "> %2  mul(x, x)   f64 []  9  <- you are here\n"
        "  %3  add(%2, x)  f64 []  12\n"
        "\n"
        "%2 = mul(x, x)\n"
        "  rule  y = a * b\n"
        "  a = x  f64 []  3\n"
        "  b = x  f64 []  3\n"
        "  y = %2  f64 []  9\n");
  const Lines card = step_card(walk, 3);
  CHECK(has(card, "> %2  mul(x, x)   f64 []  grad 1  <- you are here"));
  CHECK(has(card, "  x   leaf        f64 []  3"));
  CHECK(has(card, "backward of %2 = mul(x, x)"));
  CHECK(has(card, "  rule  da = dy * b"));
  CHECK(has(card, "        db = dy * a"));
  CHECK(has(card, "db to the gradient of x, use 3 of 3, was 4, added 3, now 7"));
  CHECK(has(card, "  x                   7           7   "));
  CHECK(has(card, "right"));
}

TEST_CASE("cards: notes, tables, updates") {
  Tensor w = tensor({1, 2}, DType::f64).requires_grad_();
  Lesson lesson("", 1);
  lesson.say("Title", "One.\n\nTwo.", {{"d", "variance"}, {{"4", "4.1"}, {"16", "15.9"}}});
  sum(w * w).backward();
  lesson.update("Step", "Down.", {{"w", w}}, [&] { assign(w, w.detach() - 0.5 * w.grad()); });
  CHECK(joined(step_card(lesson.result(), 0)) ==
        "step 1 of 2: Title\nOne.\n\nTwo.\n\n  d   variance\n  4        4.1\n  16      15.9\n");
  CHECK(joined(step_card(lesson.result(), 1)) ==
        "step 2 of 2: Step\nDown.\n  w  f64 [2]\n    before    [1, 2]\n    gradient  [2, 4]\n"
        "    after     [0, 0]\n");
  CHECK(graph_lines(lesson.result(), 0).empty());
}

TEST_CASE("cards: no line has too many columns, whatever the width, in every lesson") {
  for (const LessonEntry& entry : lesson_table()) {
    CAPTURE(entry.name);
    const Walk walk = run_lesson(entry, 1);
    for (const std::size_t width : {40, 57, 80}) {
      CAPTURE(width);
      std::size_t longest = 0;
      for (std::size_t i = 0; i < walk.steps.size(); ++i) {
        for (const std::string& line : step_card(walk, i, {.width = width})) {
          longest = std::max(longest, columns(line));
          CHECK(line.find('\033') == std::string::npos);
        }
      }
      for (const std::string& line : check_lines(walk, {.width = width})) {
        longest = std::max(longest, columns(line));
      }
      CHECK(longest <= width);
    }
  }
}

TEST_CASE("cards: marks stand around words, close on their line, and change nothing else") {
  const Walk walk = expression();
  const CardOptions marked = {.style = {"\1", "\2", "\3", "\4", "\5"}};
  for (std::size_t i = 0; i < walk.steps.size(); ++i) {
    std::string text = joined(step_card(walk, i, marked));
    CHECK(text.find('\1') != std::string::npos);
    int open = 0;
    std::string bare;
    for (const char c : text) {
      if (c >= '\1' && c <= '\4') ++open;
      if (c == '\5') --open;
      if (c == '\n') CHECK(open == 0);
      if (c == '\n' || c > '\5') bare += c;
    }
    CHECK(bare == joined(step_card(walk, i)));
  }
}

TEST_CASE("cards: the window moves along and stays inside") {
  Tensor x = scalar(1, DType::f64).requires_grad_();
  Lesson lesson("", 1);
  lesson.walk("chain", {{"x", x}}, [&] {
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = sin(y);
    return y;
  });
  for (std::size_t i = 0; i < lesson.result().steps.size(); ++i) {
    const Lines lines = graph_lines(lesson.result(), i, {.window = 7});
    CHECK(lines.size() == 7);
    CHECK(has(lines, "you are here"));
  }
  CHECK(has(graph_lines(lesson.result(), 9, {.window = 7}), "  %8 "));
  CHECK_FALSE(has(graph_lines(lesson.result(), 9, {.window = 7}), "  %7 "));
}

TEST_CASE("B18: names cannot send anything to a terminal") {
  Tensor x = tensor({1}, DType::f64).requires_grad_();
  Lesson lesson("", 1);
  lesson.walk("evil\033]0;x\a", {{"\033[2Jx", x}}, [&] { return sum(x); });
  lesson.say("a\033b", "c\033d", {{"e\033"}, {{"f\033"}}});
  for (std::size_t i = 0; i < lesson.result().steps.size(); ++i) {
    CHECK(joined(step_card(lesson.result(), i)).find('\033') == std::string::npos);
  }
  CHECK(has(step_card(lesson.result(), 0), "?[2Jx"));
}

TEST_CASE("checks: all right, or which steps are not") {
  CHECK(has(check_lines(expression()), "every step is right"));
  Tensor x = tensor({0, 1}, DType::f64).requires_grad_();
  Lesson lesson("", 1);
  CHECK(has(check_lines(lesson.result()), "nothing to check"));
  lesson.walk("kink", {{"x", x}}, [&] { return sum(relu(x)); });
  const Lines lines = check_lines(lesson.result());
  CHECK(has(lines, "1 of 2 steps WRONG"));
  CHECK(has(lines, "step 4: backward of %2 = relu(x)"));
  CHECK(has(lines, "x[0]"));
  CHECK_FALSE(has(lines, "x[1]"));
  Lesson nothing("", 1);
  nothing.walk("nan", {{"x", x}}, [&] { return log(sum(x) - 2); });
  CHECK(has(check_lines(nothing.result()), "nan       nan  WRONG"));
  CHECK_FALSE(has(check_lines(nothing.result()), "-nan"));
}
