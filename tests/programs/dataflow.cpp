// Ways for a value to get from `source` to `sink`, and ways in which it only seems to. Each case is a
// function named for it; those that begin with `not_` must not connect the two.
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

volatile long source = 7;
volatile long other = 3;
volatile long sink = 0;
volatile bool yes = true;

void direct() { sink = source; }
void arithmetic() { sink = (source * 3 + 5) ^ other; }
void not_used() {
  const long read = source;
  static_cast<void>(read);
  sink = other;
}
void not_overwritten() {
  volatile long cell = source;
  cell = other;
  sink = cell;
}

// Memory that is read again after a store that is wider than a word, or to a half of what was read.
alignas(32) unsigned char bytes_of_memory[32];
template <class T>
volatile T& memory_at(std::size_t at) {
  typedef T Aliased __attribute__((may_alias));
  return *reinterpret_cast<volatile Aliased*>(bytes_of_memory + at);
}
void wide_store() {
  typedef long Four __attribute__((vector_size(32)));
  sink = memory_at<long>(8);
  memory_at<Four>(0) = Four{other, source, other, other};
  sink = memory_at<long>(8);
}
void half_store() {
  sink = memory_at<long>(4);
  memory_at<int>(8) = static_cast<int>(source);
  sink = memory_at<long>(4);
}

[[gnu::noinline]] long increment(long value) { return value + 1; }
void call() { sink = increment(source); }
[[gnu::noinline]] long second_of(long, long b) { return b; }
void second_argument() { sink = second_of(other, source); }
void not_first_argument() { sink = second_of(source, other); }
[[gnu::noinline]] void store_to(volatile long* place, long value) { *place = value; }
void through_pointer() { store_to(&sink, source); }
long deep(int depth, long value) { return depth == 0 ? value : deep(depth - 1, value) + 1; }
void recursion() { sink = deep(200, source); }
void through_function() {
  std::function<long(long)> twice = [](long value) { return 2 * value; };
  sink = twice(source);
}

struct Base {
  virtual ~Base() = default;
  virtual long get() const = 0;
};
struct Holder : Base {
  explicit Holder(long value) : held(value) {}
  long get() const override { return held; }
  long held;
};
void virtual_call() {
  const std::unique_ptr<Base> holder = std::make_unique<Holder>(source);
  sink = holder->get();
}

void cast() { sink = static_cast<long>(static_cast<double>(static_cast<short>(source)) * 1.5); }
void chosen() { sink = yes ? source : other; }
void not_chosen() {
  const long a = source;
  const long b = other;
  sink = yes ? b : a;
}
void merged() {
  long value = other;
  if (yes) value = source;
  sink = value;
}
void library_computation() { sink = std::lround(std::sqrt(static_cast<double>(source)) * 100); }

struct Large {
  std::array<long, 12> values;
};
[[gnu::noinline]] Large make_large(long value) {
  Large large = {};
  large.values[5] = value;
  return large;
}
[[gnu::noinline]] long sixth(Large large) { return large.values[5]; }

void large_values() { sink = sixth(make_large(source)); }
struct Pair {
  long a;
  long b;
};
[[gnu::noinline]] Pair make_pair(long a, long b) { return {a, b}; }
void small_values() { sink = make_pair(other, source).b; }

