#include "live/live_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "live/by_address.h"
#include "live/told_waits.h"
#include "runtime/flow.h"
#include "runtime/layout.h"

namespace heddle {

using runtime::Record;

namespace {

// Of memory accessed as a whole (memcpy, a loop over an array) only so much is told apart in a run: it serves
// to explain what synchronization alone shows. A recording has all of it.
constexpr uint64_t kMostBytesOfRun = 64;

// Larger ones carry their size where others carry their label (runtime/channel.h).
constexpr uint64_t kMostLabelledBytes = 255;
constexpr uint32_t kOrderMask = (1U << runtime::kOrderBits) - 1;

// Where others say who called, an assignment has labels.
Record without_caller(Record record) {
  record.caller = 0;
  return record;
}

// Where others say what is read, these say how many pointers there are.
Record without_number(Record record) {
  record.extra = 0;
  return record;
}

// What a wait counts as a semaphore's is called, where it has no name.
std::string_view what_is_awaited(const Record& waiting) {
  if (waiting.waits_for() == runtime::kForLatch) return "latch";
  return waiting.waits_for() == runtime::kForFuture ? "future" : "semaphore";
}

// HEDDLE_CALM_AFTER=N: a program is asked to be calm (runtime/calm.h) after so many records, with 0 from the
// beginning.
Sieve::Limits limits() {
  Sieve::Limits result;
  if (const char* const after = std::getenv("HEDDLE_CALM_AFTER"))
    result.calm = std::strtoull(after, nullptr, 10);
  return result;
}

// Not plain accesses and blocks.
bool is_seen_by_others(Operation operation) {
  return operation != Operation::kRead && operation != Operation::kWrite &&
         operation != Operation::kBeginAtomic && operation != Operation::kBeginDeterministic &&
         operation != Operation::kEnd &&
         !(operation >= Operation::kTaskBegin && operation <= Operation::kFocus);
}

}  // namespace

LiveTrace::LiveTrace(ChannelReader& reader, std::string program, Divided divided, IgnoresBlock ignores,
                     Sieve::LetsThrough lets_through)
    : reader_(reader),
      sieve_(lets_through, limits()),
      program_(std::move(program)),
      divided_(divided),
      tells_ends_(lets_through == Sieve::LetsThrough::kWhatMatters),
      ignores_(std::move(ignores)),
      sites_(reader, symbolizer_, names_),
      series_(reader.channel()),
      told_per_stretch_(reader.channel().told_per_stretch) {
  if (!sieve_.wants_accesses()) ask_for_accesses(false);
}

EventBatch LiveTrace::next() {
  // A question in between may have brought more.
  first_ += handed_out_;
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(handed_out_));
  races_.clear();
  // Those of events that are still to be handed out have not ended before the next.
  ended_locks_.clear();
  if (events_.empty()) ended_locks_.swap(ending_locks_);
  for (const uint32_t lock : ended_locks_) told_names_.end(Space::kLock, lock);
  const auto idle = [&] {
    look_for_standstills();
    if (idle_) idle_();
  };
  while (events_.empty()) {
    const auto records = reader_.next(idle);
    if (records.empty()) break;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto& told = records[i];
      fetch(records, i + kAhead);
      if (told.stream >= ChannelReader::kMostStreams) continue;
      if (!is_quiet_ && sieve_.passes_as_it_is(told)) {
        translate(told.stream, told.record);
        continue;
      }
      passed_.clear();
      sieve_.add(told, passed_);
      for (const auto& passed : passed_) {
        if (is_quiet_ && !is_known_to_race(passed)) continue;
        translate(passed.stream, passed.record);
      }
    }
    if (quiet_after_ != 0 && !is_quiet_ && sieve_.records() >= quiet_after_) become_quiet();
    if (sieve_.records() >= next_look_) {
      look_for_standstills();
      next_look_ = sieve_.records() + kLookEvery;
    }
    if (const bool wants = sieve_.wants_accesses() && !is_quiet_; wants != wants_accesses_)
      ask_for_accesses(wants);
    if (!sieve_.may_become_calm()) rule_out_calm();
  }
  handed_out_ = events_.size();
  return {first_, events_, ended_locks_};
}

