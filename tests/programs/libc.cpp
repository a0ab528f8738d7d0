// Functions of the C library that read or write memory of the program: one thread calls the function, another
// one writes the last byte that the function touches, or the one behind it. `libc MODE` does so with all of
// them, one after the other.
#include <fcntl.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

#include "schedule.h"

// Not static: the compiler must not know what they hold.
alignas(8) char text[64];
alignas(8) char other[64];
alignas(8) char digits[64];
alignas(8) int numbers[8];
struct {
  timespec time;
  char behind;
} clock_result;
int zero;     // /dev/zero
int null;     // /dev/null
int ends[2];  // sockets
FILE* zero_file;
FILE* null_file;
FILE* line_file;
iovec part;

namespace {

template <class T>
void keep(T value) {
  asm volatile("" : : "r"(value) : "memory");
}

void set_up() {
  std::memset(text, 'x', sizeof(text));
  std::memset(other, 'x', sizeof(other));
  std::memcpy(text, "hello", 6);
  std::memcpy(other, "hello", 6);
  std::memcpy(digits, "123 apples", 11);
  for (int i = 0; i < 8; ++i) numbers[i] = 8 - i;
  std::rewind(line_file);
  part = {text, 7};
}

struct Case {
  void (*call)();
  char* last;  // byte that the call touches
};

int compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

#define CASE(last, ...) {[] { __VA_ARGS__; }, reinterpret_cast<char*>(last)}
#define VALUE(last, ...) CASE(last, keep(__VA_ARGS__))

// clang-format off
const Case kCases[] = {
    VALUE(text + 5, std::strlen(text)),
    VALUE(text + 2, strnlen(text, 3)),
    VALUE(text + 5, std::strcmp(text, other)),
    VALUE(other + 5, std::strcmp(text, other)),
    VALUE(text + 3, std::strcmp(text, "help")),
    VALUE(other + 1, std::strncmp(text, other, 2)),
    VALUE(text + 5, strcasecmp(text, "HELLO")),
    VALUE(text + 1, strncasecmp(text, "HA", 5)),
    VALUE(other + 19, std::memcmp(text, other, 20)),
    VALUE(other + 19, std::memcmp(text, other, 20) == 0),
    VALUE(text + 2, std::memchr(text, 'l', 20)),
    VALUE(text + 19, std::memchr(text, 'q', 20)),
    VALUE(text + 19, memrchr(text, 'l', 20)),
    VALUE(text + 2, std::strchr(text, 'l')),
    VALUE(text + 5, std::strchr(text, 'q')),
    VALUE(text + 5, std::strrchr(text, 'l')),
    VALUE(text + 3, std::strstr(text, "ll")),
    VALUE(text + 2, std::strpbrk(text, "ml")),
    VALUE(text + 4, std::strspn(text, "hel")),
    VALUE(text + 4, std::strcspn(text, "o")),
    CASE(text + 5, std::strcpy(other, text)),
    CASE(other + 5, std::strcpy(other, text)),
    VALUE(other + 5, stpcpy(other, text)),
    CASE(other + 9, std::strncpy(other, text, 10)),
    CASE(text + 5, std::strncpy(other, text, 10)),
    CASE(other + 10, std::strcat(other, text)),
    CASE(text + 1, std::strncat(other, text, 2)),
    CASE(other + 7, std::strncat(other, text, 2)),
    CASE(text + 5, char* copy = strdup(text); keep(copy); std::free(copy)),
    VALUE(digits + 3, std::strtol(digits, nullptr, 10)),
    VALUE(digits + 3, std::strtoul(digits, nullptr, 10)),
    VALUE(digits + 3, std::atoi(digits)),
    CASE(digits + 3, if (std::strtod(digits, nullptr) != 123) std::abort()),
    CASE(reinterpret_cast<char*>(numbers + 5) - 1, std::qsort(numbers, 5, sizeof(int), compare)),

    VALUE(text + 6, read(zero, text, 7)),
    VALUE(text + 6, pread(zero, text, 7, 0)),
    VALUE(text + 6, readv(zero, &part, 1)),
    VALUE(text + 6, write(null, text, 7)),
    VALUE(text + 6, pwrite(null, text, 7, 0)),
    VALUE(text + 6, writev(null, &part, 1)),
    VALUE(text + 6, send(ends[0], text, 7, 0)),
    VALUE(text + 6, recv(ends[1], text, 60, 0)),
    VALUE(text + 11, std::fread(text, 4, 3, zero_file)),
    VALUE(text + 11, std::fwrite(text, 4, 3, null_file)),
    VALUE(text + 5, std::fgets(text, 60, line_file)),
    VALUE(text + 5, std::fputs(text, null_file)),
    VALUE(text + 5, std::puts(text)),
    CASE(&clock_result.behind - 1, clock_gettime(CLOCK_MONOTONIC, &clock_result.time)),

    CASE(text + 5, std::printf("%d %s\n", 1, text)),
    CASE(text + 2, std::printf("%-5d%.3s|\n", 1, text)),
    CASE(text + 2, std::fprintf(null_file, "%5.1f %Lf %*d %lx %.*s", 1.5, 2.5L, 4, 1, 2L, 3, text)),
    CASE(text + 5, std::sprintf(other, "%d%s", 12, text)),
    CASE(other + 7, std::sprintf(other, "%d%s", 12, text)),
    CASE(other + 7, std::snprintf(other, 50, "%d%s", 12, text)),
    CASE(other + 3, std::snprintf(other, 4, "%d%s", 12, text)),
};
// clang-format on

std::mutex mutex;

void touch(char* byte) { *const_cast<volatile char*>(byte) = *byte; }

struct Mode {
  const char* name;
  int behind;     // the byte touched, from the last of the call
  bool is_first;  // the other thread
  bool is_locked;
};
constexpr std::array<Mode, 4> kModes = {{{"before", 0, true, false},
                                         {"after", 0, false, false},
                                         {"behind", 1, true, false},
                                         {"locked", 0, true, true}}};

void run(const Case& what, const Mode& mode) {
  set_up();
  schedule::turn = 0;
  const auto guarded = [&](auto body) {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (mode.is_locked) lock.lock();
    body();
  };
  std::thread toucher([&] {
    schedule::at(mode.is_first ? 0 : 1, [&] { guarded([&] { touch(what.last + mode.behind); }); });
  });
  std::thread caller([&] { schedule::at(mode.is_first ? 1 : 0, [&] { guarded(what.call); }); });
  toucher.join();
  caller.join();
}

}  // namespace

int main(int count, char** arguments) {
  zero = open("/dev/zero", O_RDWR);
  null = open("/dev/null", O_RDWR);
  zero_file = std::fopen("/dev/zero", "r");
  null_file = std::fopen("/dev/null", "w");
  line_file = std::tmpfile();
  if (zero < 0 || null < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || line_file == nullptr)
    return 3;
  std::fputs("line\nnext\n", line_file);
  for (const Mode& mode : kModes)
    if (count > 1 && std::strcmp(arguments[1], mode.name) == 0)
      for (const Case& what : kCases) run(what, mode);
}
