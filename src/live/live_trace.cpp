#include "live/live_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "live/by_address.h"
#include "live/told_waits.h"
#include "runtime/flow.h"
#include "runtime/layout.h"
#include "trace/stand_in.h"

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

// What the program says is not believed: a number that no runtime gives is none.
uint32_t label_in(uint64_t said) {
  const auto label = static_cast<uint32_t>(said);
  constexpr uint32_t kMost = 1U << 22;
  return label < kMost ? label : 0;
}

// Names of a trace hold no white space, bars, brackets or commas.
std::string plain(std::string name) {
  for (char& c : name)
    if (c == ' ' || c == '|' || c == '(' || c == ')' || c == ',' || c == '\t' || c == '\n') c = '_';
  return name;
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
      sieve_(lets_through),
      program_(std::move(program)),
      divided_(divided),
      ignores_(std::move(ignores)),
      sites_(reader, symbolizer_, names_) {}

EventBatch LiveTrace::next() {
  // A question in between may have brought more.
  first_ += handed_out_;
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(handed_out_));
  races_.clear();
  const auto idle = [&] {
    look_for_standstills();
    if (idle_) idle_();
  };
  while (events_.empty()) {
    const auto records = reader_.next(idle);
    if (records.empty()) break;
    passed_.clear();
    for (const auto& told : records)
      if (told.stream < ChannelReader::kMostStreams) sieve_.add(told, passed_);
    for (const auto& told : passed_) translate(told.stream, told.record);
    if (sieve_.records() >= next_look_) {
      look_for_standstills();
      next_look_ = sieve_.records() + kLookEvery;
    }
  }
  handed_out_ = events_.size();
  return {first_, events_};
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
    case runtime::kToldFree: now_ = thread(stream).id; return forget(record.address(), record.name);
    case runtime::kToldRaceEarlier:
      if (record.extra < ChannelReader::kMostStreams) thread(stream).race = record;
      return;
    case runtime::kToldRace: return;  // the next record
    case runtime::kToldRaceFree: {
      Thread& freeing = thread(stream);
      return race_with_free(std::exchange(freeing.race, {}), record, freeing.id);
    }
    case Sieve::kSkipped: now_ = thread(stream).id; return forget_variables();
    case runtime::kToldConstruct: return construct(record, thread(stream));
    case runtime::kToldUnfollowed: ++unfollowed_[record.address()]; return;
    default: break;
  }
  if (record.operation() >= kStoredOperations) return;
  const auto operation = static_cast<Operation>(record.operation());
  const bool names_thread = operation == Operation::kFork || operation == Operation::kJoin;
  if (names_thread && record.extra >= ChannelReader::kMostStreams) return;
  Event event;
  event.operation = operation;
  event.thread = now_ = thread(stream).id;
  event.site = sites_.site_of(operation == Operation::kAssign ? without_caller(record) : record);
  if (is_seen_by_others(operation) &&
      thread(stream).looks.looks_again(operation, record.address(), event.site))
    judge_apart(thread(stream), event.site);
  switch (event.operation) {
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
      event.order =
          static_cast<MemoryOrder>(std::min<uint32_t>(record.extra & kOrderMask, kMemoryOrders - 1));
      [[fallthrough]];
    case Operation::kRead:
    case Operation::kWrite:
      access(record, event, thread(stream));
      if (thread(stream).race.what != 0 && !events_.empty())
        race_with(std::exchange(thread(stream).race, {}), record, events_.back());
      return;
    case Operation::kAcquire:
    case Operation::kAcquireShared: event.tries = record.extra != 0; [[fallthrough]];
    case Operation::kRelease:
    case Operation::kReleaseShared: return lock(record, event);
    case Operation::kFork:
      if (const auto& from = thread(stream).constructs; !from.empty()) {
        std::string place = from.back();
        thread(record.extra).constructs = {std::move(place)};
      }
      [[fallthrough]];
    case Operation::kJoin: event.object = thread(record.extra).id; return add(event);
    case Operation::kThreadBegin: return add(event);
    case Operation::kThreadEnd:
      release_all(event);
      if (uint32_t& number = thread(stream).flow_number; number != kNoId)
        unused_flow_numbers_.push_back(std::exchange(number, kNoId));
      return add(event);
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd: return block(record, event, thread(stream));
    case Operation::kArrive:
    case Operation::kLeave: return barrier(record, event, thread(stream));
    case Operation::kPost:
    case Operation::kWait:
    case Operation::kSync:
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
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd: return add(event);
    case Operation::kAssign:
      event.object = flow_names_.local(flow_number(thread(stream)), label_in(record.address()));
      event.local = flow_names_.list(flow_number(thread(stream)),
                                     {label_in(record.name), label_in(record.name >> 32),
                                      label_in(record.caller), label_in(record.caller >> 32)});
      if (event.object != kNoId) add(event);
      return;
    case Operation::kBranch:
      event.object = flow_names_.local(flow_number(thread(stream)), label_in(record.address()));
      if (event.object != kNoId) add(event);
      return;
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
  if (!dead_.empty()) come_alive(record.address(), record.address() + record.size());
  if ((record.extra >> runtime::kOrderBits) == 0 || record.size() > kMostLabelledBytes) {
    variables_.access(record.address(), std::min<uint64_t>(record.size(), most_bytes()),
                      [&](uint32_t variable) {
                        event.object = variable;
                        add(event);
                      });
  } else {
    event.local = flow_names_.local(flow_number(thread), label_in(record.extra >> runtime::kOrderBits));
    pieces_.clear();
    variables_.access(record.address(), record.size(),
                      [&](uint32_t variable) { pieces_.push_back(variable); });
    Parts::add_for_each(event, pieces_, names_, events_);
  }
  accessing_ = nullptr;
}

