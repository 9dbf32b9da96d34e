// The rules that ops carry in words: that each op has one, that it fits the op, and, of elementwise
// ops, that it is right: formulas are evaluated and compared with what op and vjp compute.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numbers>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/trace.h"
#include "tests/core/message.h"
#include "tests/core/op_table.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

std::vector<std::string> split_text(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, separator.size(), separator) == 0) {
      parts.emplace_back();
      i += separator.size();
    } else {
      parts.back() += text[i++];
    }
  }
  return parts;
}

bool has_word(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("\\b" + word + "\\b"));
}

// What is wrong with a rule, "" if nothing is. `wanted[i]` says that input i can have a gradient.
std::string problem_of(const Op& op, const std::vector<bool>& wanted) {
  const std::string forward = op.forward, backward = op.backward;
  for (const std::string& text : {forward, backward}) {
    if (text.empty()) return "there is none";
    if (text.size() > 76) return fmt::format("{} columns: {}", text.size(), text);
    for (const char c : text) {
      if (c < ' ' || c > '~') return "not in ASCII: " + text;
    }
  }
  if (!has_word(forward, "y")) return "y is not mentioned: " + forward;
  std::vector<std::string> names = split_text(op.arguments, ", ");
  if (contains(op.arguments, "..."))
    names.assign(wanted.size(), split_text(op.arguments, "...")[0]);
  if (names.size() != wanted.size()) {
    return fmt::format("{} inputs, but arguments '{}'", wanted.size(), op.arguments);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!has_word(forward, names[i])) return names[i] + " is not mentioned: " + forward;
    if (!wanted[i] || backward == "no gradient") continue;
    if (!has_word(backward, "d" + names[i])) return "no d" + names[i] + ": " + backward;
  }
  return "";
}

// Looks at the rules of all that a row's op and its gradients record; adds the ops to `seen`.
void check_rules(const OpRow& row, std::set<std::string>& seen) {
  Rng rng(3);
  std::vector<Tensor> inputs, leaves;
  const std::vector<Sample> samples = row.samples(rng);
  for (const Tensor& x : samples.at(0).inputs) {
    inputs.push_back(clone(x.detach()));
    if (is_floating(x.dtype())) leaves.push_back(inputs.back().requires_grad_());
  }
  const auto look = [&](const Op& op, const std::vector<bool>& wanted) {
    const std::string problem = problem_of(op, wanted);
    CHECK_MESSAGE(problem.empty(), fmt::format("{}: {}: {}", row.op, op.name, problem));
    seen.insert(op.name);
  };
  const Trace trace;
  const Tensor y = row.run(inputs);
  for (const TraceStep& step : trace.steps()) {
    std::vector<bool> wanted;
    for (const Tensor& x : step.inputs) wanted.push_back(x.defined() && is_floating(x.dtype()));
    look(step.op, wanted);
  }
  if (!y.requires_grad()) return;
  if (row.derivatives == 0) {
    CHECK_MESSAGE(y.node()->op.backward == std::string("no gradient"), row.op);
    return;
  }
  const Tensor upstream = ones_like(y.detach()).requires_grad_();
  const std::vector<Tensor> first =
      grad({y}, leaves, {.grad_outputs = {upstream}, .create_graph = true, .allow_unused = true});
  std::vector<Tensor> roots;
  for (const Tensor& g : first) {
    if (g.defined() && g.requires_grad()) roots.push_back(g);
  }
  for (const auto& node : graph_nodes(roots)) {
    if (node->is_leaf) continue;
    std::vector<bool> wanted;
    for (const auto& input : node->inputs) wanted.push_back(input != nullptr);
    look(node->op, wanted);
    CHECK_MESSAGE(std::string(node->op.backward) != "no gradient",
                  fmt::format("{}: {}", row.op, node->op.name));
  }
}

using Numbers = std::map<std::string, double>;
using Texts = std::map<std::string, std::string>;

// What each name of a rule stands for: "y = x * s, s = sigmoid(x)" or "da = dy; db = -dy; summed to
// their shapes". What defines no name is a remark.
Texts definitions(const std::string& rule) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (std::size_t i = 0; i < rule.size(); ++i) {
    depth += (rule[i] == '(') - (rule[i] == ')');
    const bool comma = rule[i] == ',' && rule.compare(i, 7, ", else ") != 0;
    if (depth == 0 && (rule[i] == ';' || rule[i] == ':' || comma)) {
      pieces.emplace_back();
      ++i;  // the blank
    } else {
      pieces.back() += rule[i];
    }
  }
  Texts found;
  static const std::regex definition(R"((\w+) = (.*))");
  for (const std::string& piece : pieces) {
    std::smatch match;
    if (std::regex_match(piece, match, definition)) found[match[1]] = match[2];
  }
  return found;
}

