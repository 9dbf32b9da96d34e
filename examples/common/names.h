// Names that people type, and what they may have meant.
#pragma once

#include <string>
#include <vector>

namespace gradzoo::examples {

/// Equal but for upper and lower case.
bool same_name(const std::string& a, const std::string& b);

/// Up to `count` of `names`, separated by commas, the likeliest first: those that contain `typed`
/// or are contained in it, then those that take the fewest changes of a letter.
std::string nearest_names(const std::string& typed, std::vector<std::string> names,
                          std::size_t count);

}  // namespace gradzoo::examples
