// Strings and blocks of memory.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <strings.h>

#include "runtime/libc_call.h"
#include "runtime/libc_functions.h"

extern "C" {
void* __memcpy_chk(void*, const void*, size_t, size_t);
void* __memmove_chk(void*, const void*, size_t, size_t);
void* __mempcpy_chk(void*, const void*, size_t, size_t);
void* __memset_chk(void*, int, size_t, size_t);
char* __strcpy_chk(char*, const char*, size_t);
char* __stpcpy_chk(char*, const char*, size_t);
char* __strncpy_chk(char*, const char*, size_t, size_t);
char* __strcat_chk(char*, const char*, size_t);
char* __strncat_chk(char*, const char*, size_t, size_t);
}

namespace heddle::runtime {

namespace {

int as_it_is(int c) { return c; }
int in_lower_case(int c) { return std::tolower(static_cast<unsigned char>(c)); }

// Reads two texts up to the first difference, their ends, or `most`.
void reads_both(const LibcCall& call, const char* a, const char* b, std::size_t most, int (*fold)(int)) {
  if (!call.is_checked()) return;
  std::size_t size = 0;
  while (size < most) {
    const int first = fold(a[size]);
    const int second = fold(b[size]);
    ++size;
    if (first != second || first == 0) break;
  }
  call.reads(a, size);
  call.reads(b, size);
}

// At most so many bytes, or up to the 0.
void reads_text(const LibcCall& call, const char* text, std::size_t most) {
  if (!call.is_checked()) return;
  const std::size_t length = ::strnlen(text, most);
  call.reads(text, length < most ? length + 1 : most);
}

// Up to what was found there, or to the end.
void searches(const LibcCall& call, const char* text, const char* found) {
  if (!call.is_checked()) return;
  call.reads(text, found != nullptr ? static_cast<std::size_t>(found - text) + 1 : std::strlen(text) + 1);
}

void copies(const LibcCall& call, void* to, const void* from, std::size_t size) {
  call.reads(from, size);
  call.writes(to, size);
}
void copies_text(const LibcCall& call, char* to, const char* from) {
  if (call.is_checked()) copies(call, to, from, std::strlen(from) + 1);
}
// What is left of `size` is filled with 0.
void copies_text(const LibcCall& call, char* to, const char* from, std::size_t size) {
  reads_text(call, from, size);
  call.writes(to, size);
}
void appends_text(const LibcCall& call, char* to, const char* from, std::size_t most) {
  if (!call.is_checked()) return;
  const std::size_t before = std::strlen(to);
  reads_text(call, from, most);
  call.reads(to, before + 1);
  call.writes(to + before, ::strnlen(from, most) + 1);
}

// A number in words: up to the first byte that is none of it.
template <class Parse>
auto parses(const LibcCall& call, const char* text, char** end, Parse parse) {
  char* behind = nullptr;
  const auto result = parse(&behind);
  if (end != nullptr) *end = behind;
  if (call.is_checked()) {
    call.reads(text, static_cast<std::size_t>(behind - text) + 1);
    call.writes_object(end);
  }
  return result;
}

}  // namespace

HEDDLE_LIBC(std::size_t, strlen, const char* text) {
  const std::size_t length = std::strlen(text);
  LibcCall(HEDDLE_HERE).reads(text, length + 1);
  return length;
}
HEDDLE_LIBC(std::size_t, strnlen, const char* text, std::size_t most) {
  reads_text(LibcCall(HEDDLE_HERE), text, most);
  return ::strnlen(text, most);
}
HEDDLE_LIBC(int, strcmp, const char* a, const char* b) {
  reads_both(LibcCall(HEDDLE_HERE), a, b, SIZE_MAX, as_it_is);
  return std::strcmp(a, b);
}
HEDDLE_LIBC(int, strncmp, const char* a, const char* b, std::size_t most) {
  reads_both(LibcCall(HEDDLE_HERE), a, b, most, as_it_is);
  return std::strncmp(a, b, most);
}
HEDDLE_LIBC(int, strcasecmp, const char* a, const char* b) {
  reads_both(LibcCall(HEDDLE_HERE), a, b, SIZE_MAX, in_lower_case);
  return ::strcasecmp(a, b);
}
HEDDLE_LIBC(int, strncasecmp, const char* a, const char* b, std::size_t most) {
  reads_both(LibcCall(HEDDLE_HERE), a, b, most, in_lower_case);
  return ::strncasecmp(a, b, most);
}
HEDDLE_LIBC(int, strcoll, const char* a, const char* b) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(a);
  call.reads_text(b);
  return std::strcoll(a, b);
}
// The standard lets them read all of both.
HEDDLE_LIBC(int, memcmp, const void* a, const void* b, std::size_t size) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(a, size);
  call.reads(b, size);
  return std::memcmp(a, b, size);
}
HEDDLE_LIBC(int, bcmp, const void* a, const void* b, std::size_t size) {
  const LibcCall call(HEDDLE_HERE);
  call.reads(a, size);
  call.reads(b, size);
  return std::memcmp(a, b, size);
}
HEDDLE_LIBC(void*, memchr, const void* memory, int byte, std::size_t size) {
  const void* const found = std::memchr(memory, byte, size);
  const auto length = static_cast<const char*>(found) - static_cast<const char*>(memory);
  LibcCall(HEDDLE_HERE).reads(memory, found == nullptr ? size : static_cast<std::size_t>(length) + 1);
  return const_cast<void*>(found);
}
HEDDLE_LIBC(void*, memrchr, const void* memory, int byte, std::size_t size) {
  const void* const found = ::memrchr(memory, byte, size);
  const auto before = static_cast<const char*>(found) - static_cast<const char*>(memory);
  const std::size_t unread = found == nullptr ? 0 : static_cast<std::size_t>(before);
  LibcCall(HEDDLE_HERE).reads(static_cast<const char*>(memory) + unread, size - unread);
  return const_cast<void*>(found);
}
HEDDLE_LIBC(void*, memmem, const void* memory, std::size_t size, const void* wanted, std::size_t length) {
  const void* const found = ::memmem(memory, size, wanted, length);
  const auto before = static_cast<const char*>(found) - static_cast<const char*>(memory);
  const LibcCall call(HEDDLE_HERE);
  call.reads(wanted, length);
  call.reads(memory, found == nullptr ? size : static_cast<std::size_t>(before) + length);
  return const_cast<void*>(found);
}
HEDDLE_LIBC(char*, strchr, const char* text, int c) {
  const char* const found = std::strchr(text, c);
  searches(LibcCall(HEDDLE_HERE), text, found);
  return const_cast<char*>(found);
}
HEDDLE_LIBC(char*, strrchr, const char* text, int c) {
  LibcCall(HEDDLE_HERE).reads_text(text);
  return const_cast<char*>(std::strrchr(text, c));
}
HEDDLE_LIBC(char*, strchrnul, const char* text, int c) {
  const char* const found = ::strchrnul(text, c);
  searches(LibcCall(HEDDLE_HERE), text, found);
  return const_cast<char*>(found);
}
HEDDLE_LIBC(char*, strstr, const char* text, const char* wanted) {
  const LibcCall call(HEDDLE_HERE);
  const char* const found = std::strstr(text, wanted);
  call.reads_text(wanted);
  searches(call, text, found == nullptr || *wanted == 0 ? found : found + std::strlen(wanted) - 1);
  return const_cast<char*>(found);
}
HEDDLE_LIBC(char*, strcasestr, const char* text, const char* wanted) {
  const LibcCall call(HEDDLE_HERE);
  const char* const found = ::strcasestr(text, wanted);
  call.reads_text(wanted);
  searches(call, text, found == nullptr || *wanted == 0 ? found : found + std::strlen(wanted) - 1);
  return const_cast<char*>(found);
}
HEDDLE_LIBC(char*, strpbrk, const char* text, const char* wanted) {
  const LibcCall call(HEDDLE_HERE);
  const char* const found = std::strpbrk(text, wanted);
  call.reads_text(wanted);
  searches(call, text, found);
  return const_cast<char*>(found);
}
HEDDLE_LIBC(std::size_t, strspn, const char* text, const char* wanted) {
  const LibcCall call(HEDDLE_HERE);
  const std::size_t length = std::strspn(text, wanted);
  call.reads_text(wanted);
  call.reads(text, length + 1);
  return length;
}
HEDDLE_LIBC(std::size_t, strcspn, const char* text, const char* wanted) {
  const LibcCall call(HEDDLE_HERE);
  const std::size_t length = std::strcspn(text, wanted);
  call.reads_text(wanted);
  call.reads(text, length + 1);
  return length;
}

