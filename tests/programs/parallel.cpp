// The loops of heddle/parallel.h in any build.
#include <heddle/heddle.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <list>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// The bodies of parallel_invoke run at the same time, whatever the number of processors.
void meet() {
  std::barrier meeting(5);
  std::atomic<int> before{0};
  const auto body = [&] {
    ++before;
    meeting.arrive_and_wait();
    expect(before == 5, "all have met");
  };
  heddle::parallel_invoke(body, body, body, body, body);
}

// Whoever ends the program does not wait for the rest of the loop.
void leave(bool is_by_caller) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> begun{0};
  heddle::parallel_for(0, 2, [&](int) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    if ((std::this_thread::get_id() == caller) == is_by_caller) std::exit(3);
    for (;;) std::this_thread::yield();
  });
}

}  // namespace

int main(int, char** arguments) {
  const std::string wanted = arguments[1] == nullptr ? "" : arguments[1];
  if (wanted == "meet") meet();
  if (wanted == "leave") leave(true);
  if (wanted == "helper_leaves") leave(false);
  if (!wanted.empty()) return 0;
  std::vector<std::atomic<int>> done(1000);
  heddle::parallel_for(0, 1000, [&](int i) { ++done[static_cast<std::size_t>(i)]; });
  expect(std::all_of(done.begin(), done.end(), [](const auto& count) { return count == 1; }),
         "each index once");

  std::atomic<int> count{0};
  heddle::parallel_for(-3, 3L, [&](long i) { count += static_cast<int>(i) + 10; });
  expect(count == 57, "two types of index, from below 0");
  std::atomic<int> letters{0};
  heddle::parallel_for('a', static_cast<char>('z' + 1), [&](char letter) { letters += letter - 'a'; });
  expect(letters == 325, "letters");
  std::atomic<long> extremes{0};
  try {
    heddle::parallel_for(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), [&](int i) {
      if (++extremes == 1000) throw i;
    });
    expect(false, "more indices than the largest of them");
  } catch (int i) {
    expect(i < std::numeric_limits<int>::max(), "an index below the end");
  }
  heddle::parallel_for(5, 2, [&](int) { ++count; });
  heddle::parallel_for(std::vector<int>(), [&](int) { ++count; });
  expect(count == 57, "nothing to do");

  std::vector<int> numbers(100, 2);
  heddle::parallel_for(numbers, [](int& number) { number *= 3; });
  std::list<std::string> texts = {"a", "b", "c"};
  heddle::parallel_for(texts, [](std::string& text) { text += "!"; });
  expect(numbers == std::vector<int>(100, 6) && texts == std::list<std::string>{"a!", "b!", "c!"}, "ranges");

  std::atomic<int> calls{0};
  heddle::parallel_invoke([&] { calls += 1; }, [&] { calls += 10; }, [&] { calls += 100; });
  expect(calls == 111, "each body once");

  std::atomic<long> sum{0};
  heddle::parallel_for(0, 20, [&](int i) {
    heddle::parallel_for(0, 20,
                         [&](int j) { heddle::parallel_invoke([&] { sum += i; }, [&] { sum += j; }); });
  });
  expect(sum == 7600, "loops in loops");

  std::atomic<int> begun{0};
  try {
    heddle::parallel_for(0, 100'000, [&](int i) {
      ++begun;
      if (i == 10) throw std::runtime_error("ten");
    });
    expect(false, "the exception comes out");
  } catch (const std::runtime_error& error) {
    expect(error.what() == std::string("ten"), "as it was");
  }
  expect(begun <= 100'000, "and ends the loop");

  if (std::getenv("HEDDLE_SEQUENTIAL") != nullptr) {
    std::vector<int> times(3'000'000);
    heddle::parallel_for(times, [](int& count_of_one) { ++count_of_one; });
    expect(times == std::vector<int>(times.size(), 1), "each of very many once");
  }

  std::atomic<int> marked{0};
  heddle::parallel_for(0, 100, [&](int i) {
    if (HEDDLE_MAYBE) {
      ++marked;
    }
    if (HEDDLE_MAYBE && i % 2 == 0) return;
    if (HEDDLE_MAYBE_NOT) marked += 10'000;
    marked += 100;
  });
  heddle::focus(numbers);
  heddle::focus(texts);
  heddle::focus(std::span(numbers));
  std::vector<int> order;
  heddle::parallel_for(0, 1, [&](int) {});
  std::printf("marked %d\n", marked.load());
}
