#include "checkers/store_buffer/reachability.h"

#include <algorithm>
#include <limits>

namespace heddle::store_buffer {

namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 26;  // of nodes × chains: 256 MiB
constexpr uint32_t kNotReached = std::numeric_limits<uint32_t>::max();

}  // namespace

uint32_t place_in(const std::vector<uint32_t>& part, uint32_t node) {
  const auto found = std::lower_bound(part.begin(), part.end(), node);
  return static_cast<uint32_t>((found != part.end() && *found == node ? found : part.end()) - part.begin());
}

Reachability::Reachability(const History& history, Question question, const Graph& certain,
                           const std::vector<uint32_t>& part)
    : chain_(part.size(), kNoId), index_(part.size(), 0) {
  const uint32_t size = static_cast<uint32_t>(part.size());
  // The certain links within the part, as places.
  std::vector<uint32_t> begin(part.size() + 1, 0);
  std::vector<uint32_t> next;
  std::vector<uint32_t> incoming(part.size(), 0);
  for (uint32_t place = 0; place < size; ++place) {
    for (const Link& link : certain.from(part[place])) {
      const uint32_t to = place_in(part, node_of(history, question, link.to));
      if (to == size) continue;
      next.push_back(to);
      ++incoming[to];
    }
    begin[place + 1] = static_cast<uint32_t>(next.size());
  }
  std::vector<uint32_t> order;
  order.reserve(part.size());
  for (uint32_t place = 0; place < size; ++place)
    if (incoming[place] == 0) order.push_back(place);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const uint32_t place = order[i];
    if (chain_[place] == kNoId) chain_[place] = static_cast<uint32_t>(chains_++);
    bool is_continued = false;
    for (uint32_t k = begin[place]; k < begin[place + 1]; ++k) {
      const uint32_t to = next[k];
      if (!is_continued && chain_[to] == kNoId) {
        chain_[to] = chain_[place];
        index_[to] = index_[place] + 1;
        is_continued = true;
      }
      if (--incoming[to] == 0) order.push_back(to);
    }
  }
  too_large_ = part.size() > kMostEntries / std::max<std::size_t>(chains_, 1);
  if (too_large_) return;
  earliest_.assign(part.size() * chains_, kNotReached);
  for (std::size_t i = order.size(); i-- > 0;) {
    uint32_t* const mine = earliest_.data() + std::size_t{order[i]} * chains_;
    for (uint32_t k = begin[order[i]]; k < begin[order[i] + 1]; ++k) {
      const uint32_t* const theirs = earliest_.data() + std::size_t{next[k]} * chains_;
      for (std::size_t chain = 0; chain < chains_; ++chain)
        mine[chain] = std::min(mine[chain], theirs[chain]);
    }
    mine[chain_[order[i]]] = index_[order[i]];
  }
}

}  // namespace heddle::store_buffer
