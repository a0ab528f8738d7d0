// What LiveTrace makes of the end of a calm, in which the program told nothing of its locks
// (runtime/spans.h).
#include <fmt/format.h>

#include <string>

#include "live/live_trace.h"

namespace heddle {

using runtime::Channel;
using runtime::Record;

// Accesses are told only with what orders them.
void LiveTrace::ask_for_accesses(bool wants) {
  Channel& channel = reader_.channel();
  wants_accesses_ = wants;
  uint32_t calm = wants ? Channel::kCalm : Channel::kNotCalmYet;
  if (wants) {
    calm_until_ = sieve_.records();
    channel.calm.compare_exchange_strong(calm, Channel::kCalmShouldEnd);
    channel.told_per_stretch = told_per_stretch_;
  } else {
    channel.told_per_stretch = 0;
    if (!is_quiet_) channel.calm.compare_exchange_strong(calm, Channel::kCalm);
  }
}

// Its threads need not follow what they would have to know for that.
void LiveTrace::rule_out_calm() {
  uint32_t calm = Channel::kNotCalmYet;
  reader_.channel().calm.compare_exchange_strong(calm, Channel::kCalmIsOver);
}

// A variable that stands for what is not known: by which ways others came to know what a block gave.
uint32_t LiveTrace::what_followed(const Record& given, std::string_view what) {
  const SiteId site = sites_.site_of(given);
  const bool is_lock = (given.extra & runtime::kGaveLock) != 0;
  const std::string of =
      is_lock ? std::string(names_.name(Space::kLock, lock_at(given, site))) : sites_.short_place(site);
  return told_names_.add(Space::kVariable, plain(fmt::format("{}_{}", what, of)));
}

void LiveTrace::after_calm(uint32_t stream, const Record& record) {
  Event event;
  event.thread = now_ = thread(stream).id;
  event.order = MemoryOrder::kRelaxed;
  switch (record.operation()) {
    // What was told before cannot be compared with what comes.
    case runtime::kToldCalmIsOver: return forget_variables();
    case runtime::kToldSpan:
      event.operation = Operation::kAtomicWrite;
      event.object = thread(stream).what_followed = what_followed(record, "what_followed");
      break;
    case runtime::kToldKnowsSpan: {
      if (record.name >= threads_.size()) return;
      event.operation = Operation::kAtomicRead;
      event.object = threads_[record.name].what_followed;
      if (event.object == kNoId) return;
      break;
    }
    default:
      if (!thread(stream).blocks.empty()) thread(stream).came_back = record;
      return;
  }
  event.site = sites_.site_of(record);
  add(event);
}

// What the thread takes now comes from one who told nothing, and knew what the thread's block had given back.
// If both are the same lock, that one has had it in between. Else it is not known by which ways it knew.
void LiveTrace::come_back(const Record& given, const Record& taken, const Event& now) {
  // What it did then is no part of what it does and has now.
  const std::string name =
      given.name < threads_.size() && threads_[given.name].id != kNoId
          ? fmt::format("{} (earlier)", names_.name(Space::kThread, threads_[given.name].id))
          : "another thread";
  const ThreadId other = names_.table(Space::kThread).intern(name);
  Record there = {};  // where the other one gave it back
  there.pc = given.caller;
  there.context = given.extra >> runtime::kGivenBits;
  const SiteId site_of_other = there.pc != 0 ? sites_.site_of(there) : kNoId;
  Record here = given;
  here.caller = here.name = 0;
  const SiteId site_of_given = sites_.site_of(here);
  Event event;
  const bool is_lock = (given.extra & runtime::kGaveLock) != 0;
  if (is_lock && given.address() == taken.address()) {
    // Under a number of its own: the real one is somebody's now, or not, and has its place among the others'.
    const std::string lock(names_.name(Space::kLock, lock_at(here, now.site)));
    event.object = told_names_.add(Space::kLock, fmt::format("{}[earlier]", lock));
    const auto have_it = [&](ThreadId thread, SiteId taken_at, SiteId given_at) {
      event.thread = thread;
      event.operation = Operation::kAcquire;
      event.site = taken_at;
      add(event);
      event.operation = Operation::kRelease;
      event.site = given_at;
      add(event);
    };
    have_it(now.thread, site_of_given, site_of_given);
    have_it(other, site_of_other, site_of_other);
    have_it(now.thread, now.site, now.site);
    return;
  }
  event.order = MemoryOrder::kRelaxed;
  const auto add_as = [&](ThreadId thread, Operation operation, uint32_t variable, SiteId site) {
    event.thread = thread;
    event.operation = operation;
    event.object = variable;
    event.site = site;
    add(event);
  };
  const uint32_t followed = what_followed(here, "what_followed");
  const uint32_t back = what_followed(here, "what_came_back_after");
  add_as(now.thread, Operation::kAtomicWrite, followed, site_of_given);
  add_as(other, Operation::kAtomicRead, followed, kNoId);
  add_as(other, Operation::kAtomicWrite, back, site_of_other);
  add_as(now.thread, Operation::kAtomicRead, back, now.site);
}

}  // namespace heddle
