// Files written whole or not at all: what is left after failures and crashes.
#include "core/file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// Files may not grow beyond this while it lives: to the writer, a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_ = {};
  void (*old_handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("file: a new file has its bytes and nothing lies beside it") {
  const TemporaryDirectory directory;
  write_file(directory / "new", std::string("a\0b\n", 4));
  CHECK(read_bytes(directory / "new") == std::string("a\0b\n", 4));
  CHECK(directory.count() == 1);
}

TEST_CASE("file: the old content stays until commit, and stays when there is none") {
  const TemporaryDirectory directory;
  write_bytes(directory / "f", "old");
  {
    AtomicFile file(directory / "f");
    file.write("half of the new");
    CHECK(read_bytes(directory / "f") == "old");
    CHECK(directory.count() == 2);
  }
  CHECK(read_bytes(directory / "f") == "old");
  CHECK(directory.count() == 1);
  write_file(directory / "f", "new");
  CHECK(read_bytes(directory / "f") == "new");
  CHECK(directory.count() == 1);
}

TEST_CASE("file TRN7: a process killed before the rename leaves the old file, and saving goes on") {
  const TemporaryDirectory directory;
  write_bytes(directory / "f", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(directory / "f");
    file.write("half of the new");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(read_bytes(directory / "f") == "old");
  CHECK(directory.count() == 2);
  write_file(directory / "f", "new");
  CHECK(read_bytes(directory / "f") == "new");
}

TEST_CASE(
    "file: a temporary name that is taken, by a process of the same number once, is skipped") {
  const TemporaryDirectory directory;
  std::string next;
  {
    const AtomicFile file(directory / "f");
    next = std::filesystem::directory_iterator(directory.path())->path().string();
  }
  // .gradzoo-PROCESS-COUNT.tmp
  const std::size_t dash = next.rfind('-'), dot = next.rfind('.');
  const int count = std::stoi(next.substr(dash + 1, dot - dash - 1));
  write_bytes(next.substr(0, dash + 1) + std::to_string(count + 1) + ".tmp", "taken");
  write_file(directory / "f", "text");
  CHECK(read_bytes(directory / "f") == "text");
  CHECK(directory.count() == 2);
}

TEST_CASE("file: a disk that fills up is an error and leaves the old file") {
  const TemporaryDirectory directory;
  const std::string path = directory / "f";
  write_bytes(path, "old");
  const std::string message = message_of([&] {
    const FileSizeLimit limit(1000);
    AtomicFile file(path);
    file.write(std::string(900, 'x'));
    file.write(std::string(900, 'x'));
    file.commit();
  });
  CHECK(message == path + ": cannot write: File too large");
  CHECK(read_bytes(path) == "old");
  CHECK(directory.count() == 1);
}

TEST_CASE("file: devices are written to directly, and a full one is an error") {
  CHECK(message_of([] { write_file("/dev/full", "text"); }) ==
        "/dev/full: cannot write: No space left on device");
  struct stat status = {};
  REQUIRE(::stat("/dev/full", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
  write_file("/dev/null", "text");
  REQUIRE(::stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("file: an empty path is refused at once, not taken for the current directory") {
  CHECK(message_of([] { AtomicFile file(""); }) == "file: the path must not be empty");
  CHECK(message_of([] { InputFile file(""); }) == "file: the path must not be empty");
}

TEST_CASE("file: a directory and a missing directory are errors naming path and cause") {
  const TemporaryDirectory directory;
  CHECK(message_of([&] { write_file(directory.path(), "text"); }) ==
        directory.path() + ": cannot write: it is a directory");
  const std::string missing = directory / "none/f";
  CHECK(message_of([&] { write_file(missing, "text"); }) ==
        missing + ": cannot create a file beside it: No such file or directory");
  CHECK(directory.count() == 0);
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may write to a directory without permission");
    return;
  }
  REQUIRE(::chmod(directory.path().c_str(), 0500) == 0);
  const std::string path = directory / "f";
  CHECK(message_of([&] { write_file(path, "text"); }) ==
        path + ": cannot create a file beside it: Permission denied");
  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
}

TEST_CASE("file: a link stays a link, and permissions stay as they were") {
  const TemporaryDirectory directory;
  write_bytes(directory / "real", "old");
  REQUIRE(::chmod((directory / "real").c_str(), 0666) == 0);
  REQUIRE(::symlink("real", (directory / "link").c_str()) == 0);
  write_file(directory / "link", "new");
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(read_bytes(directory / "real") == "new");
  CHECK(mode_of(directory / "real") == 0666);
}

TEST_CASE("file: a name as long as the system allows") {
  const TemporaryDirectory directory;
  const std::string path = directory / std::string(255, 'n');
  write_file(path, "text");
  CHECK(read_bytes(path) == "text");
}

TEST_CASE("file: reading at a place, and past the end") {
  const TemporaryDirectory directory;
  write_bytes(directory / "f", "0123456789");
  const InputFile file(directory / "f");
  CHECK(file.size() == 10);
  char two[3] = {};
  file.read(4, two, 2);
  CHECK(std::string(two) == "45");
  file.read(10, two, 0);
  CHECK(message_of([&] { file.read(9, two, 2); }) ==
        directory / "f" + ": the file ends at byte 10, 1 more were expected");
}

TEST_CASE("file: what cannot be read says why, without waiting") {
  const TemporaryDirectory directory;
  const auto message = [](const std::string& path) {
    return message_of([&] { const InputFile file(path); });
  };
  CHECK(message(directory / "none") ==
        directory / "none" + ": cannot open: No such file or directory");
  CHECK(message(directory.path()) == directory.path() + ": cannot read: it is a directory");
  CHECK(message("/dev/zero") == "/dev/zero: cannot read: it is not a regular file");
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(message(directory / "pipe") ==
        directory / "pipe" + ": cannot read: it is not a regular file");
  write_bytes(directory / "locked", "text");
  REQUIRE(::chmod((directory / "locked").c_str(), 0) == 0);
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may read everything");
  } else {
    CHECK(message(directory / "locked") ==
          directory / "locked" + ": cannot open: Permission denied");
  }
}
