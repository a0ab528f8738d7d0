// Where a thread goes through memory page by page, forwards or backwards, in a few places at once. What costs
// about the same for one page and for many is done for the next ones as well, each time for twice as many.
#pragma once

#include <cstdint>

namespace heddle::runtime {

struct Pages {
  uint64_t begin;
  uint64_t end;

  uint64_t count() const { return end - begin; }
};

class PageRuns {
 public:
  // The thread has come to this page, for which nothing was done yet: the pages to do it for. The result is
  // theirs to be cut down to those that it was done for; it is valid until the next call.
  Pages& next(uint64_t page) {
    for (Pages& last : runs_) {
      if (last.count() == 0 || (page != last.end && page + 1 != last.begin)) continue;
      const uint64_t wanted = 2 * last.count() < kMost ? 2 * last.count() : kMost;
      last = page == last.end ? Pages{page, page + wanted}
                              : Pages{page + 1 < wanted ? 0 : page + 1 - wanted, page + 1};
      return last;
    }
    return runs_[replaced_++ % kPlaces] = {page, page + 1};
  }

 private:
  static constexpr uint64_t kMost = 64;
  static constexpr uint32_t kPlaces = 4;

  Pages runs_[kPlaces] = {};
  uint32_t replaced_ = 0;
};

}  // namespace heddle::runtime