// What the record is about, before its turn.
void LiveTrace::fetch(std::span<const ChannelReader::ToldRecord> records, std::size_t next) const {
  if (next >= records.size() || records[next].stream >= threads_.size()) return;
  flow_.fetch(threads_[records[next].stream].flow, records[next].record);
}

// From here on accesses and what orders them are not told together.
void LiveTrace::become_quiet() {
  is_quiet_ = true;
  reader_.channel().is_quiet = 1;
}

// Of a quiet program an access counts only if it is told because of a race; what came before it is no longer
// comparable.
bool LiveTrace::is_known_to_race(const Sieve::ToldRecord& told) {
  constexpr std::array kAccesses = {Operation::kRead,         Operation::kWrite,
                                    Operation::kAtomicRead,   Operation::kAtomicWrite,
                                    Operation::kAtomicUpdate, Operation::kAtomicCompareFail};
  const auto is_told = [&](Operation operation) {
    return told.record.operation() == static_cast<uint8_t>(operation);
  };
  if (std::none_of(kAccesses.begin(), kAccesses.end(), is_told)) return true;
  if (thread(told.stream).race.what == 0) return false;
  now_ = thread(told.stream).id;
  forget_variables();
  return true;
}

std::string LiveTrace::where(EventIndex index) const { return fmt::format("{}: event {}", program_, index); }

LiveTrace::Thread& LiveTrace::thread(uint32_t stream) {
  if (stream >= threads_.size())
    threads_.resize(std::max<std::size_t>(stream + std::size_t{1}, threads_.size() * 2));
  Thread& thread = threads_[stream];
  if (thread.id == kNoId) {
    StringTable& table = names_.table(Space::kThread);
    thread.id = table.append(table.size() == 0 ? "main" : fmt::format("T{}", table.size()));
  }
  return thread;
}

