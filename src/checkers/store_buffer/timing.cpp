#include "checkers/store_buffer/timing.h"

#include <algorithm>

namespace heddle::store_buffer {

Wants wants_of(const History& history, OpId from, OpId to) {
  const Op& first = history.ops[from];
  const Op& second = history.ops[to];
  Wants wants;
  const auto want = [&](Want::Kind kind, OpId store, OpId other) {
    (wants.first.kind == Want::Kind::kNothing ? wants.first : wants.second) = {kind, store, other};
  };
  if (!first.stores && !second.stores) {
    wants.impossible = from > to;
  } else if (!first.stores) {
    if (history.drain[to] <= from) wants.impossible = true;
    if (to < from) want(Want::Kind::kCommitAfter, to, from);
  } else if (!second.stores) {
    if (from > to) wants.impossible = true;
    if (history.drain[from] >= to) want(Want::Kind::kCommitBefore, from, to);
  } else {
    if (history.drain[to] <= from) wants.impossible = true;
    if (history.drain[from] >= to) want(Want::Kind::kInOrder, from, to);
  }
  const OpId own = first.changes() ? kNoOp : history.own_store[from];
  if (own == kNoOp || wants.impossible) return wants;
  if (second.stores) {
    if (history.drain[own] >= to) want(Want::Kind::kInOrder, own, to);
  } else if (history.drain[own] >= to) {
    want(Want::Kind::kCommitBefore, own, to);
  }
  return wants;
}

uint32_t Timing::place_of(OpId store) const {
  const auto found = std::lower_bound(stores_.begin(), stores_.end(), store,
                                      [](const Bounds& bounds, OpId id) { return bounds.store < id; });
  return static_cast<uint32_t>(found - stores_.begin());
}

bool Timing::allows(std::span<const Want> wants) {
  stores_.clear();
  in_order_.clear();
  commits_.clear();
  const auto mention = [&](OpId store) { stores_.push_back({store, store, history_.drain[store], 0}); };
  for (const Want& want : wants) {
    if (want.kind == Want::Kind::kNothing) continue;
    mention(want.store);
    if (want.kind == Want::Kind::kInOrder) mention(want.other);
  }
  std::sort(stores_.begin(), stores_.end(),
            [](const Bounds& a, const Bounds& b) { return a.store < b.store; });
  stores_.erase(std::unique(stores_.begin(), stores_.end(),
                            [](const Bounds& a, const Bounds& b) { return a.store == b.store; }),
                stores_.end());
  for (const Want& want : wants) {
    if (want.kind == Want::Kind::kNothing) continue;
    const uint32_t place = place_of(want.store);
    if (want.kind == Want::Kind::kCommitAfter)
      stores_[place].after = std::max(stores_[place].after, want.other);
    if (want.kind == Want::Kind::kCommitBefore)
      stores_[place].before = std::min(stores_[place].before, want.other);
    if (want.kind == Want::Kind::kInOrder) in_order_.emplace_back(place, place_of(want.other));
  }
  for (uint32_t b = 1; b < stores_.size(); ++b)
    for (uint32_t a = b; a-- > 0;)
      if (history_.ops[stores_[a].store].thread == history_.ops[stores_[b].store].thread) {
        in_order_.emplace_back(a, b);
        break;
      }
  for (const auto& [before, after] : in_order_) ++stores_[after].waits_for;
  ready_.clear();
  for (uint32_t i = 0; i < stores_.size(); ++i)
    if (stores_[i].waits_for == 0) ready_.push_back(i);
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Bounds& now = stores_[ready_[i]];
    if (now.after >= now.before) return false;
    commits_.push_back({now.store, now.after});
    for (const auto& [before, after] : in_order_) {
      if (before != ready_[i]) continue;
      stores_[after].after = std::max(stores_[after].after, now.after);
      if (--stores_[after].waits_for == 0) ready_.push_back(after);
    }
  }
  return commits_.size() == stores_.size();
}

}  // namespace heddle::store_buffer
