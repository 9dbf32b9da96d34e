// One live line on a terminal, plain lines elsewhere.
#include "examples/common/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "examples/common/terminal.h"

namespace gradzoo::examples {

Progress::Progress(std::string label, std::int64_t total)
    : label_(std::move(label)),
      total_(std::max<std::int64_t>(total, 1)),
      live_(may_decorate(STDERR_FILENO)) {}

Progress::~Progress() {
  if (drawn_) std::fputc('\n', stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::show(std::int64_t step, const std::string& status) {
  if (!live_) {
    const std::int64_t every = std::max<std::int64_t>(total_ / 10, 1);
    if (step % every == 0 || step == total_) {
      fmt::print(stderr, "{} {}/{}  {}  {:.0f} s\n", label_, step, total_, status, seconds());
    }
    return;
  }
  if (step < total_ && Clock::now() - last_drawn_ < std::chrono::milliseconds(100)) return;
  last_drawn_ = Clock::now();
  drawn_ = true;
  constexpr int width = 14;  // the whole line fits 80 columns
  const int filled = static_cast<int>(width * step / total_);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  const double left =
      step == 0 ? 0 : seconds() * static_cast<double>(total_ - step) / static_cast<double>(step);
  // \033[K clears what a longer line left behind.
  fmt::print(stderr, "\r{} {} {}/{}  {}  {:.0f} s, {:.0f} s left\033[K", label_, bar, step, total_,
             status, seconds(), left);
  std::fflush(stderr);
}

}  // namespace gradzoo::examples
