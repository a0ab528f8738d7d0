// Loops inside of loops, each a case of its own: they are told as one (runtime/series.h), or step by step,
// which must be the same. Without an argument it names the cases. With an array and a number behind the case,
// another thread writes that element meanwhile: a data race, if the case uses it.
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr long kRows = 40;
constexpr long kEntries = 200;

}  // namespace

// For all to see, so that no write is superfluous.
long begin[kRows + 1];
long column[kEntries];
double value[kEntries];
double in[kRows];
double out[kRows];
uint8_t bytes[64];
uint8_t mixed[64];
uint16_t key[8];
long far[4096];
long order[3000];
long sum;
long matrix[6][6];

namespace {

// Where the inner loop begins and ends is data, and so is what it reads.
void sparse() {
  for (long row = 0; row < kRows; ++row) {
    double all = 0;
    for (long entry = begin[row]; entry < begin[row + 1]; ++entry) all += value[entry] * in[column[entry]];
    out[row] = all;
  }
}

// Few rounds inside, of bytes; the loop around writes what it may have to read again.
void cipher() {
  for (unsigned block = 0; block < 8; ++block) {
    unsigned a = bytes[8 * block];
    unsigned b = bytes[8 * block + 1];
    for (int round = 0; round < 8; ++round) {
      const unsigned next = a * 3 + key[round];
      a = b;
      b = next;
    }
    mixed[8 * block] = static_cast<uint8_t>(a);
    mixed[8 * block + 7] = static_cast<uint8_t>(b);
  }
}

// The inner loop keeps more addresses than there is room for, so that it is told in the middle of a round.
void long_inside() {
  for (long row = 0; row < 3; ++row)
    for (long i = 0; i < 3000; ++i) far[order[i]] += row;
}

// Three deep, the middle one left early; the innermost walks as the middle one goes round.
void deep() {
  for (long i = 0; i < 6; ++i)
    for (long j = 0; j < 6; ++j) {
      for (long k = 0; k < 4; ++k) sum += matrix[i][column[j] & 3] + matrix[k][i];
      if (matrix[j][i] > 4) break;
      matrix[i][j] = sum;
    }
}

// The inner loop is entered in some rounds only, and may have none.
void sometimes() {
  for (long row = 0; row < kRows; ++row) {
    if (column[row] % 3 == 0) continue;
    for (long entry = 0; entry < column[row] % 4; ++entry) out[row] += in[column[entry]];
  }
}

// Two inner loops, one behind the other, downward and by two.
void two() {
  for (long row = 1; row < 5; ++row) {
    for (long i = 12; i > 0; --i) sum += column[i * row];
    for (long i = 0; i < 12; i += 2) order[i + row] = sum + column[order[i] & 15];
  }
}

// The middle loop's address stays the same in the innermost, which is told in the middle of it.
void middle() {
  for (long i = 0; i < 2; ++i)
    for (long j = 0; j < 3; ++j)
      for (long k = 0; k < 700; ++k) matrix[i][j] += far[order[k + j]];
}

// Values from outside are taken in some rounds only, and still long after the first rounds were told.
void from_outside() {
  const long one = matrix[0][0];
  const long other = matrix[1][1];
  for (long i = 0; i < 3000; ++i) {
    long taken = one;
    if (order[i] % 3 == 0) {
      sum = i;
      taken = other;
    }
    far[order[i]] = taken;
  }
}

// An array of the task's own, downward: each task of the thread has its own where another one had its own
// before.
void own(int number) {
  long local[12];
  long all = 0;
  for (long row = 0; row < 5; ++row) {
    for (long i = 11; i >= 0; --i) local[i] = column[i] + row;
    all += local[1 + column[row] % 11];
  }
  out[number] = static_cast<double>(all);
}

// Memory without names: eight bytes at a time, behind pointers that they may lie over; then as words, of
// which one is divided in another way.
struct Buffer {
  uint8_t* bytes;
};
Buffer from;
Buffer to;
void heap_bytes() {
  constexpr unsigned kBytes = 804;
  from.bytes = new uint8_t[kBytes];
  to.bytes = new uint8_t[kBytes];
  for (unsigned i = 0; i < kBytes; ++i) from.bytes[i] = static_cast<uint8_t>(i * 3);
  for (unsigned at = 0; at + 8 < kBytes; at += 8)
    for (unsigned i = 0; i < 8; ++i) to.bytes[at + i] = static_cast<uint8_t>(from.bytes[at + 7 - i] ^ i);
  for (unsigned i = 0; i + 8 < kBytes; ++i) sum += to.bytes[i];
  for (unsigned at = 0; at + 16 < kBytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, to.bytes + at, sizeof(word));
    sum += static_cast<long>(word);
  }
  uint16_t part = 0;
  std::memcpy(&part, to.bytes + 401, sizeof(part));
  sum += part;
  for (unsigned i = 0; i + 8 < kBytes; ++i) sum += to.bytes[i] + from.bytes[i];
  delete[] to.bytes;
  delete[] from.bytes;
}

