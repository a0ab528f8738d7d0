// An iterator that is kept while the lock is not: when it is used again, another element lies there.
#include <algorithm>
#include <mutex>
#include <vector>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

class Directory {
 public:
  void rename_in_two_parts(int from, int to) {
    std::vector<int>::iterator found;
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      found = std::find(names_.begin(), names_.end(), from);  // here: find
    }
    let_second_pass();
    const std::lock_guard<std::mutex> locked(mutex_);
    *found = to;  // here: use
  }
  void rename(int from, int to) {
    const std::lock_guard<std::mutex> locked(mutex_);
    const auto found = std::find(names_.begin(), names_.end(), from);
    let_second_begin();
    *found = to;
  }
  void remove_first() {
    const std::lock_guard<std::mutex> locked(mutex_);
    names_.erase(names_.begin());  // here: erase
  }

 private:
  std::mutex mutex_;
  std::vector<int> names_ = {10, 20, 30, 40};
};

Directory directory;

const twins::Cases kCases = {
    {"kept", [] { two([] { directory.rename_in_two_parts(20, 25); }, [] { directory.remove_first(); }); }},
    {"found_and_used", [] { two([] { directory.rename(20, 25); }, [] { directory.remove_first(); }); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
