// A thousand and ten thousand threads, one after the other in groups, or all at once: the bug is found
// between the last two, and the correct twin is silent.
#include <mutex>
#include <vector>

#include "twins.h"

namespace {

class Counter {
 public:
  void add() {
    const std::lock_guard<std::mutex> locked(mutex_);
    ++value_;  // here: add
  }
  void add_in_two_parts() {
    const long before = value();
    twins::let_second_pass();
    const std::lock_guard<std::mutex> locked(mutex_);
    value_ = before + 1;  // here: act
  }
  long value() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return value_;  // here: check
  }

 private:
  std::mutex mutex_;
  long value_ = 0;
};

Counter counter;

// At most `at_once` of them at a time.
void many(int count, int at_once) {
  for (int made = 0; made < count; made += at_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < at_once; ++i) threads.emplace_back([] { counter.add(); });
    for (std::thread& thread : threads) thread.join();
  }
}
void lose_one() {
  twins::two([] { counter.add_in_two_parts(); }, [] { counter.add(); });
}

const twins::Cases kCases = {
    {"thousand", [] { many(1000, 1000); }},
    {"ten_thousand", [] { many(10'000, 500); }},
    {"thousand_and_a_bug", [] { many(1000, 1000), lose_one(); }},
    {"ten_thousand_and_a_bug", [] { many(10'000, 500), lose_one(); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
