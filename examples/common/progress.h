// One live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gradzoo::examples {

/// Progress on stderr: a bar redrawn in place where may_decorate allows it, else a line every tenth
/// of the way.
class Progress {
 public:
  explicit Progress(std::string label) : Progress(std::move(label), 0) {}
  /// What is shown goes on from `fraction` of the way.
  Progress(std::string label, double fraction);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Would show() print something now? Spares making what it would not print.
  bool is_due(double fraction) const;
  /// `fraction` of the way, from 0 to 1, has been gone: "750/1500", say, is `count`. The parts are
  /// shown beside the bar, as many as the line has room for: the most important first.
  void show(double fraction, const std::string& count, const std::vector<std::string>& parts);
  /// Ends the live line, so that something else can be printed.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;

  std::string label_;
  bool live_;
  bool drawn_ = false;
  double first_;
  int tenths_;  // of the way, printed so far
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_{};
};

/// 75 as "75 s", 754 as "12:34", 7540 as "2:05:40".
std::string duration_text(double seconds);

}  // namespace gradzoo::examples
