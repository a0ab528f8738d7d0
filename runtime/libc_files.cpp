// Files, sockets and clocks. What a function writes is known, and checked, when it is done.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "runtime/libc_call.h"
#include "runtime/libc_functions.h"
#include "runtime/libc_kept.h"
#include "runtime/libc_order.h"

extern "C" {
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
char* __fgets_chk(char*, size_t, int, FILE*);
}

namespace heddle::runtime {

namespace {

// What came into the memory. A message may say that it would have been longer.
ssize_t received(const LibcCall& call, void* memory, ssize_t got, std::size_t room) {
  if (got >= 0) receiving(call);  // 0: the other end was closed
  if (got > 0) {
    call.writes(memory, static_cast<std::size_t>(got) < room ? static_cast<std::size_t>(got) : room);
  }
  return got;
}

// The same for memory in several parts.
ssize_t received(const LibcCall& call, const iovec* parts, std::size_t count, ssize_t size) {
  if (!call.is_checked() || size < 0) return size;
  receiving(call);
  auto left = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < count && left > 0; ++i) {
    const std::size_t here = left < parts[i].iov_len ? left : parts[i].iov_len;
    call.writes(parts[i].iov_base, here);
    left -= here;
  }
  return size;
}

void send_parts(const LibcCall& call, const iovec* parts, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) call.reads(parts[i].iov_base, parts[i].iov_len);
  sending(call);
}
std::size_t as_size(int count) { return static_cast<std::size_t>(count < 0 ? 0 : count); }

char* read_line(const LibcCall& call, char* line) {
  if (line != nullptr && call.is_checked()) call.writes(line, __builtin_strlen(line) + 1);
  return line;
}

template <class T>
int filled(const LibcCall& call, int result, T* object) {
  if (result == 0) call.writes_object(object);
  return result;
}

}  // namespace

HEDDLE_LIBC(ssize_t, read, int file, void* memory, std::size_t size) {
  return received(LibcCall(HEDDLE_HERE), memory, ::read(file, memory, size), size);
}
HEDDLE_LIBC(ssize_t, __read_chk, int file, void* memory, std::size_t size, std::size_t room) {
  return received(LibcCall(HEDDLE_HERE), memory, ::__read_chk(file, memory, size, room), size);
}
HEDDLE_LIBC(ssize_t, pread, int file, void* memory, std::size_t size, off_t at) {
  return received(LibcCall(HEDDLE_HERE), memory, ::pread(file, memory, size, at), size);
}
HEDDLE_LIBC(ssize_t, pread64, int file, void* memory, std::size_t size, off_t at) {
  return received(LibcCall(HEDDLE_HERE), memory, ::pread64(file, memory, size, at), size);
}
HEDDLE_LIBC(ssize_t, readv, int file, const iovec* parts, int count) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(parts, sizeof(iovec) * as_size(count));
  return received(call, parts, as_size(count), ::readv(file, parts, count));
}
HEDDLE_LIBC(ssize_t, write, int file, const void* memory, std::size_t size) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(memory, size);
  sending(call);
  return ::write(file, memory, size);
}
HEDDLE_LIBC(ssize_t, pwrite, int file, const void* memory, std::size_t size, off_t at) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(memory, size);
  sending(call);
  return ::pwrite(file, memory, size, at);
}
HEDDLE_LIBC(ssize_t, pwrite64, int file, const void* memory, std::size_t size, off_t at) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(memory, size);
  sending(call);
  return ::pwrite64(file, memory, size, at);
}
HEDDLE_LIBC(ssize_t, writev, int file, const iovec* parts, int count) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(parts, sizeof(iovec) * as_size(count));
  send_parts(call, parts, as_size(count));
  return ::writev(file, parts, count);
}

HEDDLE_LIBC(ssize_t, recv, int socket, void* memory, std::size_t size, int flags) {
  return received(LibcCall(HEDDLE_HERE), memory, ::recv(socket, memory, size, flags), size);
}
HEDDLE_LIBC(ssize_t, __recv_chk, int socket, void* memory, std::size_t size, std::size_t room, int flags) {
  return received(LibcCall(HEDDLE_HERE), memory, ::__recv_chk(socket, memory, size, room, flags), size);
}
HEDDLE_LIBC(ssize_t, recvfrom, int socket, void* memory, std::size_t size, int flags, sockaddr* from,
            socklen_t* from_size) {
  const LibcCall call(HEDDLE_HERE);
  const socklen_t room = from_size == nullptr ? 0 : *from_size;
  const ssize_t got = received(call, memory, ::recvfrom(socket, memory, size, flags, from, from_size), size);
  if (got >= 0 && from != nullptr && from_size != nullptr) {
    call.writes(from, *from_size < room ? *from_size : room);
    call.writes_object(from_size);
  }
  return got;
}
HEDDLE_LIBC(ssize_t, send, int socket, const void* memory, std::size_t size, int flags) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(memory, size);
  sending(call);
  return ::send(socket, memory, size, flags);
}
HEDDLE_LIBC(ssize_t, sendto, int socket, const void* memory, std::size_t size, int flags, const sockaddr* to,
            socklen_t to_size) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(memory, size);
  call.reads(to, to_size);
  sending(call);
  return ::sendto(socket, memory, size, flags, to, to_size);
}

