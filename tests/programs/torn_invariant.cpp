// Two fields that belong together, each changed under the lock but not both at once: somebody sees one new
// and one old.
#include <mutex>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

class Range {
 public:
  void set_one_by_one(int low, int high) {
    set_low(low);
    let_second_pass();
    set_high(high);
  }
  void set(int low, int high) {
    const std::lock_guard<std::mutex> locked(mutex_);
    low_ = low;
    let_second_begin();
    high_ = high;
  }
  int width() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return high_ - low_;  // here: read
  }

 private:
  void set_low(int low) {
    const std::lock_guard<std::mutex> locked(mutex_);
    low_ = low;  // here: low
  }
  void set_high(int high) {
    const std::lock_guard<std::mutex> locked(mutex_);
    high_ = high;  // here: high
  }

  std::mutex mutex_;
  int low_ = 0;
  int high_ = 10;
};

Range range;

void check_width() {
  if (range.width() != 10) std::puts("torn");
}

const twins::Cases kCases = {
    {"one_by_one", [] { two([] { range.set_one_by_one(20, 30); }, check_width); }},
    {"at_once", [] { two([] { range.set(20, 30); }, check_width); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