HEDDLE_LIBC(char*, strcpy, char* to, const char* from) {
  copies_text(LibcCall(HEDDLE_HERE), to, from);
  return std::strcpy(to, from);
}
HEDDLE_LIBC(char*, stpcpy, char* to, const char* from) {
  copies_text(LibcCall(HEDDLE_HERE), to, from);
  return ::stpcpy(to, from);
}
HEDDLE_LIBC(char*, strncpy, char* to, const char* from, std::size_t size) {
  copies_text(LibcCall(HEDDLE_HERE), to, from, size);
  return std::strncpy(to, from, size);
}
HEDDLE_LIBC(char*, stpncpy, char* to, const char* from, std::size_t size) {
  copies_text(LibcCall(HEDDLE_HERE), to, from, size);
  return ::stpncpy(to, from, size);
}
HEDDLE_LIBC(char*, strcat, char* to, const char* from) {
  appends_text(LibcCall(HEDDLE_HERE), to, from, SIZE_MAX);
  return std::strcat(to, from);
}
HEDDLE_LIBC(char*, strncat, char* to, const char* from, std::size_t most) {
  appends_text(LibcCall(HEDDLE_HERE), to, from, most);
  return std::strncat(to, from, most);
}
HEDDLE_LIBC(char*, strdup, const char* text) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_text(text);
  char* const copy = ::strdup(text);
  if (follows_data && copy != nullptr) call.writes(copy, std::strlen(copy) + 1);
  return copy;
}
HEDDLE_LIBC(char*, strndup, const char* text, std::size_t most) {
  const LibcCall call(HEDDLE_HERE);
  reads_text(call, text, most);
  char* const copy = ::strndup(text, most);
  if (follows_data && copy != nullptr) call.writes(copy, std::strlen(copy) + 1);
  return copy;
}
HEDDLE_LIBC(void*, mempcpy, void* to, const void* from, std::size_t size) {
  copies(LibcCall(HEDDLE_HERE), to, from, size);
  return ::mempcpy(to, from, size);
}