HEDDLE_LIBC(ssize_t, recvmsg, int socket, msghdr* message, int flags) {
  const LibcCall call(HEDDLE_HERE);
  const ssize_t got = ::recvmsg(socket, message, flags);
  return received(call, message->msg_iov, message->msg_iovlen, got);
}
HEDDLE_LIBC(ssize_t, sendmsg, int socket, const msghdr* message, int flags) {
  const LibcCall call(HEDDLE_HERE);
  send_parts(call, message->msg_iov, message->msg_iovlen);
  return ::sendmsg(socket, message, flags);
}

HEDDLE_LIBC(std::size_t, fread, void* memory, std::size_t size, std::size_t count, FILE* file) {
  const StreamUse use(file, HEDDLE_HERE);
  const std::size_t got = std::fread(memory, size, count, file);
  LibcCall(HEDDLE_HERE).writes(memory, size * got);
  return got;
}
HEDDLE_LIBC(std::size_t, __fread_chk, void* memory, std::size_t room, std::size_t size, std::size_t count,
            FILE* file) {
  const StreamUse use(file, HEDDLE_HERE);
  const std::size_t got = ::__fread_chk(memory, room, size, count, file);
  LibcCall(HEDDLE_HERE).writes(memory, size * got);
  return got;
}
HEDDLE_LIBC(std::size_t, fwrite, const void* memory, std::size_t size, std::size_t count, FILE* file) {
  const StreamUse use(file, HEDDLE_HERE);
  LibcCall(HEDDLE_HERE).reads(memory, size * count);
  return std::fwrite(memory, size, count, file);
}
HEDDLE_LIBC(char*, fgets, char* memory, int size, FILE* file) {
  const StreamUse use(file, HEDDLE_HERE);
  return read_line(LibcCall(HEDDLE_HERE), std::fgets(memory, size, file));
}
HEDDLE_LIBC(char*, __fgets_chk, char* memory, std::size_t room, int size, FILE* file) {
  const StreamUse use(file, HEDDLE_HERE);
  return read_line(LibcCall(HEDDLE_HERE), ::__fgets_chk(memory, room, size, file));
}
HEDDLE_LIBC(int, fputs, const char* text, FILE* file) {
  const StreamUse use(file, HEDDLE_HERE);
  LibcCall(HEDDLE_HERE).reads_text(text);
  return std::fputs(text, file);
}
HEDDLE_LIBC(int, puts, const char* text) {
  const StreamUse use(stdout, HEDDLE_HERE);
  LibcCall(HEDDLE_HERE).reads_text(text);
  return std::puts(text);
}
HEDDLE_LIBC(ssize_t, readlink, const char* path, char* memory, std::size_t size) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(path);
  return received(call, memory, ::readlink(path, memory, size), size);
}
HEDDLE_LIBC(int, stat, const char* path, struct stat* result) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(path);
  return filled(call, ::stat(path, result), result);
}
HEDDLE_LIBC(int, lstat, const char* path, struct stat* result) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(path);
  return filled(call, ::lstat(path, result), result);
}
HEDDLE_LIBC(int, fstat, int file, struct stat* result) {
  return filled(LibcCall(HEDDLE_HERE), ::fstat(file, result), result);
}

HEDDLE_LIBC(std::time_t, time, std::time_t* result) {
  LibcCall(HEDDLE_HERE).writes_object(result);
  return std::time(result);
}
HEDDLE_LIBC(int, clock_gettime, clockid_t clock, timespec* result) {
  return filled(LibcCall(HEDDLE_HERE), ::clock_gettime(clock, result), result);
}
HEDDLE_LIBC(int, gettimeofday, timeval* result, void* zone) {
  return filled(LibcCall(HEDDLE_HERE), ::gettimeofday(result, zone), result);
}
HEDDLE_LIBC(std::tm*, gmtime_r, const std::time_t* time, std::tm* result) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_object(time);
  call.writes_object(result);
  return ::gmtime_r(time, result);
}
HEDDLE_LIBC(std::tm*, localtime_r, const std::time_t* time, std::tm* result) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_object(time);
  call.writes_object(result);
  return ::localtime_r(time, result);
}
HEDDLE_LIBC(std::time_t, mktime, std::tm* time) {
  LibcCall(HEDDLE_HERE).writes_object(time);
  return std::mktime(time);
}
HEDDLE_LIBC(std::size_t, strftime, char* text, std::size_t size, const char* format, const std::tm* time) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(format);
  call.reads_object(time);
  const std::size_t length = std::strftime(text, size, format, time);
  if (length > 0) call.writes(text, length + 1);
  return length;
}

[[gnu::used]] static const void* const kAllFiles[] = {HEDDLE_LIBC_MESSAGES(HEDDLE_LIBC_ADDRESS)
                                                          HEDDLE_LIBC_FILES(HEDDLE_LIBC_ADDRESS)};

}  // namespace heddle::runtime
