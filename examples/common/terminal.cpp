// What may be sent to a terminal and not elsewhere.
#include "examples/common/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace gradzoo::examples {

bool may_decorate(int descriptor) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  return isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

Style terminal_style(bool on) {
  if (!on) return {};
  return {"\033[1m", "\033[2m", "\033[32m", "\033[1;31m", "\033[0m"};
}

}  // namespace gradzoo::examples