void LiveTrace::translate(uint32_t stream, const Record& record) {
  switch (record.operation()) {
    case runtime::kToldModule:
      symbolizer_.add({reader_.text(record.name), record.caller, record.address(), record.pc});
      return;
    case runtime::kToldFree:
      now_ = thread(stream).id;
      if (record.extra != runtime::kIsAnother && divided_ == Divided::kRecorded) return give_back(record);
      return forget(record.address(), record.name);
    case runtime::kToldRaceEarlier: {
      if (record.extra >= ChannelReader::kMostStreams) return;
      Thread& racing = thread(stream);
      // Of several before one record, all are of a series.
      if (racing.race.what != 0) racing.races.push_back(racing.race);
      racing.race = record;
      racing.race.ticket = 0;
      return;
    }
    case runtime::kToldRace: thread(stream).race.ticket = record.address(); return;  // the next record
    case runtime::kToldSeries: return ToldSeries::begin(thread(stream).series, record);
    case runtime::kToldSeriesWords:
      if (ToldSeries::add(thread(stream).series, record)) tell_series(stream);
      return;
    case runtime::kToldRaceFree: {
      Thread& freeing = thread(stream);
      return race_with_free(std::exchange(freeing.race, {}), record, freeing.id);
    }
    case Sieve::kSkipped: now_ = thread(stream).id; return forget_variables();
    case runtime::kToldConstruct: {
      ToldFlow::Thread& flow = thread(stream).flow;
      if (record.extra == 0) return flow_.begin_construct(flow, sites_.short_place(sites_.site_of(record)));
      return flow_.end_construct(flow);
    }
    case runtime::kToldOwnRead:
      return flow_.read_own(record, thread(stream).id, sites_.short_place(sites_.site_of(record)));
    case runtime::kToldOwnWrite: return flow_.write_own(record, thread(stream).id);
    case runtime::kToldBadJump: return flow_.end_by_jump(sites_.short_place(sites_.site_of(record)));
    case runtime::kToldUnfollowed: return flow_.call_unfollowed(record.address());
    case runtime::kToldCalmIsOver:
    case runtime::kToldSpan:
    case runtime::kToldKnowsSpan:
    case runtime::kToldCameBack: return after_calm(stream, record);
    default: break;
  }
  if (record.operation() >= kStoredOperations) return;
  const auto operation = static_cast<Operation>(record.operation());
  if (operation == Operation::kAssign || operation == Operation::kBranch)
    return compute(record, thread(stream));
  const bool names_thread = operation == Operation::kFork || operation == Operation::kJoin;
  if (names_thread && record.extra >= ChannelReader::kMostStreams) return;
  Event event;
  event.operation = operation;
  event.thread = now_ = thread(stream).id;
  event.site = sites_.site_of(record);
  if (thread(stream).came_back.what != 0)
    come_back(std::exchange(thread(stream).came_back, {}), record, event);
  if (is_seen_by_others(operation) &&
      thread(stream).looks.looks_again(operation, record.address(), event.site))
    judge_apart(thread(stream), event.site);
  switch (event.operation) {
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
      event.value = names_.table(Space::kValue).intern(fmt::format_int(record.extra).str());
      return access(without_number(record), event, thread(stream));
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
      event.order =
          static_cast<MemoryOrder>(std::min<uint32_t>(record.extra & kOrderMask, kMemoryOrders - 1));
      [[fallthrough]];
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
      access(record, event, thread(stream));
      if (thread(stream).race.what != 0 && !events_.empty())
        race_with(std::exchange(thread(stream).race, {}), record, events_.back());
      return;
    case Operation::kAcquire:
    case Operation::kAcquireShared:
      event.tries = record.extra == runtime::kTries;
      if (record.extra == runtime::kTogether) event.order = MemoryOrder::kAcqRel;
      [[fallthrough]];
    case Operation::kRelease:
    case Operation::kReleaseShared:
      event.object = lock_at(record, event.site);
      return locks_.add(record.address(), event);
    case Operation::kFork:
      thread(record.extra);  // before references to others
      flow_.fork(thread(stream).flow, thread(record.extra).flow);
      [[fallthrough]];
    case Operation::kJoin:
      event.object = thread(record.extra).id;
      event.tries = operation == Operation::kJoin && tells_ends_;
      return add(event);
    case Operation::kThreadBegin: return add(event);
    case Operation::kThreadEnd:
      locks_.end_thread(event);
      flow_.end_thread(thread(stream).flow);
      return add(event);
    case Operation::kBeginAtomic: has_begun_atomic_ = true; return block(record, event, thread(stream));
    case Operation::kBeginDeterministic:
      has_begun_deterministic_ = true;
      return block(record, event, thread(stream));
    case Operation::kEnd: return block(record, event, thread(stream));
    case Operation::kArrive:
    case Operation::kLeave: return barrier(record, event, thread(stream));
    case Operation::kPost:
    case Operation::kWait:
      event.object = object_at(Space::kSemaphore, record, event.site, "semaphore");
      return add(event);
    case Operation::kSync:
      event.order = static_cast<MemoryOrder>(std::min<uint32_t>(record.extra, kMemoryOrders - 1));
      event.object = object_at(Space::kSemaphore, record, event.site, "semaphore");
      return add(event);
    case Operation::kNotify:
    case Operation::kWake:
      event.object = object_at(Space::kCondition, record, event.site, "condition");
      return add(event);
    case Operation::kFence:
      event.order = static_cast<MemoryOrder>(std::min<uint32_t>(record.extra, kMemoryOrders - 1));
      return add(event);
    case Operation::kTaskBegin: return task(record, event, thread(stream));
    case Operation::kTaskEnd: ToldFlow::end_task(thread(stream).flow); return add(event);
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
      if (thread(stream).flow.tasks > 0) return add(event);
      return flow_.lose_maybe(sites_.short_place(event.site));
    case Operation::kAssign:
    case Operation::kBranch: return;  // above
    case Operation::kFocus: return focus(record, event);
    case Operation::kCommit:
    case Operation::kAlloc:
    case Operation::kFree:
    case Operation::kNested: return;  // never told
  }
}

