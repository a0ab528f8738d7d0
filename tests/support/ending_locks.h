// A trace whose locks end, as those of a running program do: their numbers stand for other locks then.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/pipeline.h"
#include "support/read_events.h"
#include "trace/names.h"
#include "trace/source.h"

namespace heddle::test {

class EndingLocks : public TraceSource {
 public:
  // A lock ends each time it was given back `uses` times and nobody has it; 0: after its last use. Batches
  // have `batch` events.
  EndingLocks(const std::string& trace, unsigned uses, std::size_t batch)
      : reader_("trace", trace), events_(read_events(trace)), batch_(batch) {
    while (!reader_.next().empty()) {
    }
    for (std::size_t space = 0; space < kSpaces; ++space) copy_names(static_cast<Space>(space));
    for (SiteId site = 0; site < reader_.names().sites().size(); ++site)
      names_.sites().append(reader_.names().sites()[site]);
    find_lives(uses);
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (is_lock(events_[i])) last_[events_[i].object] = i;
    for (const uint32_t lock : never_ending_) last_[lock] = events_.size();
  }

  // With every life of a lock a lock of its own.
  const std::vector<Event>& events() const { return events_; }

  EventBatch next() override {
    ended_.clear();
    for (const auto& [life, number] : numbers_)
      if (last_[life] < first_) ended_.push_back(number);
    std::erase_if(numbers_, [&](const auto& one) { return last_[one.first] < first_; });
    unused_.insert(unused_.end(), ended_.begin(), ended_.end());
    const std::size_t begin = first_;
    told_.clear();
    for (; first_ < std::min(begin + batch_, events_.size()); ++first_) {
      told_.push_back(events_[first_]);
      if (is_lock(told_.back())) told_.back().object = number(told_.back().object);
    }
    return {begin, told_, ended_};
  }
  const Names& names() const override { return names_; }
  std::string where(EventIndex index) const override { return fmt::format("event {}", index); }

 private:
  static bool is_lock(const Event& event) { return info(event.operation).space == Space::kLock; }

  void copy_names(Space space) {
    const StringTable& from = reader_.names().table(space);
    for (uint32_t id = 0; id < from.size(); ++id) names_.table(space).append(from[id]);
  }

  void find_lives(unsigned uses) {
    struct Life {
      uint32_t number;
      unsigned held = 0;
      unsigned given_back = 0;
    };
    std::map<uint32_t, Life> present;  // by lock
    uint32_t lives = 0;
    for (Event& event : events_) {
      if (!is_lock(event)) continue;
      const auto [found, is_new] = present.try_emplace(event.object, Life{lives});
      Life& life = found->second;
      if (is_new) ++lives;
      event.object = life.number;
      const bool acquires =
          event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared;
      life.held += acquires ? 1U : ~0U;
      life.given_back += acquires ? 0U : 1U;
      if (uses > 0 && life.held == 0 && life.given_back >= uses) present.erase(found);
    }
    for (const auto& [lock, life] : present)
      if (life.held > 0) never_ending_.push_back(life.number);
  }

  uint32_t number(uint32_t life) {
    if (const auto known = numbers_.find(life); known != numbers_.end()) return known->second;
    if (unused_.empty()) {
      StringTable& locks = names_.table(Space::kLock);
      if (made_ == locks.size()) locks.append(fmt::format("made{}", made_));
      return numbers_[life] = made_++;
    }
    numbers_[life] = unused_.back();
    unused_.pop_back();
    return numbers_[life];
  }

  TextReader reader_;
  std::vector<Event> events_;
  std::size_t batch_;
  Names names_;
  std::vector<uint32_t> never_ending_;
  std::map<uint32_t, std::size_t> last_;  // by life: its last event
  std::size_t first_ = 0;                 // of the next batch
  std::map<uint32_t, uint32_t> numbers_;  // of the lives that have begun and not ended
  std::vector<uint32_t> unused_;
  uint32_t made_ = 0;
  std::vector<Event> told_;
  std::vector<uint32_t> ended_;
};

// As of a running program.
inline std::vector<Finding> check_ending(EndingLocks& trace, const CheckerEntry& entry,
                                         const CheckerOptions& options = {}) {
  Findings findings;
  CheckerContext context{trace.names(), findings, options};
  context.can_be_read_again = false;
  context.is_live = true;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(entry.make(context));
  run_checkers(trace, checkers);
  return findings.list();
}

}  // namespace heddle::test
