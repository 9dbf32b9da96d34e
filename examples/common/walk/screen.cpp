// Stepping on a terminal: what stands where, and signals.
#include "examples/common/walk/screen.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "examples/common/program.h"
#include "examples/common/walk/check_table.h"
#include "examples/common/walk/stepper.h"
#include "examples/common/walk/walk_text.h"
#include "examples/common/walk/window.h"

namespace gradzoo::examples {
namespace {

constexpr int kAround = 3;  // rows that are not the card: the header, the bar, the status line

volatile std::sig_atomic_t signal_seen = 0;

// While it lives, Ctrl-C and SIGTERM are only noted, however often they come: the terminal must be
// put back first.
class SignalsNoted {
 public:
  SignalsNoted() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { signal_seen = signal; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~SignalsNoted() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalsNoted(const SignalsNoted&) = delete;
  SignalsNoted& operator=(const SignalsNoted&) = delete;

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, 2> before_{};
};

// Marks that cards put around words, by Look: "\1" for bold and so on, "\5" behind them.
const Style kMarks = {"\1", "\2", "\3", "\4", "\5"};
constexpr std::array<Look, 6> kLooks = {Look::plain, Look::bold, Look::dim,
                                        Look::green, Look::red,  Look::plain};

void put_marked(Window& window, int row, std::string_view line) {
  Look look = Look::plain;
  int column = 0;
  for (std::size_t i = 0; i < line.size();) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte < kLooks.size()) {
      look = kLooks[byte];
      ++i;
      continue;
    }
    const std::size_t end = std::min(line.find_first_of("\1\2\3\4\5", i), line.size());
    column = window.put(row, column, line.substr(i, end - i), look);
    i = end;
  }
}

std::vector<std::string> help_lines() {
  return {
      "\1n, right, space\5  the next step",
      "\1p, left\5          the step before",
      "\1b\5                the backward part",
      "\1f\5                the forward part",
      "\1g N Enter\5        go to step N",
      "\1Home, End\5        first and last step",
      "\1j k, up, down\5    scroll by a line",
      "\1PgUp, PgDn\5       scroll by a page",
      "\1c\5                check every gradient",
      "\1Ctrl-L\5           draw the screen anew",
      "\1? or h\5           these keys",
      "\1q\5                quit",
      "",
      "Numbers with a % are values of the",
      "computation in order: %3 is the third.",
  };
}

// What is looked at, in lines as wide as the window.
std::vector<std::string> content(const Walk& walk, const Stepper& stepper, const Window& window) {
  CardOptions options;
  options.width = static_cast<std::size_t>(window.columns());
  options.window = static_cast<std::size_t>(std::clamp(window.rows() / 5 + 1, 3, 9));
  options.style = kMarks;
  if (stepper.view() == Stepper::View::help) return help_lines();
  std::vector<std::string> lines;
  const auto append = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  if (stepper.view() == Stepper::View::check) {
    append(check_lines(walk, options));
    lines.emplace_back();
    append(check_table(walk, options));
    return lines;
  }
  const WalkStep& step = walk.steps[stepper.step()];
  lines.push_back(kMarks.bold + (step.graph == kNone ? step.title : walk.graphs[step.graph].title) +
                  kMarks.plain);
  append(graph_lines(walk, stepper.step(), options));
  lines.emplace_back();
  append(detail_lines(walk, stepper.step(), options));
  return lines;
}

// The lesson, and "step 3 of 12 forward" at the right.
void put_header(Window& window, const Walk& walk, const Stepper& stepper) {
  using Kind = WalkStep::Kind;
  const Kind kind = walk.steps[stepper.step()].kind;
  const std::string where = fmt::format("step {} of {}{}", stepper.step() + 1, walk.steps.size(),
                                        kind == Kind::forward    ? "  forward"
                                        : kind == Kind::backward ? "  backward"
                                                                 : "");
  const int column = window.columns() - static_cast<int>(where.size());
  window.put(0, 0, walk.title, Look::bold, column - 2);
  window.put(0, column, where);
}

// How far one is; the columns of backward steps are green.
void put_bar(Window& window, const Walk& walk, const Stepper& stepper) {
  const auto columns = static_cast<std::size_t>(window.columns());
  const std::size_t count = walk.steps.size();
  const std::size_t filled = (stepper.step() + 1) * columns / count;
  for (std::size_t i = 0; i < columns; ++i) {
    const bool backward = walk.steps[i * count / columns].kind == WalkStep::Kind::backward;
    window.put(1, static_cast<int>(i), i < filled ? "█" : "░",
               backward ? Look::green : Look::plain);
  }
}

// A message or the keys, and which lines are seen of how many.
void put_status(Window& window, const Stepper& stepper, std::size_t lines, std::size_t room) {
  std::string seen;
  if (stepper.scrolls()) {
    const std::size_t last = std::min(stepper.scroll() + room, lines);
    seen = fmt::format("{}-{}/{}", stepper.scroll() + 1, last, lines);
  }
  const int row = window.rows() - 1;
  const int column = window.columns() - static_cast<int>(seen.size());
  if (!stepper.message().empty()) {
    window.put(row, 0, stepper.message(), Look::bold, column);
  } else {
    using Hints = std::array<std::string_view, 3>;
    const Hints hints =
        stepper.scrolls()
            ? Hints{"n next  p back  b/f part  g N go  c check  j/k scroll  ? help  q quit",
                    "n/p step  b/f part  g N  c  j/k scroll  ? help  q quit",
                    "n p b f g c j k  ? help  q quit"}
            : Hints{"n next  p back  b backward  f forward  g N go  c check  ? help  q quit",
                    "n/p step  b/f part  g N  c check  ? help  q quit",
                    "n p b f g c  ? help  q quit"};
    const auto fits = [&](std::string_view hint) {
      return static_cast<int>(hint.size()) + 2 <= column;
    };
    const auto hint = std::find_if(hints.begin(), hints.end() - 1, fits);
    window.put(row, 0, *hint, Look::dim, column);
  }
  window.put(row, column, seen);
}

void draw(Window& window, const Walk& walk, Stepper& stepper) {
  window.clear();
  if (window.columns() < kLeastColumns || window.rows() < kLeastRows) {
    window.put(0, 0, fmt::format("too small: needs {}x{}", kLeastColumns, kLeastRows));
    return;
  }
  const std::vector<std::string> lines = content(walk, stepper, window);
  const auto room = static_cast<std::size_t>(window.rows() - kAround);
  stepper.set_room(lines.size(), room);
  put_header(window, walk, stepper);
  put_bar(window, walk, stepper);
  for (std::size_t i = 0; i < room && stepper.scroll() + i < lines.size(); ++i) {
    put_marked(window, static_cast<int>(i) + 2, lines[stepper.scroll() + i]);
  }
  put_status(window, stepper, lines.size(), room);
}

// Until q, a signal, or the end of the terminal.
void step(Window& window, const Walk& walk) {
  constexpr int kControlL = 'L' - '@';
  Stepper stepper(walk);
  int key = kResized;
  while (key != kHungUp && signal_seen == 0) {
    if (key != kNoKey) {
      if (key != kResized && key != kControlL) stepper.press(key);
      if (stepper.done()) return;
      draw(window, walk, stepper);
      window.show(key == kControlL);
    }
    key = window.next_key();
  }
}

}  // namespace

int step_on_terminal(const Walk& walk, const std::function<int()>& otherwise) {
  std::string problem;
  {
    const SignalsNoted signals;
    Window window;
    problem = window.problem();
    if (problem.empty()) step(window, walk);
  }
  if (signal_seen != 0) return 128 + signal_seen;
  if (problem.empty()) return kDone;
  fmt::print(stderr, "step_through: {}: all steps are printed\n", problem);
  return otherwise();
}

}  // namespace gradzoo::examples
