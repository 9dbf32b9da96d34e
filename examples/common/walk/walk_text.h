// A walk as text: cards of at most so many columns, for a terminal and for --plain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/common/terminal.h"
#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

struct CardOptions {
  std::size_t width = 80;  ///< no line has more columns; at least 40
  std::size_t window = 5;  ///< lines of the list of nodes, the current one among them
  /// Marks around words; they take no columns. They never span lines. A program that draws with
  /// something else than escape sequences gives marks that it knows again ("\1", "\2", ...).
  Style style = {};
};

/// Where a step stands: some lines of the list of nodes around it, with "you are here". Of notes
/// and updates nothing.
std::vector<std::string> graph_lines(const Walk& walk, std::size_t step,
                                     const CardOptions& options = {});

/// What a step does: of an op the rule, the numbers, what is added to which gradient, and the
/// central differences of the gradients that are complete with it.
std::vector<std::string> detail_lines(const Walk& walk, std::size_t step,
                                      const CardOptions& options = {});

/// The whole card: "step 3 of 12", where it stands, what it does.
std::vector<std::string> step_card(const Walk& walk, std::size_t step,
                                   const CardOptions& options = {});

/// What all the differences say together; the wrong ones by step.
std::vector<std::string> check_lines(const Walk& walk, const CardOptions& options = {});

}  // namespace gradzoo::examples
