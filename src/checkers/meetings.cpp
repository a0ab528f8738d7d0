#include "checkers/meetings.h"

#include <algorithm>

namespace heddle {

uint32_t Meetings::add_chain() {
  chains_.emplace_back();
  return static_cast<uint32_t>(chains_.size() - 1);
}

void Meetings::clear_members() {
  for (Members& chain : chains_) chain.clear();
  ++generation_;
}

void Meetings::clear() {
  chains_.clear();
  sequences_.clear();
  numbers_.clear();
}

uint32_t Meetings::sequence(uint32_t parent, uint32_t chain) {
  const uint32_t next = static_cast<uint32_t>(sequences_.size());
  const auto [number, is_new] = numbers_.try_emplace(uint64_t{parent} << 32 | chain, next);
  if (is_new) {
    Sequence fresh;
    fresh.parent = parent;
    if (parent != kNoId) {
      fresh.chains = sequences_[parent].chains;
      fresh.chains.push_back(chain);
    }
    sequences_.push_back(std::move(fresh));
  }
  return number->second;
}

uint64_t Meetings::find(uint32_t number) {
  Sequence& sequence = sequences_[number];
  Places from = sequences_[sequence.parent].latest;
  from.push_back(static_cast<uint32_t>(chains_[sequence.chains.back()].all().size()));
  const bool again = sequence.generation == generation_;
  if (again && sequence.from == from) return 0;
  const auto is_old = [&](const Places& places) {
    return std::equal(places.begin(), places.end(), sequence.from.begin(),
                      [](uint32_t now, uint32_t then) { return now <= then; });
  };
  uint64_t steps = 0;
  Places places = from;
  while (std::find(places.begin(), places.end(), 0U) == places.end()) {
    if (again && is_old(places)) {
      places = sequence.latest;
      break;
    }
    ++steps;
    if (!step_back(sequence, places)) break;
  }
  if (std::find(places.begin(), places.end(), 0U) != places.end()) places.clear();
  sequence.generation = generation_;
  sequence.from = std::move(from);
  sequence.latest = std::move(places);
  return steps;
}

// Moves a member that knows another one back to the latest that does not. False: nobody knows anybody.
bool Meetings::step_back(const Sequence& sequence, Places& places) const {
  for (std::size_t earlier = 0; earlier < places.size(); ++earlier) {
    const Epoch epoch = at(sequence, earlier, places[earlier]).clock.epoch();
    const auto knows = [&](uint32_t member) { return dependencies_[member].clock.knows(epoch); };
    for (std::size_t later = 0; later < places.size(); ++later) {
      const std::span<const uint32_t> chain = chains_[sequence.chains[later]].all();
      const auto end = chain.begin() + places[later];
      if (later == earlier || !knows(*std::prev(end))) continue;
      const auto first =
          std::partition_point(chain.begin(), end, [&](uint32_t member) { return !knows(member); });
      places[later] = static_cast<uint32_t>(first - chain.begin());
      return true;
    }
  }
  return false;
}

}  // namespace heddle