// The value of a formula such as "dy * (1 - y^2) where y > 0, else 0". Names are numbers, or stand
// for other formulas.
class Formula {
 public:
  Formula(const std::string& text, const Numbers& numbers, const Texts& texts)
      : text_(text), numbers_(numbers), texts_(texts) {}

  double value() {
    double result = sum();
    if (eat(" where ")) {
      const bool first = condition();
      check(eat(", else "), "no else in '{}'", text_);
      const double other = sum();
      if (!first) result = other;
    }
    check(at_ == text_.size(), "'{}' ends in '{}'", text_, text_.substr(at_));
    return result;
  }

 private:
  bool eat(std::string_view part) {
    if (text_.compare(at_, part.size(), part) != 0) return false;
    at_ += part.size();
    return true;
  }

  bool condition() {  // "low <= x <= high", "mask"
    double left = sum();
    if (text_.compare(at_, 6, ", else") == 0) return left != 0;
    bool holds = true;
    while (true) {
      if (eat(" <= ")) {
        const double right = sum();
        holds = holds && left <= right;
        left = right;
      } else if (eat(" > ")) {
        const double right = sum();
        holds = holds && left > right;
        left = right;
      } else {
        return holds;
      }
    }
  }

  double sum() {
    double result = product();
    while (true) {
      if (eat(" + ")) {
        result += product();
      } else if (eat(" - ")) {
        result -= product();
      } else {
        return result;
      }
    }
  }

  double product() {
    double result = factor();
    while (true) {
      if (eat(" * ")) {
        result *= factor();
      } else if (eat(" / ")) {
        result /= factor();
      } else {
        return result;
      }
    }
  }

  double factor() {
    if (eat("-")) return -factor();
    const double base = primary();
    return eat("^") ? std::pow(base, primary()) : base;
  }

  double primary() {
    if (eat("(")) {
      const double inside = sum();
      check(eat(")"), "no ) in '{}'", text_);
      return inside;
    }
    if (eat("|")) {
      const double inside = sum();
      check(eat("|"), "no second | in '{}'", text_);
      return std::abs(inside);
    }
    if (const char* begin = text_.c_str() + at_; *begin >= '0' && *begin <= '9') {
      char* end = nullptr;
      const double number = std::strtod(begin, &end);
      at_ += static_cast<std::size_t>(end - begin);
      return number;
    }
    std::string name;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) {
      name += text_[at_++];
    }
    return eat("(") ? call(name) : lookup(name);
  }

  double lookup(const std::string& name) {
    if (name == "pi") return std::numbers::pi;
    if (const auto it = numbers_.find(name); it != numbers_.end()) return it->second;
    const auto it = texts_.find(name);
    check(it != texts_.end(), "'{}' in '{}' stands for nothing", name, text_);
    return Formula(it->second, numbers_, texts_).value();
  }

  double call(const std::string& name) {
    static const std::map<std::string, double (*)(double)> functions = {
        {"exp", [](double x) { return std::exp(x); }},
        {"log", [](double x) { return std::log(x); }},
        {"sqrt", [](double x) { return std::sqrt(x); }},
        {"sin", [](double x) { return std::sin(x); }},
        {"cos", [](double x) { return std::cos(x); }},
        {"tanh", [](double x) { return std::tanh(x); }},
        {"floor", [](double x) { return std::floor(x); }},
        {"sign", [](double x) { return static_cast<double>((x > 0) - (x < 0)); }},
        {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
        {"P", [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }},
    };
    const double first = sum();
    double result = 0;
    if (eat(", ")) {
      const double second = sum();
      check(name == "min" || name == "max", "unknown: {} in '{}'", name, text_);
      result = name == "min" ? std::min(first, second) : std::max(first, second);
    } else {
      const auto it = functions.find(name);
      check(it != functions.end(), "unknown: {} in '{}'", name, text_);
      result = it->second(first);
    }
    check(eat(")"), "no ) in '{}'", text_);
    return result;
  }

  const std::string text_;
  const Numbers& numbers_;
  const Texts& texts_;
  std::size_t at_ = 0;
};

