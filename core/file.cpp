// Files that are written whole or not at all, and files that are read at given places.
#include "core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/error.h"

namespace gradzoo {
namespace {

// Throws what the system said about the last call.
[[noreturn]] void fail_with_cause(const std::string& path, const char* what) {
  const int cause = errno;
  fail("{}: cannot {}: {}", path, what, std::generic_category().message(cause));
}

// A rename is on the disk only when its directory is.
void sync_directory(const std::string& path, const std::string& directory) {
  const FileHandle folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) fail_with_cause(path, "open its directory");
  // Some file systems have no such call for directories, and say so with EINVAL.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) fail_with_cause(path, "flush its directory");
}

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

}  // namespace

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  check(!path.empty(), "file: the path must not be empty");
  struct stat old = {};
  if (::stat(path.c_str(), &old) != 0) {
    file_ = FileHandle(open_temporary(0666));
    return;
  }
  check(!S_ISDIR(old.st_mode), "{}: cannot write: it is a directory", path);
  if (!S_ISREG(old.st_mode)) {
    file_ = FileHandle(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) fail_with_cause(path_, "open it for writing");
    return;
  }
  std::error_code ignored;
  if (const auto real = std::filesystem::canonical(path, ignored); !ignored)
    target_ = real.string();
  old_mode_ = old.st_mode & 07777;
  file_ = FileHandle(open_temporary(old_mode_ & 0777));
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

// The name depends on the process and a count; one that a killed process left behind is skipped.
int AtomicFile::open_temporary(unsigned mode) {
  static std::atomic<std::uint64_t> count{0};
  while (true) {
    std::string name =
        fmt::format("{}/.gradzoo-{}-{}.tmp", directory_of(target_), ::getpid(), ++count);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) fail_with_cause(path_, "create a file beside it");
    temporary_ = std::move(name);
    return descriptor;
  }
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file_.get(), next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_cause(path_, "write");
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  const bool in_place = temporary_.empty();
  if (!in_place) {
    if (old_mode_ != 0 && ::fchmod(file_.get(), old_mode_) != 0) {
      fail_with_cause(path_, "keep its permissions");
    }
    if (::fsync(file_.get()) != 0) fail_with_cause(path_, "flush");
  }
  if (::close(file_.release()) != 0) fail_with_cause(path_, "close");
  if (in_place) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail_with_cause(path_, "rename the finished file to it");
  }
  temporary_.clear();
  sync_directory(path_, directory_of(target_));
}

InputFile::InputFile(const std::string& path) : path_(path) {
  check(!path.empty(), "file: the path must not be empty");
  // Without O_NONBLOCK, opening a pipe would wait for a writer before it can be refused.
  file_ = FileHandle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_.get() < 0) fail_with_cause(path_, "open");
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) fail_with_cause(path_, "read its size");
  check(!S_ISDIR(status.st_mode), "{}: cannot read: it is a directory", path);
  check(S_ISREG(status.st_mode), "{}: cannot read: it is not a regular file", path);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::uint64_t offset, void* data, std::size_t bytes) const {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(file_.get(), next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_cause(path_, "read");
    check(got > 0, "{}: the file ends at byte {}, {} more were expected", path_, offset, bytes);
    next += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace gradzoo
