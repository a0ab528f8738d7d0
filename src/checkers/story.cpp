#include "checkers/story.h"

#include <algorithm>

namespace heddle {

namespace {

const std::vector<Hop> kNoHops;

bool is_access(const Op& op) { return op.event.operation <= Operation::kAtomicCompareFail; }

std::size_t mere_synchronization(const std::vector<Hop>& hops) {
  return static_cast<std::size_t>(
      std::count_if(hops.begin(), hops.end(), [](const Hop& hop) { return !is_access(hop.to); }));
}

}  // namespace

Told Told::of(const Op& from, const Op& to) {
  Told told;
  told.hops_ = std::make_shared<const std::vector<Hop>>(1, Hop{from, to});
  return told;
}

Told Told::then(const Told& next) const {
  if (is_empty()) return next;
  if (next.is_empty()) return *this;
  std::vector<Hop> hops = *hops_;
  hops.insert(hops.end(), next.hops_->begin(), next.hops_->end());
  Told told;
  told.left_out_ = left_out_ + next.left_out_;
  if (hops.size() > kMostHops) {  // the ends say where the argument starts and closes
    const auto first = hops.begin() + kMostHops / 2;
    const auto last = hops.end() - kMostHops / 2;
    told.left_out_ += static_cast<std::size_t>(last - first);
    hops.erase(first, last);
  }
  told.hops_ = std::make_shared<const std::vector<Hop>>(std::move(hops));
  return told;
}

bool Told::better_than(const Told& other) const {
  const std::size_t mine = hops().size() + left_out_;
  const std::size_t theirs = other.hops().size() + other.left_out_;
  if (mine != theirs) return mine < theirs;
  return mere_synchronization(hops()) < mere_synchronization(other.hops());
}

const std::vector<Hop>& Told::hops() const { return hops_ == nullptr ? kNoHops : *hops_; }

}  // namespace heddle