void LiveTrace::access(const Record& record, Event event, Thread& thread) {
  accessing_ = &record;
  accessing_at_ = event.site;
  flow_.use(record.address(), record.address() + record.size());
  if ((record.extra >> runtime::kOrderBits) == 0 || record.size() > kMostLabelledBytes) {
    variables_.access(record.address(), std::min<uint64_t>(record.size(), most_bytes()),
                      [&](uint32_t variable) {
                        event.object = variable;
                        add(event);
                      });
  } else {
    event.local = flow_.local(thread.flow, record.extra >> runtime::kOrderBits);
    pieces_.clear();
    variables_.access(record.address(), record.size(),
                      [&](uint32_t variable) { pieces_.push_back(variable); });
    if (pieces_.size() == 1) {
      event.object = pieces_[0];
      add(event);
    } else {
      Parts::add_for_each(event, pieces_, names_, events_);
    }
  }
  accessing_ = nullptr;
}

// An assignment or a branch.
void LiveTrace::compute(const Record& record, Thread& thread) {
  Event event;
  event.operation = static_cast<Operation>(record.operation());
  event.thread = now_ = thread.id;
  event.site = sites_.site_of(event.operation == Operation::kAssign ? without_caller(record) : record);
  flow_.set_locals(thread.flow, record, event);
  if (event.object != kNoId) add(event);
}

void LiveTrace::task(const Record& record, Event event, Thread& thread) {
  event.object =
      told_names_.add(Space::kTask, plain(fmt::format("{}[{}]", thread.flow.place(), record.name)));
  ++thread.flow.tasks;
  add(event);
}

void LiveTrace::focus(const Record& record, Event event) {
  const uint64_t begin = record.address();
  const uint64_t end = begin + record.extra;
  if (flow_.is_dead_focus(begin, end, sites_.short_place(event.site))) return;
  accessing_ = &record;
  accessing_at_ = event.site;
  variables_.access(begin, record.extra, [&](uint32_t variable) {
    event.object = variable;
    add(event);
  });
  accessing_ = nullptr;
}

uint64_t LiveTrace::most_bytes() const {
  return divided_ == Divided::kRecorded ? ~uint64_t{0} : kMostBytesOfRun;
}

// What was told of the same variable, the checker sees itself, with its call stack, unless the variable has
// begun a new life since.
LiveTrace::Seen LiveTrace::seen_by_checkers(const Record& earlier, const Record& now) const {
  // Memos hold fewer bits of the address.
  const uint64_t before = earlier.address() & runtime::kAddressMask;
  const uint64_t here = now.address() & runtime::kAddressMask;
  const uint64_t size = earlier.name >> 1;
  const bool is_within =
      here <= before && before + size <= here + std::min<uint64_t>(now.size(), most_bytes());
  const bool is_cell = now.size() == 8 && here % 8 == 0 && before % 8 == 0 && before <= here &&
                       here + 8 <= before + std::min(size, most_bytes());
  const bool is_told = (earlier.name & 1) != 0 && (is_within || is_cell);
  const auto operation = static_cast<Operation>(earlier.what >> 48 & 0xFF);
  const bool is_atomic = operation != Operation::kRead && operation != Operation::kWrite &&
                         operation != Operation::kFree;  // always told
  if (!is_told && !is_atomic) return Seen::kNotTold;
  // To access a part of it divides the variable, and nothing that was done to the whole is known any more.
  if (is_atomic && !is_within && !is_cell) return Seen::kForgotten;
  return has_left_out() ? Seen::kForgotten : Seen::kSeen;
}

void LiveTrace::race_with(const Record& earlier, const Record& now, const Event& later) {
  if (earlier.what == 0) return;
  const Seen seen = seen_by_checkers(earlier, now);
  has_untold_race_ |= seen == Seen::kNotTold;
  if (seen != Seen::kSeen) add_race(earlier, later);
}

// In a running program only such an end of memory's life is checked.
void LiveTrace::race_with_free(const Record& earlier, const Record& now, ThreadId freeing) {
  if (earlier.what == 0 || divided_ == Divided::kRecorded) return;  // a recording has the free itself
  Event free;
  free.operation = Operation::kFree;
  free.tries = true;
  free.thread = now_ = freeing;
  free.site = accessing_at_ = sites_.site_of(now);
  accessing_ = &now;
  variables_.access(now.address(), now.size(), [&](uint32_t variable) {
    if (free.object == kNoId) free.object = variable;
  });
  accessing_ = nullptr;
  if (free.object == kNoId) return;
  if (seen_by_checkers(earlier, now) == Seen::kSeen) return add(free);
  add_race(earlier, free);
}

