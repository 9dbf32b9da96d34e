// A terminal taken over by a program: cells to write in, keys, and everything put back at the end.
#pragma once

#include <string>
#include <string_view>

namespace gradzoo::examples {

/// What next_key() gives beside characters, which are themselves.
enum Key : int {
  kNoKey = 0x110000,  ///< nothing came for a tenth of a second; behind all characters
  kResized,
  kHungUp,  ///< nobody will ever press a key again
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kErase,
  kEscape,
  kOtherKey,
};

enum class Look { plain, bold, dim, red, green };

/// The terminal of standard input and output, for as long as it lives. There must be one only.
class Window {
 public:
  /// Takes the terminal over. Where that cannot be done, problem() says why, and nothing has
  /// been changed.
  Window();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// "TERM is 'dumb', ...", empty when all is well.
  const std::string& problem() const { return problem_; }
  int columns() const;
  int rows() const;

  /// Empties all cells.
  void clear();
  /// Writes UTF-8 into a row, from `column` up to `end` (or the row's end). What is no character
  /// becomes U+FFFD. Returns the column behind it.
  int put(int row, int column, std::string_view text, Look look = Look::plain, int end = 1 << 15);
  /// Makes the terminal look like the cells. `anew`: whatever else may have written on it.
  void show(bool anew = false);

  /// Waits for a key, but not for long.
  int next_key();

 private:
  void* screen_ = nullptr;
  std::string problem_;
  bool colors_ = false;
};

}  // namespace gradzoo::examples