double evaluate(const std::string& text, const Numbers& numbers, const Texts& texts = {}) {
  return Formula(text, numbers, texts).value();
}

// An op of numbers, with what its rule calls its options.
struct Elementwise {
  std::function<Tensor(const std::vector<Tensor>&)> run;
  std::vector<std::vector<double>> inputs;  // sets of them, at no kink
  Numbers options = {};
};

using In = std::vector<Tensor>;

const std::vector<std::vector<double>> kAny = {{-1.7}, {-0.3}, {0.4}, {2.2}};
const std::vector<std::vector<double>> kPositive = {{0.2}, {0.9}, {3.1}};
const std::vector<std::vector<double>> kPairs = {{-1.5, 0.7}, {0.6, 2.5}, {3.5, -0.8}};
const std::vector<std::vector<double>> kPositivePairs = {{0.5, 1.7}, {2.5, -0.6}};

const std::vector<Elementwise> kElementwise = {
    {[](const In& in) { return in[0] + in[1]; }, kPairs},
    {[](const In& in) { return in[0] - in[1]; }, kPairs},
    {[](const In& in) { return in[0] * in[1]; }, kPairs},
    {[](const In& in) { return in[0] / in[1]; }, kPairs},
    {[](const In& in) { return pow(in[0], in[1]); }, kPositivePairs},
    {[](const In& in) { return pow(in[0], 2.5); }, kPositive, {{"n", 2.5}}},
    {[](const In& in) { return -in[0]; }, kAny},
    {[](const In& in) { return exp(in[0]); }, kAny},
    {[](const In& in) { return log(in[0]); }, kPositive},
    {[](const In& in) { return log1p(in[0]); }, kPositive},
    {[](const In& in) { return sqrt(in[0]); }, kPositive},
    {[](const In& in) { return rsqrt(in[0]); }, kPositive},
    {[](const In& in) { return square(in[0]); }, kAny},
    {[](const In& in) { return abs(in[0]); }, kAny},
    {[](const In& in) { return sin(in[0]); }, kAny},
    {[](const In& in) { return cos(in[0]); }, kAny},
    {[](const In& in) { return reciprocal(in[0]); }, kAny},
    {[](const In& in) { return clamp(in[0], -1, 2); }, kAny, {{"low", -1}, {"high", 2}}},
    {[](const In& in) { return sign(in[0]); }, kAny},
    {[](const In& in) { return floor(in[0]); }, kAny},
    {[](const In& in) { return tanh(in[0]); }, kAny},
    {[](const In& in) { return sigmoid(in[0]); }, kAny},
    {[](const In& in) { return log_sigmoid(in[0]); }, kAny},
    {[](const In& in) { return softplus(in[0]); }, kAny},
    {[](const In& in) { return relu(in[0]); }, kAny},
    {[](const In& in) { return leaky_relu(in[0], 0.3); }, kAny, {{"slope", 0.3}}},
    {[](const In& in) { return silu(in[0]); }, kAny},
    {[](const In& in) { return gelu(in[0], Gelu::erf); }, kAny},
    {[](const In& in) { return gelu(in[0], Gelu::tanh); }, kAny},
    {[](const In& in) { return where(scalar(1, DType::boolean), in[0], in[1]); },
     kPairs,
     {{"c", 1}}},
    {[](const In& in) { return where(scalar(0, DType::boolean), in[0], in[1]); },
     kPairs,
     {{"c", 0}}},
    {[](const In& in) { return masked_fill(in[0], scalar(1, DType::boolean), 9); },
     kAny,
     {{"mask", 1}, {"value", 9}}},
    {[](const In& in) { return masked_fill(in[0], scalar(0, DType::boolean), 9); },
     kAny,
     {{"mask", 0}, {"value", 9}}},
    {[](const In& in) { return clone(in[0]); }, kAny},
};

}  // namespace

TEST_CASE("rules: everything that records has one, and it fits") {
  std::set<std::string> seen;
  for (const OpRow& row : all_rows()) check_rules(row, seen);
  CHECK(seen.size() > 90);
  const std::vector<std::string> inside = {
      "place",      "add_rows",          "conv2d_input", "conv2d_weight", "recurrence",
      "normal_cdf", "max_pool2d_spread", "diagonal",     "sum_to"};
  for (const std::string& inner : inside) {
    CHECK_MESSAGE(seen.count(inner) == 1, inner);
  }
}