void LiveTrace::add_race(const Record& earlier, const Event& later) {
  ToldRace race{later, later, first_ + events_.size() - (events_.empty() ? 0 : 1)};
  race.earlier.operation = static_cast<Operation>(earlier.what >> 48 & 0xFF);
  race.earlier.tries = race.earlier.operation == Operation::kFree;
  race.earlier.thread = thread(earlier.extra).id;
  race.earlier.site = earlier.pc == 0 ? kNoId : sites_.site_of(earlier);
  races_.push_back(race);
}

uint32_t LiveTrace::lock_at(const Record& record, SiteId site) {
  return locks_.number_at(record.address(), [&] {
    return told_names_.add_or_reuse(Space::kLock, {record.address(), record.name, site, "mutex"});
  });
}

std::vector<ThreadId> LiveTrace::ids_by_stream() const {
  std::vector<ThreadId> ids;
  ids.reserve(threads_.size());
  for (const Thread& thread : threads_) ids.push_back(thread.id);
  return ids;
}

Waits LiveTrace::waits() {
  // What is told of the objects first gives them their names.
  passed_.clear();
  sieve_.pass_kept(passed_);
  for (const auto& told : passed_) translate(told.stream, told.record);
  const auto number_of = [&](Space space, const Record& record, SiteId site) {
    switch (space) {
      case Space::kLock: return lock_at(record, site);
      case Space::kBarrier: return object_at(space, record, site, "barrier");
      case Space::kCondition: return object_at(space, record, site, "condition");
      default: return object_at(space, record, site, what_is_awaited(record));
    }
  };
  return told_waits(sieve_, ids_by_stream(),
                    {[&](const Record& record) { return sites_.site_of(record); }, number_of});
}

// Names nothing until there is something to tell.
void LiveTrace::look_for_standstills() {
  if (is_quiet_) return;
  if (std::exchange(looked_at_waits_, sieve_.waits()) == sieve_.waits()) return;
  tsl::robin_map<uint64_t, uint32_t, MixHash> numbers;  // by address
  const auto number_of = [&](Space, const Record& record, SiteId) {
    return numbers.try_emplace(record.address(), static_cast<uint32_t>(numbers.size())).first->second;
  };
  const Waits unnamed = told_waits(sieve_, ids_by_stream(), {[](const Record&) { return kNoId; }, number_of});
  for (ThreadId waiting = 0; waiting < unnamed.threads().size(); ++waiting) {
    if (unnamed.threads()[waiting].wait.what == Wait::For::kNothing) continue;
    std::vector<ThreadId> members;
    for (const BlockedThread& blocked : unnamed.circle_of(waiting)) members.push_back(blocked.thread);
    std::sort(members.begin(), members.end());
    if (!members.empty() && known_standstills_.insert(members).second)
      standstills_.push_back(waits().circle_of(waiting));
  }
}

void LiveTrace::block(const Record& record, Event event, Thread& thread) {
  std::vector<Event>& open = thread.blocks;
  if (event.operation == Operation::kEnd) {
    if (open.empty()) return;
    event.object = open.back().object;
    open.pop_back();
    if (event.object != kNoId) add(event);
    return;
  }
  const auto [known, is_new] = blocks_.try_emplace(record.name, kNoId);
  if (is_new) {
    const std::string name = (record.name & runtime::kNameInChannel) != 0
                                 ? reader_.text(record.name & ~runtime::kNameInChannel)
                                 : told_names_.text_at(record.name);
    if (!ignores_ || !ignores_(name)) known.value() = names_.table(Space::kBlock).intern(plain(name));
  }
  event.object = known->second;
  if (open.empty()) thread.looks.outermost_block_begins();
  open.push_back(event);
  if (record.address() != 0) told_names_.meet_object(record.address(), record.pc);
  if (event.object != kNoId) add(event);
}

