#include "runtime/message.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdint>

#include "runtime/system_calls.h"

namespace heddle::runtime {

namespace {

class Line {
 public:
  void put(char c) {
    if (length_ < sizeof(text_) - 1) text_[length_++] = c;
  }
  void put(const char* text) {
    for (; *text != 0; ++text) put(*text);
  }
  void put(uint64_t number, unsigned base) {
    char digits[24];
    unsigned count = 0;
    do {
      digits[count++] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    while (count > 0) put(digits[--count]);
  }
  void print() {
    text_[length_++] = '\n';
    system_call(SYS_write, STDERR_FILENO, text_, static_cast<int64_t>(length_));
  }

 private:
  char text_[1024];
  std::size_t length_ = 0;
};

void print(const char* format, va_list arguments) {
  Line line;
  line.put("heddle: ");
  for (; *format != 0; ++format) {
    if (*format != '%') {
      line.put(*format);
      continue;
    }
    bool is_long = false;
    for (++format; *format == 'l' || *format == 'z'; ++format) is_long = true;
    switch (*format) {
      case 's': line.put(va_arg(arguments, const char*)); break;
      case 'p':
        line.put("0x");
        line.put(reinterpret_cast<uint64_t>(va_arg(arguments, void*)), 16);
        break;
      case 'x': line.put(is_long ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned), 16); break;
      case 'd': {
        const int64_t number = is_long ? va_arg(arguments, int64_t) : va_arg(arguments, int);
        if (number < 0) line.put('-');
        line.put(static_cast<uint64_t>(number < 0 ? -number : number), 10);
        break;
      }
      case 'u': line.put(is_long ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned), 10); break;
      default: line.put(*format); break;
    }
  }
  line.print();
}

}  // namespace

void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
}

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
  ::_exit(125);
}

}  // namespace heddle::runtime
