// Where a learner stands in a walk and what keys do: all of stepping but the terminal.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "examples/common/walk/walk.h"
#include "examples/common/walk/window.h"

namespace gradzoo::examples {

class Stepper {
 public:
  /// What is looked at: the card of the step, the check of all steps, or the keys.
  enum class View { card, check, help };

  /// At the first step. The walk must have one, and must live as long.
  explicit Stepper(const Walk& walk);

  /// A character or a Key.
  void press(int key);

  /// What is looked at has that many lines, for which there is so much room: scrolling ends there.
  void set_room(std::size_t lines, std::size_t room);

  bool done() const { return done_; }
  View view() const { return view_; }
  std::size_t step() const { return step_; }
  /// The line at the top.
  std::size_t scroll() const { return scroll_[static_cast<std::size_t>(view_)]; }
  /// Are there lines above or below those that are seen?
  bool scrolls() const { return lines_ > room_; }
  /// What was typed or went wrong: "go to step 12", "there is no step 99: 1 to 40". Often empty.
  std::string message() const;

 private:
  void type(int key);
  void press_on_card(int key);
  bool scroll_by(int key);
  void go_to(std::size_t step);
  void go_to_typed();
  void go_to_part(WalkStep::Kind kind);
  std::size_t graph_here() const;

  const Walk& walk_;
  std::size_t step_ = 0;
  std::array<std::size_t, 3> scroll_{};  // of each view
  std::size_t lines_ = 0, room_ = 1;
  View view_ = View::card;
  bool done_ = false;
  bool typing_ = false;
  std::string typed_, message_;
};

}  // namespace gradzoo::examples
