// What LiveTrace makes of a program that was calm, and told nothing of its locks (runtime/calm.h).
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "live/live_trace.h"

namespace heddle {

using runtime::Channel;
using runtime::Record;

// Not by itself yet: docs/design/sieve.md says what is missing.
static bool asks_for_calm() { return std::getenv("HEDDLE_CALM_AFTER") != nullptr; }

// Accesses are told only with what orders them.
void LiveTrace::ask_for_accesses(bool wants) {
  Channel& channel = reader_.channel();
  wants_accesses_ = wants;
  if (wants) {
    calm_until_ = sieve_.records();
    uint32_t calm = Channel::kCalm;
    channel.calm.compare_exchange_strong(calm, Channel::kCalmIsOver);
    channel.told_per_stretch = told_per_stretch_;
    return;
  }
  channel.told_per_stretch = 0;
  uint32_t not_yet = Channel::kNotCalmYet;
  if (!is_quiet_ && asks_for_calm()) channel.calm.compare_exchange_strong(not_yet, Channel::kCalm);
}

// A thread tells again what orders it. What it told before the calm cannot be compared with what comes.
void LiveTrace::stirred(const Record& record, uint32_t stream) {
  now_ = thread(stream).id;
  if (!std::exchange(is_stirred_, true)) forget_variables();
  const bool has_come_back = (record.extra & runtime::kHasComeBack) != 0;
  if (has_come_back && record.name < ChannelReader::kMostStreams && !thread(stream).blocks.empty())
    thread(stream).stirred = record;
}

// What the thread takes now comes from one who knew what its block had given back. If both are the same lock,
// that one has had it in between. Else it is not known by which ways it knew.
void LiveTrace::come_back(const Record& given, const Record& taken, const Event& now) {
  const auto other_stream = static_cast<uint32_t>(given.name);
  // What it did then is no part of what it does and has now.
  const std::string name_now(names_.name(Space::kThread, thread(other_stream).id));
  const ThreadId other = names_.table(Space::kThread).intern(fmt::format("{} (earlier)", name_now));
  Record lock = given;
  lock.name = 0;  // of the lock, which is not told
  Event event;
  event.thread = now.thread;
  event.site = sites_.site_of(lock);
  event.object = lock_at(lock, event.site);
  const auto add_as = [&](Operation operation) {
    event.operation = operation;
    if (operation == Operation::kPost || operation == Operation::kWait) return add(event);
    locks_.add(lock.address(), event);
  };
  const bool is_lock = (given.extra & runtime::kGaveLock) != 0;
  if (is_lock && given.address() == taken.address()) {
    add_as((given.extra & runtime::kGaveShared) != 0 ? Operation::kReleaseShared : Operation::kRelease);
    event.thread = other;
    event.site = kNoId;
    add_as(Operation::kAcquire);
    add_as(Operation::kRelease);
    return;
  }
  const std::string name(names_.name(Space::kLock, event.object));
  const auto way = [&](std::string_view what) {
    return told_names_.add(Space::kSemaphore, plain(fmt::format("{}_{}", what, name)));
  };
  event.object = way("what_followed");
  add_as(Operation::kPost);
  event.thread = other;
  event.site = kNoId;
  add_as(Operation::kWait);
  event.object = way("what_came_back_after");
  add_as(Operation::kPost);
  event.thread = now.thread;
  event.site = now.site;
  add_as(Operation::kWait);
}

}  // namespace heddle
