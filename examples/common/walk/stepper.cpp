// Where a learner stands in a walk and what keys do.
#include "examples/common/walk/stepper.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"

namespace gradzoo::examples {

Stepper::Stepper(const Walk& walk) : walk_(walk) {
  check(!walk.steps.empty(), "stepping: '{}' has no steps", walk.title);
}

std::string Stepper::message() const { return typing_ ? "go to step " + typed_ : message_; }

void Stepper::set_room(std::size_t lines, std::size_t room) {
  lines_ = lines;
  room_ = std::max<std::size_t>(room, 1);
  std::size_t& top = scroll_[static_cast<std::size_t>(view_)];
  top = std::min(top, lines_ > room_ ? lines_ - room_ : 0);
}

void Stepper::press(int key) {
  message_.clear();
  if (typing_) {
    type(key);
  } else if (key == 'q') {
    done_ = true;
  } else if (scroll_by(key)) {
    return;
  } else if (view_ != View::card && key != 'c' && key != '?' && key != 'h') {
    view_ = View::card;
  } else {
    press_on_card(key);
  }
}

// The keys that mean something everywhere but where a number is typed.
void Stepper::press_on_card(int key) {
  const auto look_at = [&](View view) {
    view_ = view_ == view ? View::card : view;
    scroll_[static_cast<std::size_t>(View::check)] = 0;
    scroll_[static_cast<std::size_t>(View::help)] = 0;
  };
  switch (key) {
    case kRight:
    case kEnter:
    case 'n':
    case ' ':
      if (step_ + 1 == walk_.steps.size()) {
        message_ = "this is the last step";
      } else {
        go_to(step_ + 1);
      }
      break;
    case kLeft:
    case kErase:
    case 'p':
      if (step_ == 0) {
        message_ = "this is the first step";
      } else {
        go_to(step_ - 1);
      }
      break;
    case kHome:
      go_to(0);
      break;
    case kEnd:
      go_to(walk_.steps.size() - 1);
      break;
    case 'b':
      go_to_part(WalkStep::Kind::backward);
      break;
    case 'f':
      go_to_part(WalkStep::Kind::forward);
      break;
    case 'g':
      typing_ = true;
      typed_.clear();
      break;
    case 'c':
      look_at(View::check);
      break;
    case '?':
    case 'h':
      look_at(View::help);
      break;
    case kEscape:
      break;
    default:
      message_ = "no such key; ? shows the keys";
  }
}

bool Stepper::scroll_by(int key) {
  std::size_t& top = scroll_[static_cast<std::size_t>(view_)];
  const std::size_t page = room_ > 1 ? room_ - 1 : 1;  // one line stays to go on from
  const auto up = [&](std::size_t by) { top -= std::min(top, by); };
  if (key == kUp || key == 'k') {
    up(1);
  } else if (key == kPageUp) {
    up(page);
  } else if (key == kDown || key == 'j') {
    top += 1;
  } else if (key == kPageDown) {
    top += page;
  } else {
    return false;
  }
  set_room(lines_, room_);
  return true;
}

void Stepper::go_to(std::size_t step) {
  step_ = step;
  scroll_[static_cast<std::size_t>(View::card)] = 0;
}

void Stepper::type(int key) {
  if (key == kEnter) {
    typing_ = false;
    go_to_typed();
  } else if (key == kEscape) {
    typing_ = false;
  } else if (key == kErase) {
    if (!typed_.empty()) typed_.pop_back();
  } else if (key > ' ' && key < 127 && typed_.size() < 12) {
    typed_ += static_cast<char>(key);
  }
}

void Stepper::go_to_typed() {
  if (typed_.empty()) return;
  const std::size_t count = walk_.steps.size();
  std::size_t number = 0;
  const char* end = typed_.data() + typed_.size();
  const auto [rest, error] = std::from_chars(typed_.data(), end, number);
  if (error != std::errc() || rest != end || number < 1 || number > count) {
    message_ = fmt::format("there is no step {}: 1 to {}", typed_, count);
    return;
  }
  go_to(number - 1);
}

// The function a step belongs to; for a text, the one it leads to, or else the one before it.
std::size_t Stepper::graph_here() const {
  for (std::size_t i = step_; i < walk_.steps.size(); ++i) {
    if (walk_.steps[i].graph != kNone) return walk_.steps[i].graph;
  }
  for (std::size_t i = step_; i-- > 0;) {
    if (walk_.steps[i].graph != kNone) return walk_.steps[i].graph;
  }
  return kNone;
}

void Stepper::go_to_part(WalkStep::Kind kind) {
  const std::size_t graph = graph_here();
  const auto found = std::find_if(walk_.steps.begin(), walk_.steps.end(), [&](const auto& step) {
    return step.graph == graph && step.kind == kind;
  });
  if (graph == kNone || found == walk_.steps.end()) {
    message_ = fmt::format("there is no {} part here",
                           kind == WalkStep::Kind::backward ? "backward" : "forward");
    return;
  }
  go_to(static_cast<std::size_t>(found - walk_.steps.begin()));
}

}  // namespace gradzoo::examples
