// Other programs, called by name and without a shell.
#include "examples/common/call_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

namespace gradzoo::examples {
namespace {

using Clock = std::chrono::steady_clock;

// A file descriptor that is closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

// Starts it with these as its standard input and output; its process, or -1.
pid_t start(const std::vector<std::string>& command, int input, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = -1;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -1;
}

// Gives it `input` and takes what it writes until it closes its output. False when time is up.
bool exchange(Descriptor& to, const Descriptor& from, std::string_view input, std::string& output,
              Clock::time_point end) {
  std::array<char, 65536> buffer;
  while (true) {
    if (input.empty()) to.close();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> waiting = {{{from.number(), POLLIN, 0}, {to.number(), POLLOUT, 0}}};
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) < 0 && errno != EINTR) {
      return false;
    }
    if (waiting[1].revents != 0) {
      // A socket, not a pipe: a program that does not read is an error here and no signal.
      const ssize_t sent =
          send(to.number(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) input = {};
    }
    if (waiting[0].revents != 0) {
      const ssize_t got = read(from.number(), buffer.data(), buffer.size());
      if (got == 0) return true;
      if (got > 0) output.append(buffer.data(), static_cast<std::size_t>(got));
      if (got < 0 && errno != EINTR) return false;
    }
  }
}

// Whether it ends well before time is up; if not, it is killed.
bool ends_well(pid_t process, Clock::time_point end) {
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR) return false;
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGKILL);
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return false;
}

}  // namespace

std::optional<std::string> output_of(const std::vector<std::string>& command,
                                     std::string_view input, std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  std::array<int, 2> sockets, pipes;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return std::nullopt;
  Descriptor to(sockets[0]), its_input(sockets[1]);
  if (pipe2(pipes.data(), O_CLOEXEC) != 0) return std::nullopt;
  const Descriptor from(pipes[0]);
  Descriptor its_output(pipes[1]);
  const pid_t process = start(command, its_input.number(), its_output.number());
  if (process < 0) return std::nullopt;
  its_input.close();
  its_output.close();
  std::string output;
  const bool whole = exchange(to, from, input, output, end);
  if (!ends_well(process, whole ? end : Clock::now()) || !whole) return std::nullopt;
  return output;
}

}  // namespace gradzoo::examples
