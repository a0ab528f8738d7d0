// Sorts numbers by quicksort. The two sides of a split are sorted by a thread each, until there are as many
// parts as threads were asked for; those that only wait come on top.
//
// Size: numbers; the work grows a little faster. Small: 150000.
#include <algorithm>
#include <cstdio>
#include <span>
#include <thread>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 6'000'000, .small = 150'000};

using Numbers = std::span<uint64_t>;

// Below this many, insertion is faster than splitting.
constexpr std::size_t kFew = 16;

void insertion_sort(Numbers numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const uint64_t number = numbers[i];
    std::size_t place = i;
    for (; place > 0 && numbers[place - 1] > number; --place) numbers[place] = numbers[place - 1];
    numbers[place] = number;
  }
}

// Moves the smaller ones to the front; returns how many there are. Neither side is empty.
std::size_t split(Numbers numbers) {
  const uint64_t first = numbers.front();
  const uint64_t middle = numbers[numbers.size() / 2];
  const uint64_t last = numbers.back();
  const uint64_t pivot = std::max(std::min(first, middle), std::min(std::max(first, middle), last));
  std::size_t low = 0;
  std::size_t high = numbers.size() - 1;
  while (true) {
    while (numbers[low] < pivot) ++low;
    while (numbers[high] > pivot) --high;
    if (low >= high) return high + 1;
    std::swap(numbers[low++], numbers[high--]);
  }
}

void quicksort(Numbers numbers, std::size_t threads) {
  if (numbers.size() <= kFew) return insertion_sort(numbers);
  const std::size_t middle = split(numbers);
  const Numbers smaller = numbers.first(middle);
  const Numbers greater = numbers.subspan(middle);
  if (threads == 1) {
    quicksort(smaller, 1);
    quicksort(greater, 1);
    return;
  }
  std::thread one([=] { quicksort(smaller, threads / 2); });
  std::thread other([=] { quicksort(greater, threads - threads / 2); });
  one.join();
  other.join();
}

// The same for the same numbers, in whatever order.
uint64_t fingerprint(const std::vector<uint64_t>& numbers) {
  uint64_t sum = 0;
  for (const uint64_t number : numbers) sum += kernel::Random(number).next();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("quicksort", argc, argv, kSizes);
  std::vector<uint64_t> numbers(program.size());
  kernel::Random random(1);
  // Few enough different ones that some are equal.
  for (uint64_t& number : numbers) number = random.below(program.size());
  const uint64_t before = fingerprint(numbers);

  quicksort(numbers, program.threads());

  program.check(std::is_sorted(numbers.begin(), numbers.end()), "the numbers are not in order");
  program.check_equal("the fingerprint of the numbers", fingerprint(numbers), before);
  std::printf("quicksort: %zu numbers, the median %llu\n", numbers.size(),
              static_cast<unsigned long long>(numbers[numbers.size() / 2]));
  return 0;
}
