#include "checkers/sequential_spec/pointer_counts.h"

#include <algorithm>

namespace heddle::sequential_spec {

bool PointerCounts::is_around(const History& history, TaskId outer, TaskId inner) {
  const std::vector<Task>& tasks = history.tasks;
  while (tasks[inner].depth > tasks[outer].depth) inner = tasks[inner].parent;
  return inner == outer;
}

PointerCounts::Holder* PointerCounts::holder(uint32_t life, const Context& by) {
  std::vector<Holder>& all = holders_[life];
  const auto found = std::find_if(all.begin(), all.end(), [&](const Holder& holder) {
    return holder.task == by.task && holder.guard == by.guard;
  });
  return found == all.end() ? nullptr : &*found;
}

void PointerCounts::take(uint32_t life, NodeId node, const Context& by) {
  Holder* taker = holder(life, by);
  if (taker == nullptr) {
    lives_[key_of(by.task, by.guard)].push_back(life);
    taker = &holders_[life].emplace_back();
    taker->task = by.task;
    taker->guard = by.guard;
  }
  taken_.push_back({node, taker->last, false});
  taker->last = static_cast<uint32_t>(taken_.size() - 1);
  ++taker->number;
}

PointerCounts::Dropped PointerCounts::drop(uint32_t life, const Context& by) {
  Holder* const dropper = holder(life, by);
  if (dropper == nullptr || dropper->number == 0) return {};
  Taken& take = taken_[dropper->last];
  take.is_undone = true;
  const bool was_seen = dropper->seen == dropper->number;
  dropper->last = take.before;
  dropper->seen = std::min(dropper->seen, --dropper->number);
  return {take.node, was_seen};
}

void PointerCounts::die(uint32_t life) {
  for (Holder& holder : holders_[life]) {
    holder.last = kNone;
    holder.number = holder.seen = 0;
  }
}

bool PointerCounts::may_be_borrowed(const History& history, uint32_t life, uint32_t number,
                                    const Context& by) const {
  const auto found = holders_.find(life);
  if (number == 0 || found == holders_.end()) return false;
  uint64_t of_others = 0;
  for (const Holder& holder : found->second)
    if (!is_around(history, holder.task, by.task)) of_others += holder.number;
  return number <= of_others;
}

void PointerCounts::look(const History& history, uint32_t life, uint32_t number, const Context& by,
                         NodeId node) {
  Look& look = looks_.emplace_back();
  look.node = node;
  look.number = number;
  for (Holder& holder : holders_[life]) {
    if (holder.number == 0 || is_around(history, holder.task, by.task)) continue;
    look.borrowed.push_back(holder.last);
    holder.seen = holder.number;
  }
}

void PointerCounts::end(TaskId task, MaybeId guard) {
  const auto found = lives_.find(key_of(task, guard));
  if (found == lives_.end()) return;
  for (const uint32_t life : found->second)
    std::erase_if(holders_[life],
                  [&](const Holder& holder) { return holder.task == task && holder.guard == guard; });
  lives_.erase(found);
}

void PointerCounts::settle(History& history) const {
  std::vector<uint32_t> undone;  // by take: of it and of those before it
  undone.reserve(taken_.size());
  for (const Taken& take : taken_)
    undone.push_back((take.before == kNone ? 0 : undone[take.before]) + (take.is_undone ? 1 : 0));
  for (const Look& look : looks_) {
    uint64_t borrowed = 0;
    for (const uint32_t last : look.borrowed) borrowed += undone[last];
    if (look.number > borrowed) history.undo(look.node);
  }
}

}  // namespace heddle::sequential_spec
