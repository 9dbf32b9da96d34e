// One live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gradzoo::examples {

/// Progress of `total` steps on stderr: a bar redrawn in place where may_decorate allows
/// it, else a line every tenth of the way.
class Progress {
 public:
  Progress(std::string label, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `step` steps are done; `status` is shown beside the bar.
  void show(std::int64_t step, const std::string& status);
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  std::int64_t total_;
  bool live_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_{};
};

}  // namespace gradzoo::examples
