// Files that are written whole or not at all, and files that are read at given places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gradzoo {

/// Closes a file descriptor when it goes.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept : descriptor_(other.release()) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  int get() const { return descriptor_; }
  /// Gives the descriptor away: the caller closes it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// A file that appears under its name only when it is complete: written under a temporary name in
/// the same directory, which commit() makes durable and renames. Whatever happens before that
/// leaves the old file as it was. A link is followed, the old file's permissions are kept, and a
/// device or pipe is written to directly. Every failure is an Error naming path and cause.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  /// Removes the temporary file unless commit() has succeeded.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  int open_temporary(unsigned mode);

  std::string path_;       // as the caller gave it, for messages
  std::string target_;     // with links resolved
  std::string temporary_;  // empty: a device is open, or there is nothing left to remove
  unsigned old_mode_ = 0;  // permissions of the file to be replaced, 0 when there is none
  FileHandle file_;
};

/// A regular file to read from.
class InputFile {
 public:
  /// Throws Error when it is missing, unreadable, a directory, a device or a pipe.
  explicit InputFile(const std::string& path);

  std::uint64_t size() const { return size_; }
  /// `bytes` bytes from `offset` on. Throws when the file ends before.
  void read(std::uint64_t offset, void* data, std::size_t bytes) const;

 private:
  std::string path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

}  // namespace gradzoo