// What the headers make of the ones above and of memcpy and kin with _FORTIFY_SOURCE.
HEDDLE_LIBC(void*, __memcpy_chk, void* to, const void* from, std::size_t size, std::size_t room) {
  copies(LibcCall(HEDDLE_HERE), to, from, size);
  return ::__memcpy_chk(to, from, size, room);
}
HEDDLE_LIBC(void*, __memmove_chk, void* to, const void* from, std::size_t size, std::size_t room) {
  copies(LibcCall(HEDDLE_HERE), to, from, size);
  return ::__memmove_chk(to, from, size, room);
}
HEDDLE_LIBC(void*, __mempcpy_chk, void* to, const void* from, std::size_t size, std::size_t room) {
  copies(LibcCall(HEDDLE_HERE), to, from, size);
  return ::__mempcpy_chk(to, from, size, room);
}
HEDDLE_LIBC(void*, __memset_chk, void* to, int value, std::size_t size, std::size_t room) {
  LibcCall(HEDDLE_HERE).writes(to, size);
  return ::__memset_chk(to, value, size, room);
}
HEDDLE_LIBC(char*, __strcpy_chk, char* to, const char* from, std::size_t room) {
  copies_text(LibcCall(HEDDLE_HERE), to, from);
  return ::__strcpy_chk(to, from, room);
}
HEDDLE_LIBC(char*, __stpcpy_chk, char* to, const char* from, std::size_t room) {
  copies_text(LibcCall(HEDDLE_HERE), to, from);
  return ::__stpcpy_chk(to, from, room);
}
HEDDLE_LIBC(char*, __strncpy_chk, char* to, const char* from, std::size_t size, std::size_t room) {
  copies_text(LibcCall(HEDDLE_HERE), to, from, size);
  return ::__strncpy_chk(to, from, size, room);
}
HEDDLE_LIBC(char*, __strcat_chk, char* to, const char* from, std::size_t room) {
  appends_text(LibcCall(HEDDLE_HERE), to, from, SIZE_MAX);
  return ::__strcat_chk(to, from, room);
}
HEDDLE_LIBC(char*, __strncat_chk, char* to, const char* from, std::size_t most, std::size_t room) {
  appends_text(LibcCall(HEDDLE_HERE), to, from, most);
  return ::__strncat_chk(to, from, most, room);
}

#define HEDDLE_LIBC_INTEGER(result, name)                                        \
  HEDDLE_LIBC(result, name, const char* text, char** end, int base) {            \
    return parses(LibcCall(HEDDLE_HERE), text, end,                              \
                  [&](char** behind) { return std::name(text, behind, base); }); \
  }
HEDDLE_LIBC_INTEGER(long, strtol)
HEDDLE_LIBC_INTEGER(long long, strtoll)
HEDDLE_LIBC_INTEGER(unsigned long, strtoul)
HEDDLE_LIBC_INTEGER(unsigned long long, strtoull)
HEDDLE_LIBC(double, strtod, const char* text, char** end) {
  return parses(LibcCall(HEDDLE_HERE), text, end, [&](char** behind) { return std::strtod(text, behind); });
}
HEDDLE_LIBC(float, strtof, const char* text, char** end) {
  return parses(LibcCall(HEDDLE_HERE), text, end, [&](char** behind) { return std::strtof(text, behind); });
}
HEDDLE_LIBC(int, atoi, const char* text) {
  return parses(LibcCall(HEDDLE_HERE), text, nullptr,
                [&](char** behind) { return static_cast<int>(std::strtol(text, behind, 10)); });
}
HEDDLE_LIBC(long, atol, const char* text) {
  return parses(LibcCall(HEDDLE_HERE), text, nullptr,
                [&](char** behind) { return std::strtol(text, behind, 10); });
}
HEDDLE_LIBC(long long, atoll, const char* text) {
  return parses(LibcCall(HEDDLE_HERE), text, nullptr,
                [&](char** behind) { return std::strtoll(text, behind, 10); });
}
HEDDLE_LIBC(double, atof, const char* text) {
  return parses(LibcCall(HEDDLE_HERE), text, nullptr,
                [&](char** behind) { return std::strtod(text, behind); });
}

HEDDLE_LIBC(void, qsort, void* array, std::size_t count, std::size_t size,
            int (*compare)(const void*, const void*)) {
  const LibcCall call(HEDDLE_HERE);
  if (follows_data) call.reads(array, count * size);
  call.writes(array, count * size);
  std::qsort(array, count, size, compare);
}

[[gnu::used]] static const void* const kAllStrings[] = {HEDDLE_LIBC_STRINGS(HEDDLE_LIBC_ADDRESS)};

}  // namespace heddle::runtime
