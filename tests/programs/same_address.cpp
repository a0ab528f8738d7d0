// Loops that read the same memory in every round, because they write bytes, which to the compiler may be a
// part of it. Such a read is checked once, before the loop, if whoever comes to the loop comes to the read as
// well. The first argument names the loop; with a second one, another thread has written what the loop reads,
// and nothing orders the two: a race, if there is a round that reads it.
#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>

#include "schedule.h"

struct Header {
  unsigned char* bytes;
  std::size_t count;
  unsigned char value;
};

namespace {

unsigned char memory[64];
Header header{memory, 16, 7};
std::atomic<bool> is_written = false;

}  // namespace

[[gnu::noinline]] void fill(Header& of) {
  std::size_t i = 0;
  do of.bytes[i] = 1;
  while (++i < of.count);
}

// No round at all, if there are none.
[[gnu::noinline]] void fill_some(Header& of, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) of.bytes[i] = 1;
}

// Leaves the loop in front of the read, if the first byte says so.
[[gnu::noinline]] void fill_until(unsigned char* bytes, const Header& of, unsigned char end) {
  for (std::size_t i = 0; bytes[i] != end; ++i) bytes[i] = of.value;
}

// Comes to the loop inside in some rounds only.
[[gnu::noinline]] void fill_twice(unsigned char* bytes, const Header& of, std::size_t count, bool inside) {
  for (std::size_t i = 0; i < count; ++i)
    if (inside)
      for (std::size_t j = 0; j < count; ++j) bytes[count * i + j] = of.value;
    else
      bytes[count * i] = 2;
}

// Learns in each round what others did before.
[[gnu::noinline]] void fill_told(unsigned char* bytes, const Header& of, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    is_written.load(std::memory_order_acquire);
    bytes[i] = of.value;
  }
}

int main(int argc, char** argv) {
  const bool writes = argc > 2;
  memory[8] = 9;
  const auto use = [&](const char* loop) {
    const auto is = [&](const char* name) { return std::strcmp(loop, name) == 0; };
    if (is("fill")) fill(header);
    if (is("some")) fill_some(header, 8);
    if (is("none")) fill_some(header, 0);
    if (is("until")) fill_until(memory, header, 9);
    if (is("left")) fill_until(memory, header, 0);
    if (is("inside")) fill_twice(memory, header, 4, true);
    if (is("beside")) fill_twice(memory, header, 4, false);
    if (is("told")) fill_told(memory, header, 4);
  };
  std::thread other([&] {
    schedule::at(0, [&] {
      if (!writes) return;
      Header* volatile of = &header;
      of->bytes = memory;
      of->count = 16;
      of->value = 9;
      is_written.store(true, std::memory_order_release);
    });
  });
  std::thread user([&] { schedule::at(1, [&] { use(argc > 1 ? argv[1] : ""); }); });
  other.join();
  user.join();
}