void copied() {
  std::array<char, 8> bytes;
  const long value = source;
  std::memcpy(bytes.data(), &value, 8);
  std::array<char, 8> again = bytes;
  long result;
  std::memcpy(&result, again.data(), 8);
  sink = result;
}
void not_copied() {
  std::array<long, 4> from = {other, source, other, other};
  std::array<long, 4> to;
  std::memcpy(to.data(), from.data(), sizeof(to));
  sink = to[2];
}
void moved() {
  std::array<long, 8> cells = {};
  cells[0] = source;
  std::memmove(cells.data() + 1, cells.data(), 7 * sizeof(long));
  sink = cells[1];
}
void filled() {
  std::array<char, 8> bytes;
  std::memset(bytes.data(), static_cast<int>(source), 8);
  long result;
  std::memcpy(&result, bytes.data(), 8);
  sink = result;
}
void text() {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%ld", static_cast<long>(source));
  char again[32];
  std::strcpy(again, buffer);
  sink = std::atol(again);
}
void length() {
  char buffer[32] = {};
  buffer[0] = static_cast<char>(source);
  sink = static_cast<long>(std::strlen(buffer));
}
void duplicated() {
  char buffer[32] = {};
  buffer[0] = static_cast<char>('0' + source);
  char* const copy = strdup(buffer);
  sink = *copy;
  std::free(copy);
}
void reallocated() {
  auto* cells = static_cast<long*>(std::malloc(2 * sizeof(long)));
  cells[1] = source;
  cells = static_cast<long*>(std::realloc(cells, 100'000 * sizeof(long)));
  sink = cells[1];
  std::free(cells);
}
void not_reallocated() {
  auto* cells = static_cast<long*>(std::malloc(2 * sizeof(long)));
  cells[0] = other;
  cells[1] = source;
  cells = static_cast<long*>(std::realloc(cells, 100'000 * sizeof(long)));
  sink = cells[0];
  std::free(cells);
}
void sorted() {
  std::array<long, 3> values = {other, source, other};
  std::qsort(values.data(), 3, sizeof(long), [](const void* a, const void* b) {
    return *static_cast<const long*>(a) < *static_cast<const long*>(b) ? -1 : 1;
  });
  sink = values[2];
}
void hashed() {
  std::string value = "a long text that does not fit into the object itself: ";
  value += static_cast<char>('a' + source);
  sink = static_cast<long>(std::hash<std::string>()(value));
}
void halves() {
  union {
    long whole;
    int parts[2];
  } memory;
  memory.whole = source;
  sink = memory.parts[0];
}

void container() {
  std::vector<long> values;
  for (int i = 0; i < 20; ++i) values.push_back(i == 11 ? long{source} : long{other});
  sink = values[11];
}
void not_container() {
  std::vector<long> values;
  for (int i = 0; i < 20; ++i) values.push_back(i == 11 ? static_cast<long>(source) : i);
  sink = values[12];
}
void ordered_map() {
  std::map<int, long> values;
  for (int i = 0; i < 20; ++i) values[i * 7 % 20] = i == 11 ? long{source} : long{other};
  sink = values[77 % 20];
}
void string() {
  std::string value = "a long text that does not fit into the object itself: ";
  value += static_cast<char>('a' + source);
  sink = value.back();
}
void captured() {
  const long value = source;
  const auto lambda = [value] { return value; };
  const auto copy = lambda;
  sink = copy();
}
void thrown() {
  try {
    throw static_cast<long>(source);
  } catch (long value) {
    sink = value;
  }
}

std::atomic<long> cell{0};
void atomic_store() {
  cell.store(source);
  sink = cell.load();
}
void atomic_add() {
  cell.fetch_add(source);
  sink = cell.load();
}
void atomic_exchange() {
  long expected = cell.load();
  cell.compare_exchange_strong(expected, source);
  sink = cell.load();
}

// Many more values than labels are kept.
void long_loop() {
  long sum = source;
  for (int i = 0; i < 20'000; ++i) sum = sum * 3 + other;
  sink = sum;
}
void long_loop_outside() {
  const long value = source;
  long sum = 0;
  for (int i = 0; i < 20'000; ++i) sum += other;
  sink = value + 0 * sum;
}
// It goes round from two places.
void loop_with_continue() {
  long sum = source;
  int i = 0;
  while (i < 20'000) {
    ++i;
    if (other == i) continue;
    sum = sum * 3 + other;
  }
  sink = sum;
}
void swapping_loop() {
  long a = source;
  long b = 0;
  long c = 1;
  for (int i = 0; i < 9'999; ++i) {  // a multiple of three: back where it was
    const long next = b + other - other;
    b = c;
    c = a;
    a = next;
  }
  sink = a;
}
void nested_loops() {
  long sum = source;
  for (int i = 0; i < 100; ++i) {
    long inner = 0;
    for (int j = 0; j < 50; ++j) inner += other;
    sum += inner;
  }
  sink = sum;
}

// Loops that call nobody, and read nothing volatile, are told as series of rounds.
long cells[100];
long copies[100];
unsigned short places[100];
void fill_cells() {
  for (long& one : cells) one = 1;
}
void series() {
  fill_cells();
  cells[50] = source;
  for (int i = 0; i < 100; ++i) copies[i] = cells[i] * 2;
  sink = copies[50];
}
void not_series() {
  fill_cells();
  cells[50] = source;
  for (int i = 0; i < 100; ++i) copies[i] = cells[i] * 2;
  sink = copies[51];
}
void shifted_series() {
  fill_cells();
  cells[50] = source;
  for (int i = 99; i > 0; i -= 2) copies[i] = cells[i - 1] + 1;
  sink = copies[51];
}
void sum_of_series() {
  fill_cells();
  cells[99] = source;
  long sum = 0;
  for (const long one : cells) sum += one;
  sink = sum;
}
void not_before_sum() {
  fill_cells();
  cells[99] = source;
  long sum = 0;
  for (int i = 0; i < 100; ++i) {
    copies[i] = sum;  // of those before it
    sum += cells[i];
  }
  sink = copies[99];
}
void listed_series() {
  fill_cells();
  for (int i = 0; i < 100; ++i) places[i] = static_cast<unsigned short>(i * 37 % 100);
  cells[37] = source;
  for (int i = 0; i < 100; ++i) copies[i] = cells[places[i]];
  sink = copies[1];
}
void not_listed_series() {
  fill_cells();
  for (int i = 0; i < 100; ++i) places[i] = static_cast<unsigned short>(i * 37 % 100);
  cells[37] = source;
  for (int i = 0; i < 100; ++i) copies[i] = cells[places[i]];
  sink = copies[2];
}
void branching_series() {
  fill_cells();
  cells[60] = source;
  long last = 0;
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 0) last = cells[i];
    if (i == 61) break;
  }
  sink = last;
}
void not_branching_series() {
  fill_cells();
  cells[60] = source;
  long last = 0;
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 1) last = cells[i];
    if (i == 62) break;
  }
  sink = last;
}
// More rounds than are kept at once, of values that change places.
void long_series() {
  std::vector<long> many(50'000, 1);
  many[3] = source;
  long a = 0;
  long b = 0;
  for (std::size_t i = 0; i < many.size(); ++i) {
    const long before = a;
    a = b;
    b = i % 7 == 3 ? before + many[i] : before;
  }
  sink = a + b;
}

const std::map<std::string, void (*)()> kCases = {
#define CASE(name) {#name, name},
    CASE(direct) CASE(arithmetic) CASE(not_used) CASE(not_overwritten) CASE(wide_store) CASE(half_store)
        CASE(call) CASE(second_argument) CASE(not_first_argument) CASE(through_pointer) CASE(recursion)
            CASE(through_function) CASE(virtual_call) CASE(cast) CASE(chosen) CASE(not_chosen) CASE(merged)
                CASE(library_computation) CASE(large_values) CASE(small_values) CASE(copied) CASE(not_copied)
                    CASE(moved) CASE(filled) CASE(text) CASE(length) CASE(duplicated) CASE(reallocated)
                        CASE(not_reallocated) CASE(sorted) CASE(hashed) CASE(loop_with_continue) CASE(halves)
                            CASE(container) CASE(not_container) CASE(ordered_map) CASE(string) CASE(captured)
                                CASE(thrown) CASE(atomic_store) CASE(atomic_add) CASE(atomic_exchange)
                                    CASE(long_loop) CASE(long_loop_outside) CASE(swapping_loop)
                                        CASE(nested_loops) CASE(series) CASE(not_series) CASE(shifted_series)
                                            CASE(sum_of_series) CASE(not_before_sum) CASE(listed_series)
                                                CASE(not_listed_series) CASE(branching_series)
                                                    CASE(not_branching_series) CASE(long_series)
#undef CASE
};

}  // namespace

int main(int count, char** arguments) {
  const auto found = count < 2 ? kCases.end() : kCases.find(arguments[1]);
  if (found == kCases.end()) {
    for (const auto& [name, body] : kCases) std::puts(name.c_str());
    return 0;
  }
  heddle::parallel_for(0, 1, [&](int) { found->second(); });
  heddle::focus(sink);
}
