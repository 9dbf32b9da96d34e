// What a lesson records besides functions, and what it refuses.
#include "examples/common/walk/lesson.h"

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

Tensor leaf(const Nested& values) { return tensor(values, DType::f64).requires_grad_(); }

std::string refusal(const std::function<Tensor()>& function) {
  Lesson lesson("", 1);
  try {
    lesson.walk("f", {}, function);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("lesson: notes and updates are steps") {
  const Tensor w = leaf({1, 2}), constant = tensor({5}, DType::f64);
  Lesson lesson("Title", 1);
  lesson.say("a", "text", {{"h"}, {{"1"}}});
  sum(w * w).backward();
  lesson.update("b", "why", {{"w", w}, {"constant", constant}},
                [&] { assign(w, w.detach() - w.grad()); });
  const Walk& walk = lesson.result();
  CHECK(walk.title == "Title");
  REQUIRE(walk.steps.size() == 2);
  CHECK(walk.steps[0].kind == WalkStep::Kind::note);
  CHECK(walk.steps[0].table.rows[0][0] == "1");
  const WalkStep& update = walk.steps[1];
  CHECK(update.kind == WalkStep::Kind::update);
  REQUIRE(update.changes.size() == 2);
  CHECK(update.changes[0].before.to_vector<double>() == std::vector<double>{1, 2});
  CHECK(update.changes[0].gradient.to_vector<double>() == std::vector<double>{2, 4});
  CHECK(update.changes[0].after.to_vector<double>() == std::vector<double>{-1, -2});
  CHECK_FALSE(update.changes[1].gradient.defined());
  CHECK_THROWS_AS(lesson.say("t", "", {{"a", "b"}, {{"1"}}}), Error);
}

TEST_CASE("lesson: what is computed on the way can be called by a name, within a walk") {
  const Tensor x = leaf({1, -2});
  Lesson lesson("", 1);
  const auto f = [&] {
    const Tensor squares = lesson.name("squares", x * x);
    return sum(lesson.name("double", squares * 2.0));
  };
  CHECK(f().item() == 10);  // outside a walk it is nothing but the tensor
  CHECK(lesson.name("constant", tensor({1})).numel() == 1);
  lesson.walk("f", {{"x", x}}, f);
  lesson.walk("g", {{"x", x}}, [&] { return sum(x * x); });
  const Walk& walk = lesson.result();
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) labels.push_back(walk.label(i));
  CHECK(labels == std::vector<std::string>{"x", "squares", "%3", "double", "%5", "x", "%2", "%3"});
  CHECK(walk.graphs[0].dot.find("squares") != std::string::npos);
  CHECK(walk.nodes[1].differences.size() == 2);
}

TEST_CASE("lesson: the same seed draws the same numbers") {
  Lesson a("", 5), b("", 5), c("", 6);
  const double first = a.rng().uniform();
  CHECK(first == b.rng().uniform());
  CHECK(first != c.rng().uniform());
}

TEST_CASE("lesson: functions that cannot be walked are refused, saying why") {
  const Tensor x = leaf({1, 2}), outside = exp(x);
  CHECK(has(refusal([&] { return x * x; }), "one number of f32 or f64, not f64 [2]"));
  CHECK(has(refusal([&] { return Tensor(); }), "not an undefined tensor"));
  CHECK(has(refusal([&] { return argmax(x); }), "not i64 []"));
  CHECK(has(refusal([&] { return sum(x.detach()); }), "no tensor with requires_grad_()"));
  const Tensor one = leaf(1);
  CHECK(has(refusal([&] { return one; }), "no tensor with requires_grad_()"));
  CHECK(has(refusal([&] { return sum(outside); }), "'exp' computed before it began"));
  CHECK(has(refusal([&] {
              const Tensor y = sum(x * x);
              y.backward();
              return sum(x);
            }),
            "must not call backward()"));
  CHECK(refusal([&] { return sum(x); }) == "no error");
}

TEST_CASE("lesson: a trace around a lesson sees the function and not its examination") {
  const Tensor x = leaf({1, 2});
  const Trace trace;
  Lesson lesson("", 1);
  lesson.walk("f", {{"x", x}}, [&] { return sum(x * x); });
  std::size_t forward = 0;
  for (const TraceStep& step : trace.steps()) forward += !step.backward;
  CHECK(forward == 2);
}
