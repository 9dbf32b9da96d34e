// A terminal taken over, by curses.
#include "examples/common/walk/window.h"

#define NCURSES_NOMACROS 1  // its functions are called move and clear; that is enough
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fmt/core.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cwchar>

namespace gradzoo::examples {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Texts are UTF-8, and so is what terminals understand, also where the locale does not say so.
void use_utf8() {
  const bool known = std::setlocale(LC_CTYPE, "") != nullptr;
  if (!known || std::string_view(nl_langinfo(CODESET)) != "UTF-8") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
}

// The characters of a text.
std::wstring wide(std::string_view text) {
  constexpr wchar_t kNoCharacter = 0xFFFD;
  std::wstring result;
  std::mbstate_t state{};
  for (std::size_t i = 0; i < text.size();) {
    wchar_t character = 0;
    std::size_t length = std::mbrtowc(&character, text.data() + i, text.size() - i, &state);
    if (length == 0 || length > text.size() || wcwidth(character) < 0) {
      if (length == 0 || length > text.size()) length = 1;
      character = kNoCharacter;
      state = {};
    }
    result += character;
    i += length;
  }
  return result;
}

}  // namespace

Window::Window() {
  const std::string name = environment("TERM");
  use_utf8();
  if (isatty(STDIN_FILENO) == 0) {
    problem_ = "standard input is no terminal, so there are no keys";
    return;
  }
  // The size is the terminal's, which may change; these would fix it.
  unsetenv("LINES");
  unsetenv("COLUMNS");
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  screen_ = screen;
  if (screen == nullptr) {
    problem_ = fmt::format("TERM is '{}', which is no terminal known here", name);
    return;
  }
  const char* move_cursor = tigetstr("cup");
  if (move_cursor == nullptr || move_cursor == reinterpret_cast<const char*>(-1)) {
    problem_ = fmt::format("TERM is '{}', which can only print", name);
    return;
  }
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);  // milliseconds in which an escape sequence must arrive
  curs_set(0);
  colors_ = has_colors() && environment("NO_COLOR").empty();
  if (colors_) {
    start_color();
    use_default_colors();
    init_pair(static_cast<short>(Look::red), COLOR_RED, -1);
    init_pair(static_cast<short>(Look::green), COLOR_GREEN, -1);
  }
}

Window::~Window() {
  if (screen_ == nullptr) return;
  endwin();
  delscreen(static_cast<SCREEN*>(screen_));
}

int Window::columns() const { return getmaxx(stdscr); }
int Window::rows() const { return getmaxy(stdscr); }

void Window::clear() { werase(stdscr); }

int Window::put(int row, int column, std::string_view text, Look look, int end) {
  end = std::min(end, columns());
  std::wstring fitting;
  int behind = column;
  for (const wchar_t character : wide(text)) {
    const int width = wcwidth(character);
    if (behind + width > end) break;
    fitting += character;
    behind += width;
  }
  const bool colored = colors_ && (look == Look::red || look == Look::green);
  const attr_t attributes = look == Look::bold || look == Look::red ? A_BOLD
                            : look == Look::dim                     ? A_DIM
                                                                    : A_NORMAL;
  wattr_set(stdscr, attributes, static_cast<short>(colored ? look : Look::plain), nullptr);
  mvwaddwstr(stdscr, row, column, fitting.c_str());
  wattr_set(stdscr, A_NORMAL, 0, nullptr);
  return behind;
}

void Window::show(bool anew) {
  if (anew) clearok(curscr, TRUE);
  wrefresh(stdscr);
}

int Window::next_key() {
  // Signals may be handled on another thread: waiting must have an end of its own.
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  if (poll(&keys, 1, 100) > 0 && (keys.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
    return kHungUp;
  }
  switch (const int key = wgetch(stdscr)) {
    case ERR:
      return kNoKey;
    case KEY_RESIZE:
      return kResized;
    case KEY_UP:
      return kUp;
    case KEY_DOWN:
      return kDown;
    case KEY_LEFT:
      return kLeft;
    case KEY_RIGHT:
      return kRight;
    case KEY_PPAGE:
      return kPageUp;
    case KEY_NPAGE:
      return kPageDown;
    case KEY_HOME:
      return kHome;
    case KEY_END:
      return kEnd;
    case KEY_ENTER:
    case '\r':
    case '\n':
      return kEnter;
    case KEY_BACKSPACE:
    case '\b':
    case 127:
      return kErase;
    case 27:
      return kEscape;
    default:
      return key < 256 ? key : kOtherKey;
  }
}

}  // namespace gradzoo::examples