uint32_t LiveTrace::flow_number(Thread& thread) {
  if (thread.flow_number != kNoId) return thread.flow_number;
  if (unused_flow_numbers_.empty()) return thread.flow_number = flow_numbers_++;
  thread.flow_number = unused_flow_numbers_.back();
  unused_flow_numbers_.pop_back();
  return thread.flow_number;
}

void LiveTrace::task(const Record& record, Event event, Thread& thread) {
  const std::string place = thread.constructs.empty() ? "task" : thread.constructs.back();
  event.object = names_.table(Space::kTask)
                     .append(unique(Space::kTask, plain(fmt::format("{}[{}]", place, record.name))));
  add(event);
}

void LiveTrace::construct(const Record& record, Thread& thread) {
  follows_data_ = true;
  if (record.extra == 0) {
    const std::string place = sites_.short_place(sites_.site_of(record));
    thread.constructs.push_back(place.empty() ? "task" : place);
  } else if (!thread.constructs.empty()) {
    thread.constructs.pop_back();
  }
}

void LiveTrace::focus(const Record& record, Event event) {
  const uint64_t begin = record.address();
  const uint64_t end = begin + record.extra;
  const auto after = dead_.upper_bound(begin);
  if (after != dead_.begin() && std::prev(after)->second >= end) {
    std::string place = sites_.short_place(event.site);
    if (std::find(dead_focus_.begin(), dead_focus_.end(), place) == dead_focus_.end())
      dead_focus_.push_back(std::move(place));
    return;
  }
  accessing_ = &record;
  accessing_at_ = event.site;
  variables_.access(begin, record.extra, [&](uint32_t variable) {
    event.object = variable;
    add(event);
  });
  accessing_ = nullptr;
}

// Memory that is used has begun a new life.
void LiveTrace::come_alive(uint64_t begin, uint64_t end) {
  auto range = dead_.upper_bound(begin);
  if (range != dead_.begin() && std::prev(range)->second > begin) --range;
  while (range != dead_.end() && range->first < end) {
    const uint64_t from = range->first;
    const uint64_t to = range->second;
    range = dead_.erase(range);
    if (from < begin) dead_.emplace(from, begin);
    if (to > end) dead_.emplace(end, to);
  }
}

std::vector<std::string> LiveTrace::flow_notices() {
  std::vector<std::string> notices;
  notices.reserve(dead_focus_.size() + 1);
  for (const std::string& place : dead_focus_)
    notices.push_back(fmt::format(
        "heddle::focus at {} names an object that is dead: its memory was given back before. Name the "
        "result while it is there; this mark counts for nothing",
        place));
  std::map<std::string, uint64_t> by_name;
  for (const auto& [address, calls] : unfollowed_) {
    const std::vector<std::string> frames = symbolizer_.frames(address + 1);
    std::string name = frames.empty() ? fmt::format("{:#x}", address) : frames.front();
    if (const std::size_t in = name.find(" in "); in != std::string::npos) name = name.substr(in + 4);
    by_name[name] += calls;
  }
  if (by_name.empty()) return notices;
  std::string list;
  for (const auto& [name, calls] : by_name)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", name, calls);
  notices.push_back(
      "functions that are not built with --heddle-dataflow were called; their results are taken to depend on "
      "all "
      "arguments, and what else they read and write is not seen: " +
      list);
  return notices;
}

uint64_t LiveTrace::most_bytes() const {
  return divided_ == Divided::kRecorded ? ~uint64_t{0} : kMostBytesOfRun;
}

