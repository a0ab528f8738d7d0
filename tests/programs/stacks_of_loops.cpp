// Races with accesses that are not told one by one: loops over arrays, copies, and what comes late in a long
// stretch. The first thread does them two calls deep; then main changes one element of `values`.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "schedule.h"

constexpr int kCount = 10;
constexpr int kMany = 200;
alignas(64) int values[kCount];
alignas(64) long numbers[kMany];
alignas(64) char letters[kMany];
struct Point {
  double x, y, z;
};
alignas(64) Point points[kMany];
std::vector<int>* list = nullptr;
std::vector<int> source(kCount, 1);

[[gnu::noinline]] void fill() {
  for (int& value : values) value = 1;
}
[[gnu::noinline]] void fill_numbers() {
  for (long& number : numbers) number = 1;
}
[[gnu::noinline]] void fill_list() { list->assign(kCount, 1); }
[[gnu::noinline]] void clear_letters(int count) {
  asm volatile("" : "+r"(count));
  std::memset(letters, 0, static_cast<unsigned>(count));
}
[[gnu::noinline]] void copy(int count) {
  asm volatile("" : "+r"(count));
  std::memcpy(values, source.data(), sizeof(int) * static_cast<unsigned>(count));
}
[[gnu::noinline]] void nested() {
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < kMany; ++i) numbers[i] += round;
}
[[gnu::noinline]] void with_gaps() {
  for (Point& point : points) point.y = 1;
}
// Accesses that no loop puts together.
[[gnu::noinline]] void set(long& number) { number = 2; }
[[gnu::noinline]] void set_calling(long& number) {
  number = 2;
  asm volatile("" ::: "memory");
  set(number);
}
[[gnu::noinline]] void one_by_one() {
  for (int i = 0; i < kMany; ++i) set(numbers[i]);
}
[[gnu::noinline]] void one_by_one_calling() {
  for (int i = 0; i < kMany; ++i) set_calling(numbers[i]);
}
[[gnu::noinline]] void late(int from) {
  for (int i = from; i < kMany; ++i) set(numbers[i]);
}
// The same function, called from two places.
[[gnu::noinline]] void halves() {
  late(150);
  for (int i = 0; i < 150; ++i) set(numbers[i]);
}
[[gnu::noinline]] long sum() {
  long all = 0;
  for (const long& number : numbers) all += number;
  return all;
}
long result = 0;

[[gnu::noinline]] void make(const std::string& what) {
  if (what == "array") fill();
  if (what == "longs") fill_numbers();
  if (what == "assign") fill_list();
  if (what == "memset") clear_letters(kMany);
  if (what == "memcpy") copy(kCount);
  if (what == "nested") nested();
  if (what == "gaps") with_gaps();
  if (what == "one_by_one") one_by_one();
  if (what == "calling") one_by_one_calling();
  if (what == "halves") halves();
  if (what == "sum") result = sum();
  asm volatile("" ::: "memory");
}

int main(int, char** arguments) {
  const std::string what = arguments[1];
  list = new std::vector<int>;
  list->reserve(kCount);
  int* const first = list->data();
  std::thread maker([&] {
    schedule::at(0, [&] { make(what); });
    schedule::wait_for(2);
  });
  schedule::at(1, [&] {
    if (what == "array" || what == "memcpy") ++values[3];
    if (what == "assign") ++first[3];
    if (what == "memset") ++letters[17];
    if (what == "gaps") points[40].y = 3;
    if (what == "halves") numbers[160] = 3, numbers[60] = 3;
    if (what == "longs" || what == "nested" || what == "one_by_one" || what == "calling" || what == "sum")
      numbers[40] = 3;
  });
  maker.join();
  std::printf("%ld\n", result);
}
