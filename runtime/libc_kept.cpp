// strtok, the environment and buffers of streams, for code that tells its data flow.
#include "runtime/libc_kept.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "runtime/flow.h"
#include "runtime/flow_labels.h"
#include "runtime/flow_thread.h"
#include "runtime/growing_array.h"
#include "runtime/libc_call.h"
#include "runtime/libc_functions.h"
#include "runtime/spin_lock.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

// What such functions keep themselves; reports call it by these names.
extern "C" {
__attribute__((visibility("hidden"))) char* strtok_place = nullptr;
__attribute__((visibility("hidden"))) uint64_t environment_variables = 0;
}

namespace heddle::runtime {

namespace {

struct StreamBuffer {
  FILE* stream;
  const char* begin;
  std::size_t size;
};
constinit SpinLock buffers_lock;
constinit GrowingArray<StreamBuffer> buffers;
std::atomic<uint32_t> buffer_count = 0;

void keep_buffer(FILE* stream, const void* begin, std::size_t size) {
  const Locked locked(buffers_lock);
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].stream == stream) {
      buffers.remove(i);
      break;
    }
  if (begin != nullptr && size > 0) buffers.add() = {stream, static_cast<const char*>(begin), size};
  buffer_count.store(buffers.size(), std::memory_order_relaxed);
}

StreamBuffer buffer_of(FILE* stream) {
  if (buffer_count.load(std::memory_order_relaxed) == 0) return {};
  const Locked locked(buffers_lock);
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].stream == stream) return buffers[i];
  return {};
}

void touch_buffer(FILE* stream, const void* pc) {
  const StreamBuffer buffer = buffer_of(stream);
  Thread* const thread = buffer.stream == nullptr ? nullptr : telling_thread();
  if (thread == nullptr) return;
  const int error = errno;
  const uint32_t label = joined_now({flow_thread.library_label}, pc);
  renew(label);
  for_each_word(reinterpret_cast<uint64_t>(buffer.begin), buffer.size, [&](uint64_t at, uint32_t size) {
    const void* const here = reinterpret_cast<const void*>(at);
    forget_reads(here, size);
    tell(*thread, {.operation = static_cast<uint8_t>(Operation::kTouch),
                   .address = here,
                   .pc = pc,
                   .size = static_cast<uint8_t>(size),
                   .extra = label << kOrderBits});
  });
  flow_thread.library_label = label;
  errno = error;
}

// The name of a variable, up to and with the = or the 0 behind it.
std::size_t name_size(const char* variable) { return ::strcspn(variable, "=") + 1; }

// The variables that are looked at until one has this name. Those that putenv() was given are memory of the
// program's.
void looks_for(const LibcCall& call, const char* name) {
  if (!call.is_checked()) return;
  call.reads_text(name);
  call.reads_object(&environment_variables);
  const std::size_t size = ::strlen(name);
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    call.reads(*at, name_size(*at));
    if (::strncmp(*at, name, size) == 0 && (*at)[size] == '=') return;
  }
}

}  // namespace

StreamUse::StreamUse(FILE* stream, const void* pc) : stream_(stream), pc_(pc) { touch_buffer(stream, pc); }
StreamUse::~StreamUse() { touch_buffer(stream_, pc_); }

// For everybody, so that the place is one whoever asks: that of the C library nobody can look at.
HEDDLE_INTERPOSE char* strtok(char* text, const char* separators) {
  return ::strtok_r(text, separators, &strtok_place);
}

HEDDLE_LIBC(char*, strtok, char* text, const char* separators) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(separators);
  if (text == nullptr) call.reads_object(&strtok_place);
  char* const begin = text != nullptr ? text : strtok_place;
  const std::size_t size = begin == nullptr ? 0 : ::strlen(begin);
  char* const found = ::strtok_r(text, separators, &strtok_place);
  if (begin != nullptr) {
    // Where the token ends, or the text.
    const char* const end = found == nullptr ? begin + size : found + ::strlen(found);
    call.reads(begin, static_cast<std::size_t>(end - begin) + 1);
    if (found != nullptr && end < begin + size) call.writes(end, 1);
  }
  call.writes_object(&strtok_place);
  return found;
}