void LiveTrace::race_with(const Record& earlier, const Record& now, const Event& later) {
  if (earlier.what == 0) return;
  // What was told of the same variable, the checker sees itself, with its call stack. Memos hold fewer bits
  // of the address.
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
  if ((is_told || is_atomic) && !sieve_.has_dropped()) return;
  add_race(earlier, later);
}

// No checker sees it: to them, the memory begins a new life.
void LiveTrace::race_with_free(const Record& earlier, const Record& now, ThreadId freeing) {
  if (earlier.what == 0) return;
  Event free;
  free.operation = Operation::kFree;
  free.thread = now_ = freeing;
  free.site = accessing_at_ = sites_.site_of(now);
  accessing_ = &now;
  variables_.access(now.address(), now.size(), [&](uint32_t variable) {
    if (free.object == kNoId) free.object = variable;
  });
  accessing_ = nullptr;
  if (free.object != kNoId) add_race(earlier, free);
}

void LiveTrace::add_race(const Record& earlier, const Event& later) {
  ToldRace race{later, later, first_ + events_.size() - (events_.empty() ? 0 : 1)};
  race.earlier.operation = static_cast<Operation>(earlier.what >> 48 & 0xFF);
  race.earlier.thread = thread(earlier.extra).id;
  race.earlier.site = earlier.pc == 0 ? kNoId : sites_.site_of(earlier);
  races_.push_back(race);
}

LiveTrace::Lock& LiveTrace::lock_at(const Record& record, SiteId site) {
  const auto [entry, is_new] = locks_.try_emplace(record.address());
  Lock& lock = entry.value();
  if (is_new)
    lock.id = names_.table(Space::kLock)
                  .append(unique(Space::kLock, name_of(record.address(), record.name, site, "mutex")));
  return lock;
}

void LiveTrace::lock(const Record& record, Event event) {
  Lock& lock = lock_at(record, event.site);
  event.object = lock.id;
  const auto synthesize = [&](Operation operation, ThreadId thread) {
    Event extra = event;
    extra.operation = operation;
    extra.thread = thread;
    extra.site = kNoId;
    add_lock(extra);
  };
  const auto drop_writer = [&] {
    for (; lock.depth > 0; --lock.depth) synthesize(Operation::kRelease, lock.holder);
    lock.holder = kNoId;
  };
  const auto drop_readers = [&] {
    for (const ThreadId reader : lock.readers) synthesize(Operation::kReleaseShared, reader);
    lock.readers.clear();
  };
  switch (event.operation) {
    case Operation::kAcquire:
      if (lock.holder != kNoId && lock.holder != event.thread) drop_writer();
      drop_readers();
      lock.holder = event.thread;
      ++lock.depth;
      break;
    case Operation::kRelease:
      if (lock.holder != event.thread) {
        drop_writer();
        drop_readers();
        synthesize(Operation::kAcquire, event.thread);
        lock.holder = event.thread;
        lock.depth = 1;
      }
      if (--lock.depth == 0) lock.holder = kNoId;
      break;
    case Operation::kAcquireShared:
      drop_writer();
      lock.readers.push_back(event.thread);
      break;
    case Operation::kReleaseShared: {
      auto reader = std::find(lock.readers.begin(), lock.readers.end(), event.thread);
      if (reader == lock.readers.end()) {
        drop_writer();
        synthesize(Operation::kAcquireShared, event.thread);
      } else {
        lock.readers.erase(reader);
      }
      break;
    }
    default: break;
  }
  add_lock(event);
}

void LiveTrace::add_lock(const Event& event) {
  if (event.thread >= held_.size()) held_.resize(event.thread + std::size_t{1});
  const bool acquires =
      event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared;
  held_[event.thread] += acquires ? 1U : ~0U;
  add(event);
}

// Nobody can act for a thread that is over. A lock that it leaves behind may still be taken by others: a
// robust one, or one that is made anew in the same place.
void LiveTrace::release_all(const Event& end) {
  if (end.thread >= held_.size() || held_[end.thread] == 0) return;
  for (auto entry = locks_.begin(); entry != locks_.end(); ++entry) {
    Lock& lock = entry.value();
    Event release = end;
    release.object = lock.id;
    release.operation = Operation::kRelease;
    if (lock.holder == end.thread) {
      for (; lock.depth > 0; --lock.depth) add_lock(release);
      lock.holder = kNoId;
    }
    release.operation = Operation::kReleaseShared;
    for (auto reader = std::find(lock.readers.begin(), lock.readers.end(), end.thread);
         reader != lock.readers.end();
         reader = std::find(lock.readers.begin(), lock.readers.end(), end.thread)) {
      lock.readers.erase(reader);
      add_lock(release);
    }
  }
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
      case Space::kLock: return lock_at(record, site).id;
      case Space::kBarrier: return object_at(space, record, site, "barrier");
      case Space::kCondition: return object_at(space, record, site, "condition");
      default: return object_at(space, record, site, "semaphore");
    }
  };
  return told_waits(sieve_, ids_by_stream(),
                    {[&](const Record& record) { return sites_.site_of(record); }, number_of});
}

