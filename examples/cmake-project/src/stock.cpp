#include "stock.h"

int Stock::left() const {
  std::lock_guard lock(mutex_);
  return left_;
}

bool Stock::sell() {
  if (left() <= 0) return false;
  std::lock_guard lock(mutex_);
  --left_;
  return true;
}