void LiveTrace::judge_apart(const Thread& thread, SiteId site) {
  std::size_t first = thread.blocks.size();
  while (first > 0 && thread.blocks[first - 1].operation == Operation::kBeginAtomic) --first;
  for (std::size_t i = thread.blocks.size(); i > first; --i) {
    Event end = thread.blocks[i - 1];
    end.operation = Operation::kEnd;
    end.site = site;
    if (end.object != kNoId) add(end);
  }
  for (std::size_t i = first; i < thread.blocks.size(); ++i)
    if (thread.blocks[i].object != kNoId) add(thread.blocks[i]);
}

void LiveTrace::barrier(const Record& record, Event event, Thread& thread) {
  std::vector<uint32_t>& arrivals = thread.arrivals[record.address()];
  if (event.operation == Operation::kArrive) {
    event.object = object_at(Space::kBarrier, record, event.site, "barrier");
    arrivals.push_back(event.object);
  } else {
    if (arrivals.empty()) return;  // it came before there was anybody to tell
    event.object = arrivals.front();
    arrivals.erase(arrivals.begin());
  }
  add(event);
}

uint32_t LiveTrace::object_at(Space space, const Record& record, SiteId site, std::string_view kind) {
  auto& known = space == Space::kBarrier ? barriers_ : space == Space::kSemaphore ? semaphores_ : conditions_;
  const auto [entry, is_new] = known.try_emplace(record.address(), kNoId);
  if (is_new) entry.value() = told_names_.add(space, {record.address(), record.name, site, kind});
  return entry->second;
}

uint32_t LiveTrace::begin_variable(uint64_t address, bool is_part) {
  const uint64_t given = accessing_->name;  // all of what is accessed at once has one name, as in recordings
  if (accessing_ == &series_access_) accessing_at_ = sites_.site_of(series_access_);
  if (!is_part)
    if (const uint32_t part = begin_in_freed(address); part != kNoId) return part;
  const std::size_t known = names_.table(Space::kVariable).size();
  const ToldNames::Thing thing = {address, given, accessing_at_, "memory"};
  const uint32_t variable =
      is_part ? told_names_.add(Space::kVariable, thing) : told_names_.add_or_reuse(Space::kVariable, thing);
  // It may be marked as focus, which is refused of a variable whose life is over.
  if (variable < known && flow_.is_followed()) add_lives(Operation::kAlloc, variable, 1);
  return variable;
}

void LiveTrace::divide_variable(uint32_t whole, std::span<const uint32_t> parts) {
  const bool is_forgotten = divided_ == Divided::kForgotten;
  if (!is_forgotten || flow_.is_followed())
    for (const uint32_t part : parts) names_.parts().push_back({part, whole});
  if (is_forgotten) add_lives(Operation::kFree, whole, 1);
}

// Parts stay what they are: to be used again they would have to be whole in one life and not in another.
void LiveTrace::end_variables(uint32_t first, uint32_t count, bool is_part) {
  add_lives(Operation::kFree, first, count);
  if (is_part) return;
  if (parts_of_freed_.empty()) return told_names_.end_row(Space::kVariable, first, count);
  for (uint32_t variable = first; variable < first + count; ++variable)
    if (parts_of_freed_.erase(variable) == 0) told_names_.end(Space::kVariable, variable);
}

void LiveTrace::add_lives(Operation operation, uint32_t first, uint32_t count) {
  Event event;
  event.operation = operation;
  event.thread = now_;
  event.object = first;
  add_lives(event, count);
}

void LiveTrace::forget(uint64_t address, uint64_t size) {
  const uint64_t end = address + size;
  end_freed(address, end);
  variables_.forget(address, size);
  forget_objects(address, end);
}

void LiveTrace::forget_objects(uint64_t address, uint64_t end) {
  flow_.give_back(address, end);
  locks_.forget(address, end, ending_locks_);
  if (!tells_ends_) ending_locks_.clear();
  forget_in(barriers_, address, end);
  forget_in(semaphores_, address, end);
  forget_in(conditions_, address, end);
  told_names_.forget_objects(address, end);
}

// What comes may be ordered with what was by what was left out.
void LiveTrace::forget_variables() {
  has_forgotten_variables_ = true;
  variables_.forget_all();
  told_names_.forget_all_objects();
}

}  // namespace heddle