// Names nothing until there is something to tell.
void LiveTrace::look_for_standstills() {
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
    const std::string name = text_at(record.name);
    if (!ignores_ || !ignores_(name)) known.value() = names_.table(Space::kBlock).intern(plain(name));
  }
  event.object = known->second;
  if (open.empty()) thread.looks.outermost_block_begins();
  open.push_back(event);
  if (record.address() != 0 && !objects_.contains(record.address())) {
    const Symbolizer::Class of = symbolizer_.class_at(record.pc);
    if (of.size > 0) objects_.emplace(record.address(), Object{of.size, record.pc, of.name});
  }
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
  if (is_new)
    entry.value() =
        names_.table(space).append(unique(space, name_of(record.address(), record.name, site, kind)));
  return entry->second;
}

uint32_t LiveTrace::begin_variable(uint64_t address, bool is_part) {
  const uint64_t given = address == accessing_->address() ? accessing_->name : 0;
  std::string name = name_of(address, given, accessing_at_, "memory");
  auto& ended = used_names_[static_cast<std::size_t>(Space::kVariable)][name].ended;
  if (!is_part && !ended.empty()) {
    const uint32_t again = ended.back();
    ended.pop_back();
    return again;
  }
  return names_.table(Space::kVariable).append(unique(Space::kVariable, std::move(name)));
}

void LiveTrace::divide_variable(uint32_t whole, std::span<const uint32_t> parts) {
  if (divided_ == Divided::kForgotten) return add_free(whole);
  for (const uint32_t part : parts) names_.parts().push_back({part, whole});
}

// Parts stay what they are: to be used again they would have to be whole in one life and not in another.
void LiveTrace::end_variable(uint32_t variable, bool is_part) {
  add_free(variable);
  if (is_part) return;
  const std::string name(names_.variable(variable));
  used_names_[static_cast<std::size_t>(Space::kVariable)][name].ended.push_back(variable);
}

void LiveTrace::add_free(uint32_t variable) {
  Event event;
  event.operation = Operation::kFree;
  event.thread = now_;
  event.object = variable;
  add(event);
}

void LiveTrace::forget(uint64_t address, uint64_t size) {
  variables_.forget(address, size);
  const uint64_t end = address + size;
  if (follows_data_) {
    come_alive(address, end);
    dead_.emplace(address, end);
  }
  forget_in(locks_, address, end);
  forget_in(barriers_, address, end);
  forget_in(semaphores_, address, end);
  forget_in(conditions_, address, end);
  for (auto object = objects_.lower_bound(address); object != objects_.end() && object->first < end;)
    object = objects_.erase(object);
}

// What comes may be ordered with what was by what was left out.
void LiveTrace::forget_variables() {
  variables_.forget_all();
  objects_.clear();
}

std::string LiveTrace::name_of(uint64_t address, uint64_t given, SiteId site, std::string_view kind) {
  // A lock that stands for what it guards is not what lies there.
  std::string name = given == 0 ? std::string() : text_at(given);
  if (!name.starts_with(kStandIn)) name = symbolizer_.data_name(address);
  if (name.empty()) {
    auto object = objects_.upper_bound(address);
    if (object != objects_.begin()) {
      --object;
      const uint64_t offset = address - object->first;
      if (offset < object->second.size) {
        const std::string field = symbolizer_.field_name(object->second.pc, offset);
        if (!field.empty()) name = object->second.name + "::" + field;
      }
    }
  }
  if (name.empty() && given != 0) name = text_at(given);
  if (name.empty()) {
    const std::string place = sites_.short_place(site);
    name = place.empty() ? fmt::format("{}@{:#x}", kind, address) : fmt::format("{}@{}", kind, place);
  }
  return plain(std::move(name));
}

std::string LiveTrace::unique(Space space, std::string name) {
  const uint32_t before = used_names_[static_cast<std::size_t>(space)][name].count++;
  return before == 0 ? name : fmt::format("{}#{}", name, before + 1);
}

std::string LiveTrace::text_at(uint64_t address) {
  const auto [entry, is_new] = texts_.try_emplace(address);
  if (is_new) entry.value() = symbolizer_.text_at(address);
  return entry->second;
}

}  // namespace heddle
