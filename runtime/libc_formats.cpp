// printf and its kin: what they write into memory, and the texts that they are given for %s.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cwchar>

#include "runtime/libc_call.h"
#include "runtime/libc_functions.h"
#include "runtime/libc_kept.h"

extern "C" {
int __vprintf_chk(int, const char*, va_list);
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vsprintf_chk(char*, int, size_t, const char*, va_list);
int __vsnprintf_chk(char*, size_t, int, size_t, const char*, va_list);
}

namespace heddle::runtime {

namespace {

// Walks over a format and the arguments that it asks for, as far as it understands them.
class Arguments {
 public:
  Arguments(const LibcCall& call, const char* format, va_list arguments) : call_(call), at_(format) {
    va_copy(rest_, arguments);
  }
  ~Arguments() { va_end(rest_); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Of %1$s and of what is no format at all, the rest is left.
  void check() {
    while ((at_ = std::strchr(at_, '%')) != nullptr) {
      ++at_;
      if (!conversion()) return;
    }
  }

 private:
  // A number that is written in the format, or an argument in its place; -1: none.
  long number() {
    if (*at_ == '*') {
      ++at_;
      return va_arg(rest_, int);
    }
    if (*at_ < '0' || *at_ > '9') return -1;
    long value = 0;
    for (; *at_ >= '0' && *at_ <= '9'; ++at_)
      if (value < INT32_MAX) value = value * 10 + (*at_ - '0');
    return value;
  }

  template <class T>
  bool skip() {
    [[maybe_unused]] const T passed = va_arg(rest_, T);
    return true;
  }

  bool conversion() {
    at_ += std::strspn(at_, "-+ #0'I");
    number();
    if (*at_ == '$') return false;
    long precision = -1;
    if (*at_ == '.') {
      ++at_;
      precision = number();
      if (precision < 0 && at_[-1] == '.') precision = 0;  // "%.s" is "%.0s"
    }
    const std::size_t length = std::strspn(at_, "hlqjztL");
    const bool is_long = length > 0 && *at_ != 'h';
    const bool is_long_double = length > 0 && *at_ == 'L';
    at_ += length;
    switch (*at_++) {
      case 'd':
      case 'i':
      case 'o':
      case 'u':
      case 'x':
      case 'X':
      case 'c': return is_long ? skip<long>() : skip<int>();
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': return is_long_double ? skip<long double>() : skip<double>();
      case 's':
        return is_long ? wide_text(va_arg(rest_, const wchar_t*), precision)
                       : text(va_arg(rest_, const char*), precision);
      case 'S': return wide_text(va_arg(rest_, const wchar_t*), precision);
      case 'C': return skip<wint_t>();
      case 'p': return skip<void*>();
      case 'm':
      case '%': return true;
      default: return false;
    }
  }

  bool text(const char* given, long precision) const {
    if (given == nullptr) return true;
    const std::size_t most = precision < 0 ? SIZE_MAX : static_cast<std::size_t>(precision);
    const std::size_t length = ::strnlen(given, most);
    call_.reads(given, length < most ? length + 1 : most);
    return true;
  }
  // The precision counts bytes that are printed: at least one for each character.
  bool wide_text(const wchar_t* given, long precision) const {
    if (given == nullptr) return true;
    const std::size_t most = precision < 0 ? SIZE_MAX : static_cast<std::size_t>(precision);
    const std::size_t length = ::wcsnlen(given, most);
    if (precision < 0) call_.reads(given, (length + 1) * sizeof(wchar_t));
    return true;
  }

  const LibcCall& call_;
  const char* at_;
  va_list rest_;
};

void check(const LibcCall& call, const char* format, va_list arguments) {
  if (!call.is_checked()) return;
  call.reads_text(format);
  Arguments(call, format, arguments).check();
}

// With the 0 behind it.
int wrote(const LibcCall& call, char* memory, std::size_t room, int length) {
  if (length < 0 || room == 0) return length;
  const auto needed = static_cast<std::size_t>(length) + 1;
  call.writes(memory, needed < room ? needed : room);
  return length;
}

}  // namespace

// `print(arguments)` in the function of this name, after looking at the arguments.
#define HEDDLE_WITH_ARGUMENTS(last, print) \
  const LibcCall call(HEDDLE_HERE);        \
  va_list arguments;                       \
  va_start(arguments, last);               \
  check(call, format, arguments);          \
  const int result = print;                \
  va_end(arguments);                       \
  return result

HEDDLE_LIBC(int, printf, const char* format, ...) {
  const StreamUse use(stdout, HEDDLE_HERE);
  HEDDLE_WITH_ARGUMENTS(format, std::vprintf(format, arguments));
}
HEDDLE_LIBC(int, fprintf, FILE* file, const char* format, ...) {
  const StreamUse use(file, HEDDLE_HERE);
  HEDDLE_WITH_ARGUMENTS(format, std::vfprintf(file, format, arguments));
}
HEDDLE_LIBC(int, dprintf, int file, const char* format, ...) {
  HEDDLE_WITH_ARGUMENTS(format, ::vdprintf(file, format, arguments));
}
HEDDLE_LIBC(int, sprintf, char* to, const char* format, ...) {
  HEDDLE_WITH_ARGUMENTS(format, wrote(call, to, SIZE_MAX, std::vsprintf(to, format, arguments)));
}
HEDDLE_LIBC(int, snprintf, char* to, std::size_t size, const char* format, ...) {
  HEDDLE_WITH_ARGUMENTS(format, wrote(call, to, size, std::vsnprintf(to, size, format, arguments)));
}
HEDDLE_LIBC(int, __printf_chk, int flag, const char* format, ...) {
  const StreamUse use(stdout, HEDDLE_HERE);
  HEDDLE_WITH_ARGUMENTS(format, ::__vprintf_chk(flag, format, arguments));
}
HEDDLE_LIBC(int, __fprintf_chk, FILE* file, int flag, const char* format, ...) {
  const StreamUse use(file, HEDDLE_HERE);
  HEDDLE_WITH_ARGUMENTS(format, ::__vfprintf_chk(file, flag, format, arguments));
}
HEDDLE_LIBC(int, __sprintf_chk, char* to, int flag, std::size_t room, const char* format, ...) {
  HEDDLE_WITH_ARGUMENTS(format, wrote(call, to, room, ::__vsprintf_chk(to, flag, room, format, arguments)));
}
HEDDLE_LIBC(int, __snprintf_chk, char* to, std::size_t size, int flag, std::size_t room, const char* format,
            ...) {
  HEDDLE_WITH_ARGUMENTS(format,
                        wrote(call, to, size, ::__vsnprintf_chk(to, size, flag, room, format, arguments)));
}

HEDDLE_LIBC(int, vprintf, const char* format, va_list arguments) {
  const StreamUse use(stdout, HEDDLE_HERE);
  check(LibcCall(HEDDLE_HERE), format, arguments);
  return std::vprintf(format, arguments);
}
HEDDLE_LIBC(int, vfprintf, FILE* file, const char* format, va_list arguments) {
  const StreamUse use(file, HEDDLE_HERE);
  check(LibcCall(HEDDLE_HERE), format, arguments);
  return std::vfprintf(file, format, arguments);
}
HEDDLE_LIBC(int, vsprintf, char* to, const char* format, va_list arguments) {
  const LibcCall call(HEDDLE_HERE);
  check(call, format, arguments);
  return wrote(call, to, SIZE_MAX, std::vsprintf(to, format, arguments));
}
HEDDLE_LIBC(int, vsnprintf, char* to, std::size_t size, const char* format, va_list arguments) {
  const LibcCall call(HEDDLE_HERE);
  check(call, format, arguments);
  return wrote(call, to, size, std::vsnprintf(to, size, format, arguments));
}
HEDDLE_LIBC(int, __vprintf_chk, int flag, const char* format, va_list arguments) {
  const StreamUse use(stdout, HEDDLE_HERE);
  check(LibcCall(HEDDLE_HERE), format, arguments);
  return ::__vprintf_chk(flag, format, arguments);
}
HEDDLE_LIBC(int, __vfprintf_chk, FILE* file, int flag, const char* format, va_list arguments) {
  const StreamUse use(file, HEDDLE_HERE);
  check(LibcCall(HEDDLE_HERE), format, arguments);
  return ::__vfprintf_chk(file, flag, format, arguments);
}
HEDDLE_LIBC(int, __vsprintf_chk, char* to, int flag, std::size_t room, const char* format,
            va_list arguments) {
  const LibcCall call(HEDDLE_HERE);
  check(call, format, arguments);
  return wrote(call, to, room, ::__vsprintf_chk(to, flag, room, format, arguments));
}
HEDDLE_LIBC(int, __vsnprintf_chk, char* to, std::size_t size, int flag, std::size_t room, const char* format,
            va_list arguments) {
  const LibcCall call(HEDDLE_HERE);
  check(call, format, arguments);
  return wrote(call, to, size, ::__vsnprintf_chk(to, size, flag, room, format, arguments));
}

[[gnu::used]] static const void* const kAllFormats[] = {HEDDLE_LIBC_FORMATS(HEDDLE_LIBC_ADDRESS)};

}  // namespace heddle::runtime
