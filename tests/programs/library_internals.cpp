// What the standard library does for itself in code that is not the program's, or without a lock because it
// does no harm. And what the program does with the same objects.
#include <future>
#include <locale>
#include <regex>
#include <string>

#include "twins.h"

using twins::two;

namespace {

// Threads compile and match expressions of their own; the library remembers in the locale that they share
// which characters it has looked up.
bool fits(const std::string& text) {
  const std::regex pattern("[a-z]+([0-9]+)\\w*");
  std::smatch found;
  return std::regex_match(text, found, pattern);
}
void regex() {
  bool results[2] = {};
  two(
      [&] {
        results[0] = fits("abc123");
        twins::let_second_begin();
      },
      [&] { results[1] = fits("xyz789_"); });
  std::printf("%d\n", results[0] + results[1]);
}

void characters() {
  const auto& facet = std::use_facet<std::ctype<char>>(std::locale::classic());
  const auto look_up = [&] {
    int sum = 0;
    for (int c = 'a'; c <= 'z'; ++c) {
      const char character = static_cast<char>(c);
      sum += facet.narrow(character, '?') + facet.widen(character);
    }
    return sum;
  };
  int sums[2] = {};
  two(
      [&] {
        sums[0] = look_up();
        twins::let_second_begin();
      },
      [&] { sums[1] = look_up(); });
  std::printf("%d\n", sums[0] + sums[1]);
}

// The text is the program's: that the library reads it takes nothing away.
std::string text = "abc";
void shared_text() {
  const auto& facet = std::use_facet<std::ctype<char>>(std::locale::classic());
  char copy[3] = {};
  facet.narrow(copy, copy + 3, '?', copy);  // the next time its cache is filled
  two(
      [&] {
        facet.narrow(text.data(), text.data() + 3, '?', copy);
        twins::let_second_begin();
      },
      [] { text[1] = 'x'; });  // here: change
}

// Becomes ready in the library's own code, when the thread has ended but for that.
int last_words = 0;
struct Last {
  int value = 0;
  ~Last() { last_words = value; }
};
thread_local Last last;

void ready_at_end() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  int after = 0;
  std::thread other([&] {
    last.value = 2;
    promise.set_value_at_thread_exit(1);
    after = 3;
  });
  const int got = future.get();
  std::printf("%d\n", got + last_words + after);
  other.join();
}

// The same promise makes no order for those who did not wait for it.
void not_waited_for() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  int after = 0;
  std::thread other([&] {
    promise.set_value_at_thread_exit(1);
    after = 3;  // here: after
    schedule::end_turn();
  });
  schedule::wait_for(1);
  std::printf("%d\n", after);  // here: early
  other.join();
  std::printf("%d\n", future.get());
}

}  // namespace

int main(int count, char** arguments) {
  return twins::run({{"regex", regex},
                     {"characters", characters},
                     {"shared_text", shared_text},
                     {"ready_at_end", ready_at_end},
                     {"not_waited_for", not_waited_for}},
                    count, arguments);
}
