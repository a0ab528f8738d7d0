// What the runtime says on stderr, without stdio: the program may be inside it.
#pragma once

namespace heddle::runtime {

// "heddle: …" on a line of its own. Knows %s %d %u %zu %lx %p.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
// The same, and ends the program with exit code 125.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace heddle::runtime
