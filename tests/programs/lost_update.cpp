// An update that overwrites another one, because it was computed from a value that had been read before.
#include <heddle/heddle.h>

#include <atomic>
#include <mutex>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

std::mutex mutex;
long total = 0;  // guarded by mutex

long read_total() {
  const std::lock_guard<std::mutex> locked(mutex);
  return total;  // here: read
}
void write_total(long value) {
  const std::lock_guard<std::mutex> locked(mutex);
  total = value;  // here: write
}

void add_by_reading_and_writing(bool is_first) {
  HEDDLE_ATOMIC("add");
  const long seen = read_total();
  if (is_first) let_second_pass();
  write_total(seen + 1);
}
void add_locked(bool is_first) {
  HEDDLE_ATOMIC("add");
  const std::lock_guard<std::mutex> locked(mutex);
  const long seen = total;
  if (is_first) let_second_begin();
  total = seen + 1;
}

class Counter {
 public:
  void add_by_loading_and_storing(bool is_first) {
    const int seen = value_.load();  // here: load
    if (is_first) let_second_pass();
    value_.store(seen + 1);  // here: store
  }
  void add(bool is_first) {
    if (is_first) let_second_begin();
    ++value_;
  }

 private:
  std::atomic<int> value_{0};
};

Counter counter;

const twins::Cases kCases = {
    {"locked",
     [] { two([] { add_by_reading_and_writing(true); }, [] { add_by_reading_and_writing(false); }); }},
    {"locked_once", [] { two([] { add_locked(true); }, [] { add_locked(false); }); }},
    {"atomic",
     [] {
       two([] { counter.add_by_loading_and_storing(true); },
           [] { counter.add_by_loading_and_storing(false); });
     }},
    {"atomic_once", [] { two([] { counter.add(true); }, [] { counter.add(false); }); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
