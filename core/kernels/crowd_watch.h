// When to leave other threads alone: on a machine whose cores other programs use too.
#pragma once

#include <chrono>
#include <cstdint>

namespace gradzoo::kernels {

/// Parallel work is done when its last thread is. If one of them has to give up its core to another
/// program, the others wait for it: milliseconds, for work of microseconds, hundreds of times in a
/// training step, so that two threads can be four times slower than one. This watch counts such
/// interruptions, and when there are many it says to work alone for a while. One for each thread
/// that calls parallel_for.
class CrowdWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// True while work should stay on the calling thread. interruptions() tells how often this thread
  /// has lost its core so far; it is asked at the ends of periods only.
  template <class Interruptions>
  bool alone(Clock::time_point now, const Interruptions& interruptions) {
    if (now < end_) return alone_;
    const std::int64_t seen = interruptions();
    const std::int64_t events = seen - seen_before_ + stalls_;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    // After a period alone, and at first, the others get another chance.
    alone_ = started_ && !alone_ && events >= 3 && static_cast<double>(events) > 40 * seconds;
    started_ = true;
    start_ = now;
    end_ = now + (alone_ ? std::chrono::milliseconds(500) : std::chrono::milliseconds(50));
    seen_before_ = seen;
    stalls_ = 0;
    return alone_;
  }

  /// The calling thread has done its share, no smaller than the others', in `worked`, and then
  /// `waited` for them.
  void note(Clock::duration worked, Clock::duration waited) {
    if (waited > std::chrono::milliseconds(1) && waited > 2 * worked) ++stalls_;
  }

 private:
  bool alone_ = false;
  bool started_ = false;
  Clock::time_point start_, end_;
  std::int64_t seen_before_ = 0;
  std::int64_t stalls_ = 0;
};

}  // namespace gradzoo::kernels
