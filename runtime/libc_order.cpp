// Descriptors and signals, as far as threads are ordered by them.
#include "runtime/libc_order.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "runtime/libc_functions.h"
#include "runtime/sync.h"
#include "runtime/tell.h"

extern "C" int __poll_chk(pollfd*, nfds_t, int, size_t);

namespace heddle::runtime {

namespace {

const char kOthers = 0;  // stands for all that is sent

// Of functions that return -1, or 0 for nothing yet, when nothing has come.
int waited(const LibcCall& call, int result) {
  if (result > 0) receiving(call);
  return result;
}

}  // namespace

void sending(const LibcCall& call) {
  if (!call.is_checked()) return;
  const int error = errno;
  releasing_shared(&kOthers);
  tell_sync(&kOthers, call.pc());
  errno = error;
}
void receiving(const LibcCall& call) {
  if (!call.is_checked()) return;
  const int error = errno;
  if (ordered_after(&kOthers)) tell_sync(&kOthers, call.pc());
  errno = error;
}

HEDDLE_LIBC(int, epoll_wait, int file, epoll_event* events, int room, int timeout) {
  const LibcCall call(HEDDLE_HERE);
  const int count = waited(call, ::epoll_wait(file, events, room, timeout));
  if (count > 0) call.writes(events, sizeof(epoll_event) * static_cast<std::size_t>(count));
  return count;
}
HEDDLE_LIBC(int, epoll_pwait, int file, epoll_event* events, int room, int timeout, const sigset_t* mask) {
  const LibcCall call(HEDDLE_HERE);
  const int count = waited(call, ::epoll_pwait(file, events, room, timeout, mask));
  if (count > 0) call.writes(events, sizeof(epoll_event) * static_cast<std::size_t>(count));
  return count;
}
HEDDLE_LIBC(int, poll, pollfd* files, nfds_t count, int timeout) {
  return waited(LibcCall(HEDDLE_HERE), ::poll(files, count, timeout));
}
HEDDLE_LIBC(int, __poll_chk, pollfd* files, nfds_t count, int timeout, std::size_t room) {
  return waited(LibcCall(HEDDLE_HERE), ::__poll_chk(files, count, timeout, room));
}
HEDDLE_LIBC(int, ppoll, pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return waited(LibcCall(HEDDLE_HERE), ::ppoll(files, count, timeout, mask));
}
HEDDLE_LIBC(int, select, int count, fd_set* in, fd_set* out, fd_set* other, timeval* timeout) {
  return waited(LibcCall(HEDDLE_HERE), ::select(count, in, out, other, timeout));
}

HEDDLE_LIBC(int, eventfd_write, int file, eventfd_t value) {
  sending(LibcCall(HEDDLE_HERE));
  return ::eventfd_write(file, value);
}
HEDDLE_LIBC(int, eventfd_read, int file, eventfd_t* value) {
  const LibcCall call(HEDDLE_HERE);
  const int result = ::eventfd_read(file, value);
  if (result == 0) {
    receiving(call);
    call.writes_object(value);
  }
  return result;
}

// Who reads or waits on the other end sees it.
HEDDLE_LIBC(int, close, int file) {
  sending(LibcCall(HEDDLE_HERE));
  return ::close(file);
}
HEDDLE_LIBC(int, shutdown, int socket, int how) {
  sending(LibcCall(HEDDLE_HERE));
  return ::shutdown(socket, how);
}
// A lock between processes, and between descriptors of one.
HEDDLE_LIBC(int, flock, int file, int operation) {
  const LibcCall call(HEDDLE_HERE);
  sending(call);
  const int result = ::flock(file, operation);
  if (result == 0 && (operation & LOCK_UN) == 0) receiving(call);
  return result;
}

HEDDLE_LIBC(int, kill, pid_t process, int signal) {
  sending(LibcCall(HEDDLE_HERE));
  return ::kill(process, signal);
}
HEDDLE_LIBC(int, pthread_kill, pthread_t thread, int signal) {
  sending(LibcCall(HEDDLE_HERE));
  return ::pthread_kill(thread, signal);
}
HEDDLE_LIBC(int, sigwait, const sigset_t* signals, int* signal) {
  const LibcCall call(HEDDLE_HERE);
  const int result = ::sigwait(signals, signal);
  if (result == 0) {
    receiving(call);
    call.writes_object(signal);
  }
  return result;
}
HEDDLE_LIBC(int, sigwaitinfo, const sigset_t* signals, siginfo_t* information) {
  return waited(LibcCall(HEDDLE_HERE), ::sigwaitinfo(signals, information));
}
HEDDLE_LIBC(int, sigtimedwait, const sigset_t* signals, siginfo_t* information, const timespec* timeout) {
  return waited(LibcCall(HEDDLE_HERE), ::sigtimedwait(signals, information, timeout));
}

[[gnu::used]] static const void* const kAllOrdering[] = {HEDDLE_LIBC_ORDERING(HEDDLE_LIBC_ADDRESS)};

}  // namespace heddle::runtime
