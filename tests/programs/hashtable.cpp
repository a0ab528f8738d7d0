// The story of S1 §6 as a C++ container: an iterator that should fail when the table was changed behind its
// back, and that may hand out an entry that is gone, because it looks at the count of changes and takes the
// entry in two critical sections. In this run the two threads act one after the other, and nothing goes
// wrong.
#include <array>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include "twins.h"

using twins::let_second_begin;
using twins::two;

namespace {

class Hashtable {
 public:
  Hashtable() {
    for (int key = 0; key < 8; ++key) entries_[static_cast<std::size_t>(key)] = key + 1;
  }

  void remove(std::size_t index) {
    const std::lock_guard<std::mutex> locked(mutex_);
    entries_[index] = 0;  // here: remove
    ++changes_;
  }

  // The next key of an iteration that began when there had been `expected` changes.
  int next(std::size_t index, int expected) {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      if (changes_ != expected) throw std::runtime_error("changed while iterating");  // here: look
    }
    const std::lock_guard<std::mutex> locked(mutex_);
    return entries_[index];  // here: take
  }
  int next_at_once(std::size_t index, int expected) {
    const std::lock_guard<std::mutex> locked(mutex_);
    if (changes_ != expected) throw std::runtime_error("changed while iterating");
    return entries_[index];
  }

 private:
  std::mutex mutex_;
  std::array<int, 8> entries_{};
  int changes_ = 0;
};

Hashtable table;

template <class Next>
void iterate_then_remove(Next next) {
  two(
      [&] {
        if (next() == 0) std::puts("no key");
        let_second_begin();
      },
      [] { table.remove(3); });
}

const twins::Cases kCases = {
    {"two_sections", [] { iterate_then_remove([] { return table.next(3, 0); }); }},
    {"one_section", [] { iterate_then_remove([] { return table.next_at_once(3, 0); }); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
