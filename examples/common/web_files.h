// The files of examples/web/, which the build puts into the programs (examples/web/embed.py).
#pragma once

#include <string>
#include <string_view>

namespace gradzoo::examples {

/// The text of a file, by its name: "page.css". Throws Error when there is none of that name.
std::string_view web_file(const std::string& name);

}  // namespace gradzoo::examples
