#include "runtime/connection.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "runtime/atomics.h"
#include "runtime/contexts.h"
#include "runtime/early_locks.h"
#include "runtime/flow.h"
#include "runtime/interface.h"
#include "runtime/memory.h"
#include "runtime/message.h"
#include "runtime/question.h"
#include "runtime/spec_blocks.h"
#include "runtime/system_calls.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

extern char** environ;

namespace heddle::runtime {

Channel* channel = nullptr;

namespace {

std::atomic<int> monitor{-1};  // socket
bool is_connected = false;
pid_t connected = 0;  // the process that is; a child of vfork has the same memory

// Whether a process that was checked with the same settings is above this one: reports must not go to one and
// the same file. Programs learn it from their environment.
constexpr const char* kFirstProcess = "HEDDLE_DESCENDANT";
bool is_descendant = false;

// Out of the way of the program's own descriptors.
constexpr int kLowestDescriptor = 700;
void close_own(int descriptor) { system_call(SYS_close, descriptor); }
int move_up(int descriptor) {
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (moved < 0) return descriptor;
  close_own(descriptor);
  return moved;
}

int connect_to(const char* name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = __builtin_strlen(name);
  if (length + 1 >= sizeof(address.sun_path)) return -1;
  __builtin_memcpy(address.sun_path + 1, name, length);  // after a 0: not in the file system
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (system_call(SYS_connect, made, &address, size) == 0) return made;
  close_own(made);
  return -1;
}

// bin/heddle beside the lib/ that this library is in.
bool find_heddle(char* path, std::size_t size) {
  Dl_info self;
  if (::dladdr(reinterpret_cast<void*>(&connect_to_monitor), &self) == 0) return false;
  char resolved[4096];
  if (::realpath(self.dli_fname, resolved) == nullptr) return false;
  for (int up = 0; up < 2; ++up) {
    char* const slash = __builtin_strrchr(resolved, '/');
    if (slash == nullptr) return false;
    *slash = 0;
  }
  const std::size_t length = __builtin_strlen(resolved);
  constexpr char kTool[] = "/bin/heddle";
  if (length + sizeof(kTool) > size) return false;
  __builtin_memcpy(path, resolved, length);
  __builtin_memcpy(path + length, kTool, sizeof(kTool));
  return ::access(path, X_OK) == 0;
}

// In a child of ours: becomes the tool, which is no checked program.
[[noreturn]] void become_tool(char* path, char* option) {
  char command[] = "monitor";
  char* const arguments[] = {path, command, option, nullptr};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (__builtin_strncmp(*entry, "LD_PRELOAD=", 11) == 0) (*entry)[0] = 'X';
  ::execve(path, arguments, environ);
  ::_exit(127);
}

// The exit code; -1: it is not known, or a signal has ended the process.
int wait_for_exit(pid_t process) {
  int status = 0;
  int64_t ended;
  do ended = system_call(SYS_wait4, process, &status, 0, 0);
  while (ended == -EINTR);
  if (ended < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A monitor of our own: not a child of the program, which may wait for any child.
int start_monitor() {
  char path[4096];
  if (!find_heddle(path, sizeof(path))) {
    say("the heddle tool was not found beside the runtime library; run the program with 'heddle run'");
    return -1;
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  const auto first = static_cast<pid_t>(system_call(SYS_fork));
  if (first == 0) {
    if (system_call(SYS_fork) == 0) {
      ::dup2(ends[1], 3);
      ::fcntl(3, F_SETFD, 0);
      char option[] = "--of-descendant";
      become_tool(path, is_descendant ? option : nullptr);
    }
    ::_exit(0);
  }
  close_own(ends[1]);
  if (first < 0) {
    close_own(ends[0]);
    return -1;
  }
  wait_for_exit(first);
  return ends[0];
}

// Settings that are wrong are told before the program does anything: when its second thread needs the monitor
// it is too late to refuse. Costs something only where there are settings.
[[gnu::constructor(104)]] void check_settings() {
  if (::getenv("HEDDLE_MONITOR") != nullptr || is_switched_off()) return;
  const bool has_options = ::getenv("HEDDLE_OPTIONS") != nullptr;
  is_descendant = ::getenv(kFirstProcess) != nullptr;
  if (!has_options && ::access("heddle.toml", F_OK) != 0) return;
  if (has_options) ::setenv(kFirstProcess, "1", 0);
  char path[4096];
  if (!find_heddle(path, sizeof(path))) return;  // said when the monitor is needed
  const auto checking = static_cast<pid_t>(system_call(SYS_fork));
  if (checking == 0) {
    char option[] = "--only-settings";
    become_tool(path, option);
  }
  constexpr int kWrongInput = 2;
  if (checking > 0 && wait_for_exit(checking) == kWrongInput) ::_exit(kWrongInput);
}

bool send_hello(int memory) {
  Hello hello = {};
  __builtin_memcpy(hello.magic, kHelloMagic, sizeof(kHelloMagic));
  hello.size = sizeof(Channel);
  hello.pid = ::getpid();
  hello.interface = kInterface;
  iovec part = {&hello, sizeof(hello)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  __builtin_memcpy(CMSG_DATA(header), &memory, sizeof(int));
  return system_call(SYS_sendmsg, monitor.load(), &message, MSG_NOSIGNAL) == sizeof(hello);
}

bool receive_answer(Answer& answer) {
  int64_t got;
  do got = system_call(SYS_recvfrom, monitor.load(), &answer, sizeof(answer), MSG_WAITALL, 0, 0);
  while (got == -EINTR);
  return got == sizeof(answer);
}

// While it lives, there may be as many descriptors as the system allows: the program may have used up what it
// has allowed itself. It has one thread so far, which sees nothing of this.
class MoreDescriptors {
 public:
  MoreDescriptors() {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
    const rlimit more = {before_.rlim_max, before_.rlim_max};
    is_raised_ = ::setrlimit(RLIMIT_NOFILE, &more) == 0;
  }
  ~MoreDescriptors() {
    if (is_raised_) ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  MoreDescriptors(const MoreDescriptors&) = delete;
  MoreDescriptors& operator=(const MoreDescriptors&) = delete;

 private:
  rlimit before_ = {};
  bool is_raised_ = false;
};

// False: nobody listens.
bool share_memory() {
  const int memory = ::memfd_create("heddle", MFD_CLOEXEC);
  if (memory < 0) return false;
  void* shared = MAP_FAILED;
  if (::ftruncate(memory, static_cast<off_t>(sizeof(Channel))) == 0)
    shared = ::mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  bool done = false;
  if (shared != MAP_FAILED) {
    auto* const made = static_cast<Channel*>(shared);
    ::madvise(shared, sizeof(Channel), MADV_DONTDUMP);
    made->contexts.store(1);
    made->text_bytes.store(1);
    Answer answer;
    done = send_hello(memory) && receive_answer(answer);
    if (done) {
      reserve_contexts();
      // With data flow every access is told, in another way.
      if (!is_built_to_follow) {
        told_per_stretch = &made->told_per_stretch;
        tells_all_of_stretch = made->told_per_stretch == Channel::kTellAll;
      }
      set_quiet(&made->is_quiet);
      take_spec_blocks(*made);
      tells_every_access = made->is_full != 0 || is_built_to_follow;
      __atomic_store_n(&channel, made, __ATOMIC_RELEASE);
    } else {
      ::munmap(shared, sizeof(Channel));
    }
  }
  close_own(memory);
  return done;
}

// As many as the way to the monitor takes.
bool has_two_descriptors() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return errno != EMFILE && errno != ENFILE;
  close_own(ends[0]);
  close_own(ends[1]);
  return true;
}

// False: this process is not checked, and it was said why.
bool find_monitor() {
  const MoreDescriptors more;
  if (!has_two_descriptors()) {
    say("process %d has no two file descriptors left, which checking needs when the first thread begins; "
        "this "
        "process is not checked. Raise the limit (ulimit -n)",
        ::getpid());
    return false;
  }
  const char* const name = ::getenv("HEDDLE_MONITOR");
  const int found = name != nullptr ? connect_to(name) : start_monitor();
  if (found < 0) {
    if (name != nullptr)
      say("the monitor of 'heddle run' is gone; process %d is not checked. 'heddle run' ends with the "
          "program "
          "that it has started: to check one that goes on in a child, as a daemon does, run it without "
          "'heddle run'",
          ::getpid());
    return false;
  }
  monitor = move_up(found);
  if (share_memory()) return true;
  say("the monitor did not answer; this process is not checked. If it is of another version of Heddle, build "
      "the program again with the heddle-clang++ that it came with");
  close_own(monitor.exchange(-1));
  return false;
}

}  // namespace

bool is_before_monitor() { return !is_connected; }

bool is_switched_off() {
  const char* const value = ::getenv("HEDDLE_OFF");
  return value != nullptr && *value != 0 && __builtin_strcmp(value, "0") != 0;
}

void connect_to_monitor() {
  if (is_connected || this_thread == nullptr) return;
  is_connected = true;
  if (find_monitor()) {
    connected = ::getpid();
    listen_for_questions();
    tell_modules(*this_thread);
  }
  tell_early_locks();
}

int own_descriptor() {
  const int own = monitor.load(std::memory_order_relaxed);
  // A child that nobody told us of has a copy, and may close it.
  return own >= 0 && ::getpid() == connected ? own : -1;
}

bool move_own_descriptor() {
  const int before = monitor;
  const int moved = ::fcntl(before, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (moved >= 0) monitor = moved;
  return moved >= 0;
}

bool monitor_is_there() {
  if (channel == nullptr) return false;
  const int asked = monitor;
  char byte;
  const int64_t got = system_call(SYS_recvfrom, asked, &byte, 1, MSG_PEEK | MSG_DONTWAIT, 0, 0);
  if (got > 0 || got == -EAGAIN || got == -EINTR) return true;
  if (asked != monitor) return monitor_is_there();  // it has moved meanwhile
  if (__atomic_exchange_n(&channel, nullptr, __ATOMIC_ACQ_REL) == nullptr) return false;
  if (got == -EBADF || got == -ENOTSOCK) {
    say("process %d has closed the descriptor by which it is checked, around the C library: what it does "
        "from "
        "now on is not checked",
        ::getpid());
  } else {
    say("the monitor is gone: checking has ended, and what it has found in process %d is not reported",
        ::getpid());
  }
  return false;
}

int finish_with_monitor(int exit_code) {
  Channel* const to = channel;
  if (to == nullptr || ::getpid() != connected) return exit_code;
  to->state.store(kProgramEnded, std::memory_order_release);
  if (!monitor_is_there() || ::getenv("HEDDLE_MONITOR") != nullptr)
    return exit_code;  // whoever runs it knows
  Answer answer;
  if (!receive_answer(answer) || answer.findings == 0) return exit_code;
  return static_cast<int>(answer.exit_code);
}

void leave_monitor_to_parent() {
  channel = nullptr;
  set_quiet(nullptr);
  is_connected = false;
  is_descendant = true;
  if (const int left = monitor.exchange(-1); left >= 0) close_own(left);
  for (HeddleFrame* frame = heddle_thread_state.frame; frame != nullptr; frame = frame->caller)
    frame->context = 0;
}

}  // namespace heddle::runtime
