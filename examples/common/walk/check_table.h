// The check of a walk step by step, as text.
#pragma once

#include <string>
#include <vector>

#include "examples/common/walk/walk_text.h"

namespace gradzoo::examples {

/// A line for each backward step that completes gradients: the largest relative error of what was
/// compared with central differences ("-" where all of it is too small to have one), the verdict,
/// and the op. A line of heads above; nothing where nothing was compared.
std::vector<std::string> check_table(const Walk& walk, const CardOptions& options = {});

}  // namespace gradzoo::examples