// Two of three, and the others later; and what begins at different places in each.
void heap_lanes() {
  constexpr long kShorts = 603;
  auto* const shorts = new int16_t[kShorts];
  for (long i = 0; i + 2 < kShorts; i += 3) {
    shorts[i] = static_cast<int16_t>(i);
    shorts[i + 1] = static_cast<int16_t>(i + 1);
  }
  for (long i = 2; i < kShorts; i += 3) shorts[i] = static_cast<int16_t>(shorts[i - 1] + shorts[i - 2]);
  for (long i = 0; i < kShorts; ++i) sum += shorts[i];
  delete[] shorts;
  auto* const ints = new int32_t[kShorts];
  for (long i = 0; i + 7 < kShorts; i += 2) {
    ints[i + 6] = static_cast<int32_t>(i);
    ints[i + 3] = static_cast<int32_t>(i + 1);
  }
  for (long i = 9; i + 9 < kShorts; ++i) sum += ints[i];
  for (long i = 596; i > 20; i -= 2) sum -= ints[i];
  delete[] ints;
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {{"sparse", sparse},
                           {"cipher", cipher},
                           {"long_inside", long_inside},
                           {"deep", deep},
                           {"two", two},
                           {"sometimes", sometimes},
                           {"middle", middle},
                           {"from_outside", from_outside},
                           {"heap_bytes", heap_bytes},
                           {"heap_lanes", heap_lanes}};

void fill() {
  long entry = 0;
  for (long row = 0; row < kRows; ++row) {
    begin[row] = entry;
    entry += row * 7 % 10;
    in[row] = static_cast<double>(row);
  }
  begin[kRows] = entry;
  for (long i = 0; i < kEntries; ++i) column[i] = i * 13 % kRows;
  for (long i = 0; i < 3000; ++i) order[i] = i * 37 % 4096;
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<uint8_t>(i * 5);
}

}  // namespace

void write_to(const char* array, long index) {
  const auto is = [&](const char* name) { return std::strcmp(array, name) == 0; };
  if (is("value")) value[index] = 1;
  if (is("column")) column[index] = 1;
  if (is("in")) in[index] = 1;
  if (is("out")) out[index] = 1;
  if (is("bytes")) bytes[index] = 1;
  if (is("mixed")) mixed[index] = 1;
  if (is("key")) key[index] = 1;
  if (is("far")) far[index] = 1;
  if (is("matrix")) matrix[index / 6][index % 6] = 1;
}

int main(int, char** arguments) {
  if (arguments[1] == nullptr) {
    for (const Case& one : kCases) std::puts(one.name);
    return 0;
  }
  fill();
  if (std::strcmp(arguments[1], "own") == 0) {
    heddle::parallel_for(0, 4, own);
    heddle::focus(out);
    return 0;
  }
  for (const Case& one : kCases)
    if (std::strcmp(one.name, arguments[1]) == 0) {
      if (arguments[2] != nullptr) {
        std::thread other(one.run);
        write_to(arguments[2], std::atol(arguments[3]));
        other.join();
        return 0;
      }
      heddle::parallel_for(0, 2, [&](int number) {
        if (number == 0) one.run();
      });
      break;  // the names are compared no further: that is told as well, by how the argument lies in memory
    }
  heddle::focus(sum);
}