HEDDLE_LIBC(char*, getenv, const char* name) {
  looks_for(LibcCall(HEDDLE_HERE), name);
  return ::getenv(name);
}
HEDDLE_LIBC(char*, secure_getenv, const char* name) {
  looks_for(LibcCall(HEDDLE_HERE), name);
  return ::secure_getenv(name);
}
HEDDLE_LIBC(int, putenv, char* variable) {
  const LibcCall call(HEDDLE_HERE);
  if (call.is_checked()) call.reads(variable, name_size(variable));
  call.reads_object(&environment_variables);
  call.writes_object(&environment_variables);
  return ::putenv(variable);
}
HEDDLE_LIBC(int, setenv, const char* name, const char* value, int replaces) {
  const LibcCall call(HEDDLE_HERE);
  looks_for(call, name);
  call.reads_text(value);
  call.writes_object(&environment_variables);
  return ::setenv(name, value, replaces);
}
HEDDLE_LIBC(int, unsetenv, const char* name) {
  const LibcCall call(HEDDLE_HERE);
  looks_for(call, name);
  call.writes_object(&environment_variables);
  return ::unsetenv(name);
}
HEDDLE_LIBC(int, clearenv) {
  LibcCall(HEDDLE_HERE).writes_object(&environment_variables);
  return ::clearenv();
}

HEDDLE_LIBC(int, setvbuf, FILE* stream, char* buffer, int mode, std::size_t size) {
  const StreamUse use(stream, HEDDLE_HERE);
  const int result = std::setvbuf(stream, buffer, mode, size);
  if (result == 0) keep_buffer(stream, mode == _IONBF ? nullptr : buffer, size);
  return result;
}
HEDDLE_LIBC(void, setbuf, FILE* stream, char* buffer) {
  const StreamUse use(stream, HEDDLE_HERE);
  std::setbuf(stream, buffer);  // NOLINT(bugprone-unsafe-functions): it is what the program called
  keep_buffer(stream, buffer, BUFSIZ);
}
HEDDLE_LIBC(void, setbuffer, FILE* stream, char* buffer, std::size_t size) {
  const StreamUse use(stream, HEDDLE_HERE);
  ::setbuffer(stream, buffer, size);
  keep_buffer(stream, buffer, size);
}

HEDDLE_LIBC(int, fputc, int byte, FILE* stream) {
  const StreamUse use(stream, HEDDLE_HERE);
  return std::fputc(byte, stream);
}
HEDDLE_LIBC(int, putc, int byte, FILE* stream) {
  const StreamUse use(stream, HEDDLE_HERE);
  return std::fputc(byte, stream);
}
HEDDLE_LIBC(int, putchar, int byte) {
  const StreamUse use(stdout, HEDDLE_HERE);
  return std::putchar(byte);
}
HEDDLE_LIBC(int, fgetc, FILE* stream) {
  const StreamUse use(stream, HEDDLE_HERE);
  return std::fgetc(stream);
}
HEDDLE_LIBC(int, getc, FILE* stream) {
  const StreamUse use(stream, HEDDLE_HERE);
  return std::fgetc(stream);
}
HEDDLE_LIBC(int, getchar) {
  const StreamUse use(stdin, HEDDLE_HERE);
  return std::getchar();
}
HEDDLE_LIBC(int, ungetc, int byte, FILE* stream) {
  const StreamUse use(stream, HEDDLE_HERE);
  return std::ungetc(byte, stream);
}
HEDDLE_LIBC(int, fflush, FILE* stream) {
  if (stream != nullptr) {
    const StreamUse use(stream, HEDDLE_HERE);
    return std::fflush(stream);
  }
  return std::fflush(stream);
}
HEDDLE_LIBC(int, fclose, FILE* stream) {
  touch_buffer(stream, HEDDLE_HERE);
  const int result = std::fclose(stream);
  keep_buffer(stream, nullptr, 0);
  return result;
}

[[gnu::used]] static const void* const kAllKeeping[] = {HEDDLE_LIBC_KEEPING(HEDDLE_LIBC_ADDRESS)};

}  // namespace heddle::runtime
