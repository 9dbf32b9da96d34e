// One live line on a terminal, plain lines elsewhere.
#include "examples/common/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "examples/common/terminal.h"

namespace gradzoo::examples {
namespace {

std::string bar(double fraction) {
  constexpr int width = 12;
  const int filled = static_cast<int>(width * fraction);
  std::string text;
  for (int i = 0; i < width; ++i) text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds + 0.5);
  if (s < 100) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

Progress::Progress(std::string label, double fraction)
    : label_(std::move(label)),
      live_(may_decorate(STDERR_FILENO)),
      first_(fraction),
      tenths_(static_cast<int>(10 * fraction)) {}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (drawn_) std::fputc('\n', stderr);
  drawn_ = false;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool Progress::is_due(double fraction) const {
  if (!live_) return static_cast<int>(10 * fraction) > tenths_;
  return fraction >= 1 || Clock::now() - last_drawn_ >= std::chrono::milliseconds(100);
}

void Progress::show(double fraction, const std::string& count,
                    const std::vector<std::string>& parts) {
  if (!is_due(fraction)) return;
  const double gone = fraction - first_;
  const double left = gone > 0 ? seconds() * (1 - fraction) / gone : 0;
  const std::string time =
      fmt::format("{}, {} left", duration_text(seconds()), duration_text(left));
  if (!live_) {
    tenths_ = static_cast<int>(10 * fraction);
    std::string line = fmt::format("{} {}", label_, count);
    for (const std::string& part : parts) line += "  " + part;
    fmt::print(stderr, "{}  {}\n", line, duration_text(seconds()));
    return;
  }
  last_drawn_ = Clock::now();
  drawn_ = true;
  std::string line = fmt::format("{} {} {}", label_, bar(fraction), count);
  // Two bytes of each of the bar's characters take no column.
  std::size_t used = line.size() - 2 * 12 + 2 + time.size();
  for (const std::string& part : parts) {
    if (used + 2 + part.size() >= terminal_columns(STDERR_FILENO)) break;
    line += "  " + part;
    used += 2 + part.size();
  }
  // \033[K clears what a longer line left behind.
  fmt::print(stderr, "\r{}  {}\033[K", line, time);
  std::fflush(stderr);
}

}  // namespace gradzoo::examples
