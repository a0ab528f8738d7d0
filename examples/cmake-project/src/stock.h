#pragma once

#include <mutex>

// How many pieces of something are left. Any number of threads may sell them.
class Stock {
 public:
  explicit Stock(int pieces) : left_(pieces) {}

  int left() const;
  // Takes a piece; false when there is none left.
  bool sell();

 private:
  mutable std::mutex mutex_;
  int left_;
};