TEST_CASE("rules: those of elementwise ops compute what op and vjp compute") {
  for (const Elementwise& one : kElementwise) {
    for (const std::vector<double>& values : one.inputs) {
      In leaves;
      for (const double value : values) {
        leaves.push_back(scalar(value, DType::f64).requires_grad_());
      }
      const Trace trace;
      const Tensor y = one.run(leaves);
      const Op op = trace.steps().back().op;
      std::vector<std::string> names;
      for (const std::string& name : split_text(op.arguments, ", ")) {
        if (one.options.count(name) == 0) names.push_back(name);
      }
      REQUIRE(names.size() == leaves.size());
      Numbers numbers = one.options;
      for (std::size_t i = 0; i < names.size(); ++i) numbers[names[i]] = values[i];
      Texts texts = definitions(op.forward);
      CHECK_MESSAGE(evaluate("y", numbers, texts) == doctest::Approx(y.item()).epsilon(1e-12),
                    std::string(op.forward));
      numbers["y"] = y.item();
      numbers["dy"] = 0.7;
      if (op.backward == std::string("no gradient")) continue;
      texts.merge(definitions(op.backward));
      y.backward(scalar(0.7, DType::f64));
      for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK_MESSAGE(evaluate("d" + names[i], numbers, texts) ==
                          doctest::Approx(leaves[i].grad().item()).epsilon(1e-12),
                      std::string(op.backward));
      }
    }
  }
}

TEST_CASE("rules: a wrong one is found") {
  const std::vector<bool> two{true, true}, second{false, true};
  const auto found = problem_of;
  CHECK(found({"add", "a, b", "y = a + b", "da = dy; db = dy"}, two).empty());
  CHECK(found({"cat", "x...", "y = all x", "dx = its part"}, two).empty());
  CHECK(found({"sign", "x", "y = sign(x)", "no gradient"}, {true}).empty());
  CHECK(found("add", two) == "there is none");
  CHECK(found({"add", "a, b", "y = a + b", ""}, two) == "there is none");
  CHECK(found({"add", "a", "y = a", "da = dy"}, two) == "2 inputs, but arguments 'a'");
  CHECK(found({"add", "a, b", "z = a + b", "da = dy; db = dy"}, two) ==
        "y is not mentioned: z = a + b");
  CHECK(found({"add", "a, b", "y = a", "da = dy; db = dy"}, two) == "b is not mentioned: y = a");
  CHECK(found({"add", "a, b", "y = a + b", "da = dy"}, two) == "no db: da = dy");
  CHECK(found({"add", "a, b", "y = a + b", "db = dy"}, second).empty());
  CHECK(contains(found({"add", "a, b", "y = a \xc2\xb7 b", "da = dy"}, two), "not in ASCII"));
  const std::string wide = "y = a" + std::string(72, ' ');
  CHECK(contains(found({"add", "a", wide.c_str(), "da = dy"}, {true}), "77 columns"));
}

TEST_CASE("rules: formulas are read as they are written") {
  const Numbers numbers = {{"x", 2}, {"y", 3}, {"mask", 0}};
  const Texts texts = {{"s", "x + y"}};
  CHECK(evaluate("1 + x * y^2 / 4 - -x", numbers) == 7.5);
  CHECK(evaluate("-x^2", numbers) == -4);
  CHECK(evaluate("(1 - x) * |1 - y|", numbers) == -2);
  CHECK(evaluate("2 * s", numbers, texts) == 10);
  CHECK(evaluate("min(max(x, y), 2.5)", numbers) == 2.5);
  CHECK(evaluate("x where 1 <= x <= 2, else y", numbers) == 2);
  CHECK(evaluate("x where x > y, else y", numbers) == 3);
  CHECK(evaluate("0 where mask, else x", numbers) == 2);
  CHECK_THROWS_AS(evaluate("x y", numbers), Error);
  CHECK_THROWS_AS(evaluate("z", numbers), Error);
  CHECK_THROWS_AS(evaluate("f(x)", numbers), Error);
  CHECK(definitions("y = x * s, s = max(x, 0) where x > 0, else 1; a remark") ==
        Texts{{"y", "x * s"}, {"s", "max(x, 0) where x > 0, else 1"}});
}
