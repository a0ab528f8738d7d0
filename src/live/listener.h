// How checked programs find their monitor: a socket that has a name in no file system, or one that the
// program made itself before it started us.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace heddle {

// A checked program that has connected.
class Connection {
 public:
  // Takes the socket and waits for what a program says first. Nothing: it is no checked program, or gone.
  // Throws SystemError when the program's runtime is of another version.
  static std::optional<Connection> receive(int socket);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  Connection(const Connection&) = delete;
  ~Connection();

  pid_t pid() const { return pid_; }
  // The descriptor of the memory it shares; the caller closes it.
  int take_memory();
  // Lets the program go on, or end: how many findings there are and what to exit with then.
  void answer(uint32_t findings, int exit_code) const;
  // It has ended, was killed or became another program.
  bool is_over() const;

 private:
  Connection(int socket, int memory, pid_t pid) : socket_(socket), memory_(memory), pid_(pid) {}

  int socket_;
  int memory_;
  pid_t pid_;
};

class Listener {
 public:
  // Throws SystemError.
  Listener();
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // What HEDDLE_MONITOR must be for programs to find it.
  const std::string& name() const { return name_; }
  // To be waited for.
  int descriptor() const { return socket_; }
  // The program that wants to connect, if there is one. Throws what Connection::receive() does.
  std::optional<Connection> accept();

 private:
  int socket_;
  std::string name_;
};

}  // namespace heddle
