#include "live/listener.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <random>
#include <utility>

#include "base/error.h"
#include "runtime/channel.h"
#include "runtime/interface.h"

namespace heddle {

std::optional<Connection> Connection::receive(int socket) {
  runtime::Hello hello = {};
  iovec part = {&hello, sizeof(hello)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = -1;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  int memory = -1;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
      got > 0 && header != nullptr && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&memory, CMSG_DATA(header), sizeof(memory));
  const bool is_heddle = got == static_cast<ssize_t>(sizeof(hello)) &&
                         std::memcmp(hello.magic, runtime::kHelloMagic, sizeof(hello.magic)) == 0;
  const bool fits = hello.interface == runtime::kInterface && hello.size == sizeof(runtime::Channel);
  if (is_heddle && fits && memory >= 0) return Connection(socket, memory, hello.pid);
  if (memory >= 0) ::close(memory);
  ::close(socket);
  if (is_heddle && !fits)
    throw SystemError(fmt::format(
        "process {} has the runtime of another version of Heddle than this one, so it was not checked. Build "
        "the program again with the heddle-clang++ that is beside this heddle, or run it with the heddle "
        "that "
        "its runtime came with",
        hello.pid));
  return std::nullopt;
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      memory_(std::exchange(other.memory_, -1)),
      pid_(other.pid_) {}

Connection::~Connection() {
  if (socket_ >= 0) ::close(socket_);
  if (memory_ >= 0) ::close(memory_);
}

int Connection::take_memory() { return std::exchange(memory_, -1); }

void Connection::answer(uint32_t findings, int exit_code) const {
  const runtime::Answer answer = {findings, static_cast<uint32_t>(exit_code)};
  [[maybe_unused]] const auto sent = ::send(socket_, &answer, sizeof(answer), MSG_NOSIGNAL);
}

bool Connection::is_over() const {
  pollfd ready = {socket_, POLLIN, 0};
  if (::poll(&ready, 1, 0) > 0) {
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return true;
  }
  return ::kill(pid_, 0) != 0 && errno == ESRCH;
}

Listener::Listener() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  std::random_device random;
  name_ = fmt::format("heddle-{}-{:08x}{:08x}", ::getpid(), random(), random());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name_.data(), name_.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  if (socket_ < 0 || ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(socket_, 64) != 0)
    throw SystemError(fmt::format("cannot listen to the checked program: {}", std::strerror(errno)));
}

Listener::~Listener() { ::close(socket_); }

std::optional<Connection> Listener::accept() {
  const int connected = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connected < 0) return std::nullopt;
  return Connection::receive(connected);
}

}  // namespace heddle
