#include "cli/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "cli/question.h"

namespace heddle {

namespace {

constexpr int kFromTerminal[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<pid_t> running{0};  // the program; 0: none

// What somebody sends to us alone is meant for the program; what the terminal sends it has got itself.
void pass_on(int signal, siginfo_t* information, void*) {
  const int error = errno;
  const pid_t program = running.load();
  if (program != 0 && information->si_code <= 0 && information->si_pid != program) ::kill(program, signal);
  errno = error;
}

// While it lives, what the terminal sends waits: it must not end us between the program's start and the
// moment from which it is not for us.
class HeldBack {
 public:
  HeldBack() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : kFromTerminal) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~HeldBack() { restore(); }
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;
  void restore() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

class Child {
 public:
  // Throws InputError when there is no such program.
  Child(const std::vector<std::string>& command, const std::string& monitor, const std::string& preload,
        const HeldBack& held_back) {
    int failure[2];
    if (::pipe2(failure, O_CLOEXEC) != 0) throw SystemError("cannot start a program: no pipe");
    pid_ = ::fork();
    if (pid_ < 0) throw SystemError(fmt::format("cannot start a program: {}", std::strerror(errno)));
    if (pid_ == 0) {
      held_back.restore();
      ::setenv("HEDDLE_MONITOR", monitor.c_str(), 1);
      if (!preload.empty()) ::setenv("LD_PRELOAD", preload.c_str(), 1);
      std::vector<char*> arguments;
      arguments.reserve(command.size() + 1);
      for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      const int error = errno;
      [[maybe_unused]] const auto written = ::write(failure[1], &error, sizeof(error));
      ::_exit(127);
    }
    ::close(failure[1]);
    int error = 0;
    const bool failed = ::read(failure[0], &error, sizeof(error)) == sizeof(error);
    ::close(failure[0]);
    if (!failed) {
      descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
      return;
    }
    ::waitpid(pid_, nullptr, 0);
    throw InputError(fmt::format("{}: cannot run: {}", command.front(), std::strerror(error)));
  }

  ~Child() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // Readable once it has ended; -1: the system has no such thing.
  int descriptor() const { return descriptor_; }
  // True once it has ended.
  bool has_ended() {
    siginfo_t end = {};
    const auto id = static_cast<id_t>(pid_);
    if (!ended_ && ::waitid(P_PID, id, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == pid_) {
      running = 0;  // before the number can be another's
      ended_ = ::waitpid(pid_, &status_, 0) == pid_;
    }
    return ended_;
  }
  int exit_code() const { return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_); }
  std::string signal() const {
    if (!WIFSIGNALED(status_)) return {};
    return fmt::format("the program was ended by signal {} ({})", WTERMSIG(status_),
                       ::sigdescr_np(WTERMSIG(status_)));
  }

 private:
  pid_t pid_ = 0;
  int descriptor_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// The programs being served, and the first failure among them.
class Served {
 public:
  void begin(Connection connection, std::string program, const ServeProgram& serve) {
    threads_.emplace_back(
        [this, &serve, program = std::move(program), connection = std::move(connection)]() mutable {
          try {
            serve(connection, program);
          } catch (...) {
            fail(std::current_exception());
          }
        });
  }
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  bool any() const { return !threads_.empty(); }
  void wait_for_all() {
    for (std::thread& thread : threads_) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

CommandEnd run_command_served(const std::vector<std::string>& command, const std::string& preload,
                              const ServeProgram& serve, const std::function<void(pid_t)>& look) {
  listen_for_questions();
  Listener listener;
  std::optional<Child> child;
  {
    const HeldBack held_back;
    child.emplace(command, listener.name(), preload, held_back);
    running = child->pid();
    outlive_the_program();
  }
  Served programs;
  const auto accept_all = [&] {
    try {
      while (std::optional<Connection> connection = listener.accept()) {
        std::string program = program_of(connection->pid(), command.front());
        programs.begin(std::move(*connection), std::move(program), serve);
      }
    } catch (const SystemError&) {  // the program goes on; that it was not checked is said at the end
      programs.fail(std::current_exception());
    }
  };
  while (!child->has_ended()) {
    pollfd ready[] = {{listener.descriptor(), POLLIN, 0}, {child->descriptor(), POLLIN, 0}};
    constexpr int kBetweenLooks = 500;  // milliseconds
    ::poll(ready, std::size(ready), child->descriptor() < 0 ? 20 : look ? kBetweenLooks : -1);
    accept_all();
    if (look && !child->has_ended()) look(child->pid());
  }
  accept_all();
  const bool any = programs.any();
  programs.wait_for_all();
  return {child->exit_code(), child->signal(), any};
}

void outlive_the_program() {
  struct sigaction action = {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : kFromTerminal) ::sigaction(signal, &action, nullptr);
}

std::string program_of(pid_t pid, const std::string& otherwise) {
  std::error_code none;
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), none);
  return none ? otherwise : path.filename().string();
}

}  // namespace heddle
