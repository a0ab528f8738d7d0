#include "checkers/sequential_spec/nearest_writes.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::sequential_spec {

namespace {

// Of the numbers from `low` to `high`, which differ, the one divisible by the highest power of two. Not 0.
uint32_t centre(uint32_t low, uint32_t high) {
  const int highest = 31 - std::countl_zero(low ^ high);
  return high >> highest << highest;
}

// The numbers 0 … keys.size() - 1 in ascending order of their keys, which are at most `most`; equal keys in
// the order of `before`.
std::vector<uint32_t> sorted_by(const std::vector<uint32_t>& keys, uint32_t most,
                                const std::vector<uint32_t>& before, std::vector<uint32_t>& begin) {
  begin.assign(most + 2, 0);
  for (const uint32_t key : keys) ++begin[key + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> place(begin.begin(), begin.end() - 1);
  std::vector<uint32_t> sorted(keys.size());
  for (const uint32_t item : before) sorted[place[keys[item]]++] = item;
  return sorted;
}

}  // namespace

NearestWrites::NearestWrites(const History& history)
    : history_(history),
      writes_(history.locations(), history.nodes.size(),
              [&](NodeId node) {
                const Node& write = history.nodes[node];
                return write.kind == Kind::kWrite ? write.object : kNoGroup;
              }),
      gap_(history.nodes.size()),
      low_(writes_.all().size()),
      high_(writes_.all().size()),
      given_(writes_.all().size(), false),
      asked_(writes_.all().size() + history.locations(), false),
      is_open_(history.locations(), false),
      tree_of_(history.locations(), kNoId),
      last_write_(history.tasks.size(), kNoId),
      last_place_(history.tasks.size(), kNoId) {
  // To look for each read among the writes would be to look through memory in no order.
  std::vector<uint32_t> written(history.locations(), 0);
  for (NodeId node = 0; node < history.nodes.size(); ++node) {
    const Node& access = history.nodes[node];
    if (access.kind == Kind::kWrite) ++written[access.object];
    if (access.kind == Kind::kRead) gap_[node] = written[access.object];
  }
}

void NearestWrites::find(NodeId read, std::vector<NodeId>& found) {
  const uint32_t location = history_.nodes[read].object;
  const uint32_t gap = gap_[read];
  const std::size_t question = std::size_t{writes_.begin(location)} + location + gap;
  if (writes_.of(location).empty() || asked_[question]) return;
  asked_[question] = true;
  if (!is_open_[location]) open(location);
  if (tree_of_[location] != kNoId) return search(trees_[tree_of_[location]], gap, found);
  for (uint32_t write = writes_.begin(location); write < writes_.end(location); ++write)
    if (low_[write] <= gap && gap <= high_[write]) give(write, found);
}

void NearestWrites::give(uint32_t write, std::vector<NodeId>& found) {
  if (given_[write]) return;
  given_[write] = true;
  found.push_back(writes_.all()[write]);
}

// Finds the gaps that each write of the location belongs to.
void NearestWrites::open(uint32_t location) {
  is_open_[location] = true;
  const uint32_t begin = writes_.begin(location);
  const uint32_t end = writes_.end(location);
  for (uint32_t write = begin; write < end; ++write) {
    const TaskId task = history_.task(writes_.all()[write]);
    low_[write] = 0;
    high_[write] = end - begin;
    if (last_place_[task] == location) {
      const uint32_t previous = last_write_[task];
      low_[write] = previous - begin + 1;
      high_[previous] = write - begin;
    }
    last_place_[task] = location;
    last_write_[task] = write;
  }
  if (end - begin <= kFew) return;
  tree_of_[location] = static_cast<uint32_t>(trees_.size());
  trees_.push_back(plant(location));
}

NearestWrites::Tree NearestWrites::plant(uint32_t location) const {
  const uint32_t begin = writes_.begin(location);
  const uint32_t count = writes_.end(location) - begin;
  const uint32_t most = 2 * count + 1;
  std::vector<uint32_t> lows(low_.begin() + begin, low_.begin() + begin + count);
  std::vector<uint32_t> highs(count);
  std::vector<uint32_t> centres(count);
  for (uint32_t i = 0; i < count; ++i) {
    highs[i] = count - high_[begin + i];  // descending
    centres[i] = centre(2 * low_[begin + i], 2 * high_[begin + i] + 1);
  }
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  Tree tree;
  std::vector<uint32_t> unused;
  tree.by_low = sorted_by(centres, most, sorted_by(lows, count, all, unused), tree.begin);
  tree.by_high = sorted_by(centres, most, sorted_by(highs, count, all, unused), tree.begin);
  for (uint32_t i = 0; i < count; ++i) {
    tree.by_low[i] += begin;
    tree.by_high[i] += begin;
  }
  tree.low_next.assign(tree.begin.begin(), tree.begin.end() - 1);
  tree.high_next = tree.low_next;
  return tree;
}

void NearestWrites::search(Tree& tree, uint32_t gap, std::vector<NodeId>& found) {
  const uint32_t number = 2 * gap;
  const auto centres = static_cast<uint32_t>(tree.low_next.size());
  for (int power = 0; power < 32; ++power) {
    // The only centre of this power whose intervals can reach the number.
    const uint64_t at = (uint64_t{number} >> (power + 1) << (power + 1)) | uint64_t{1} << power;
    if (at >= centres) {
      if (uint64_t{1} << power >= centres) break;
      continue;
    }
    const auto here = static_cast<uint32_t>(at);
    const uint32_t end = tree.begin[here + 1];
    if (number < here) {  // those that begin at or before the number; they all reach the centre
      for (uint32_t& next = tree.low_next[here]; next < end && low_[tree.by_low[next]] <= gap; ++next)
        give(tree.by_low[next], found);
    } else {
      for (uint32_t& next = tree.high_next[here]; next < end && high_[tree.by_high[next]] >= gap; ++next)
        give(tree.by_high[next], found);
    }
  }
}

}  // namespace heddle::sequential_spec
