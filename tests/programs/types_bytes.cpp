// Loops that write bytes to the elements of containers. To the compiler a byte may be a part of anything, of
// the container itself, too; a focused build knows better and checks such a loop once, before it. The
// argument says which of the wrong programs runs; none: the right ones.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "schedule.h"

using Bytes = std::vector<unsigned char>;

constexpr std::size_t kBlocks = 64;
constexpr std::size_t kBlockBytes = 4;

// Pairs of bytes change places.
[[gnu::noinline]] void exchange(std::size_t begin, std::size_t end, const Bytes& in, Bytes& out) {
  for (std::size_t block = begin; block < end; ++block) {
    out[kBlockBytes * block] = in[kBlockBytes * block + 1];
    out[kBlockBytes * block + 1] = in[kBlockBytes * block];
    out[kBlockBytes * block + 2] = in[kBlockBytes * block + 3];
    out[kBlockBytes * block + 3] = in[kBlockBytes * block + 2];
  }
}

// Each thread has its half of the blocks; one block too many is a race of two bytes with two.
void divide(std::size_t too_many) {
  Bytes in(kBlocks * kBlockBytes, 1);
  Bytes out(kBlocks * kBlockBytes);
  std::thread other([&] { schedule::at(1, [&] { exchange(kBlocks / 2, kBlocks, in, out); }); });
  std::thread third([&] { schedule::at(0, [&] { exchange(0, kBlocks / 2 + too_many, in, out); }); });
  third.join();
  other.join();
}

// What is read before the other thread writes it.
void read_late(bool is_wrong) {
  Bytes in(kBlocks * kBlockBytes, 1);
  Bytes out(kBlocks * kBlockBytes);
  Bytes last(kBlocks * kBlockBytes);
  std::thread other([&] { schedule::at(3, [&] { exchange(0, kBlocks, out, last); }); });
  std::thread third([&] {
    schedule::at(2, [&] { exchange(is_wrong ? kBlocks - 1 : 0, is_wrong ? kBlocks : 0, in, out); });
  });
  third.join();
  other.join();
}

// A pointer that does change from round to round, and not by a byte that is an element.
struct Pages {
  const unsigned char* now;
  const unsigned char* next;
};

[[gnu::noinline]] void copy(Pages& pages, Bytes& out) {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    out[i] = pages.now[i];
    pages.now = pages.next;
  }
}

// The addresses of the pages differ in one byte.
constexpr std::size_t kPageBytes = 256;
constexpr std::size_t kPageByte = 1;

[[gnu::noinline]] void copy_by_bytes(Pages& pages, unsigned char* page_byte, Bytes& out) {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    out[i] = pages.now[i];
    *page_byte = 1;
  }
}

// All but the first byte come from the second page.
void turn(bool is_wrong, bool is_by_bytes) {
  alignas(65536) static unsigned char memory[2 * kPageBytes];
  unsigned char* const second = memory + kPageBytes;
  Pages pages{memory, second};
  auto* const page_byte = reinterpret_cast<unsigned char*>(&pages.now) + kPageByte;  // 0 of the first page
  Bytes out(kBlocks);
  const int begin = is_by_bytes ? 6 : 4;
  std::thread other([&] { schedule::at(begin + 1, [&] { (is_wrong ? second : memory)[kBlocks / 2] = 2; }); });
  std::thread third([&] {
    schedule::at(begin, [&] {
      if (is_by_bytes) {
        copy_by_bytes(pages, page_byte, out);
      } else {
        copy(pages, out);
      }
    });
  });
  third.join();
  other.join();
}

// The same, by the library: what a round writes makes the vector move.
[[gnu::noinline]] void append(Bytes& text) {
  for (unsigned char i = 0; i < kBlocks; ++i) {
    text[i] = i;
    text.push_back(i);
  }
}

void grow(bool is_wrong) {
  Bytes text(1);
  Bytes other_text(1);
  std::thread other([&] { schedule::at(9, [&] { (is_wrong ? text : other_text)[0] = 2; }); });
  std::thread third([&] { schedule::at(8, [&] { append(text); }); });
  third.join();
  other.join();
}

int main(int argc, char** argv) {
  const std::string wrong = argc > 1 ? argv[1] : "";
  divide(wrong == "divide" ? 1 : 0);
  read_late(wrong == "read_late");
  turn(wrong == "turn", false);
  turn(wrong == "bytes", true);
  grow(wrong == "grow");
}
