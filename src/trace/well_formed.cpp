#include "trace/well_formed.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "trace/store_buffer.h"

namespace heddle {

namespace {

// No store buffer holds this many writes; a trace that reaches it before its first commit has none.
constexpr std::size_t kMostBufferedWrites = std::size_t{1} << 20;

}  // namespace

void WellFormed::process(const EventBatch& batch, const TraceSource& source) {
  source_ = &source;
  const std::size_t thread_count = source.names().table(Space::kThread).size();
  if (status_.size() < thread_count) {
    status_.resize(thread_count, kUnseen);
    threads_.resize(thread_count);
  }
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    Event& event = batch.events[i];
    index_ = batch.first + i;
    Status& status = status_[event.thread];
    if (status != kRunning) [[unlikely]] {
      if (status == kJoined) fail(fmt::format("{} acts after it was joined", thread_name(event.thread)));
      if (status == kStopped) fail(fmt::format("{} acts after its stop", thread_name(event.thread)));
      status = kRunning;
    } else if (event.operation == Operation::kThreadBegin) [[unlikely]] {
      fail(fmt::format("{} starts, but it has acted before", thread_name(event.thread)));
    }
    check(event, index_);
    // The plain accesses, which are most events, come first among the operations.
    if (event.operation > Operation::kAtomicRead && buffered_ > 0 && drains_store_buffer(event))
      drain(event.thread);
  }
}

void WellFormed::check(Event& event, EventIndex index) {
  switch (event.operation) {
    case Operation::kWrite:
    case Operation::kAtomicWrite: return remember_write(event);
    case Operation::kAcquire:
    case Operation::kAcquireShared: return check_acquire(event, index);
    case Operation::kRelease:
    case Operation::kReleaseShared: return check_release(event);
    case Operation::kFork: return check_fork(event);
    case Operation::kJoin:
      if (buffered_ > 0) drain(event.object);
      return check_join(event);
    case Operation::kThreadEnd: status_[event.thread] = kStopped; return;
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic: thread(event.thread).blocks.push_back(event.object); return;
    case Operation::kEnd: return check_end(event);
    case Operation::kArrive: ++arrived_[uint64_t{event.thread} << 32 | event.object]; return;
    case Operation::kLeave: {
      const auto arrivals = arrived_.find(uint64_t{event.thread} << 32 | event.object);
      if (arrivals == arrived_.end() || arrivals->second == 0)
        fail(fmt::format("{} leaves barrier {} without having arrived", thread_name(event.thread),
                         shortened(source_->names().name(Space::kBarrier, event.object))));
      --arrivals.value();
      return;
    }
    case Operation::kCommit: return check_commit(event);
    case Operation::kTaskBegin:
      thread(event.thread).tasks.push_back(true);
      thread(event.thread).in_task = true;
      return;
    case Operation::kTaskEnd: return check_task_end(event);
    case Operation::kMaybeBegin: return check_maybe_begin(event);
    case Operation::kMaybeEnd: return check_maybe_end(event);
    case Operation::kFree: freed_[event.object] = index; return;
    case Operation::kAlloc: freed_.erase(event.object); return;
    case Operation::kFocus: return check_focus(event);
    case Operation::kRead:
    case Operation::kAtomicRead:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
    case Operation::kThreadBegin:
    case Operation::kPost:
    case Operation::kWait:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kFence:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kSync:
    case Operation::kNested: return;
  }
}

WellFormed::Lock& WellFormed::lock(uint32_t id) {
  if (id >= locks_.size()) locks_.resize(source_->names().table(Space::kLock).size());
  return locks_[id];
}

WellFormed::Holder* WellFormed::holder(Lock& lock, ThreadId thread, bool shared) {
  if (!shared) return lock.writer.thread == thread ? &lock.writer : nullptr;
  const auto found = std::find_if(lock.readers.begin(), lock.readers.end(),
                                  [&](const Holder& reader) { return reader.thread == thread; });
  return found == lock.readers.end() ? nullptr : &*found;
}

void WellFormed::check_acquire(Event& event, EventIndex index) {
  Lock& lock = this->lock(event.object);
  const bool shared = event.operation == Operation::kAcquireShared;
  const bool written = lock.writer.thread != kNoId;
  if (Holder* const same = holder(lock, event.thread, shared)) {
    ++same->depth;
    event.operation = Operation::kNested;
    return;
  }
  if (written || (!shared && !lock.readers.empty())) {
    const Holder* other = &lock.writer;
    if (!written) {
      // Its own hold is the one it can do something about.
      const Holder* const own = holder(lock, event.thread, true);
      other = own != nullptr ? own : &lock.readers.front();
    }
    fail(fmt::format("{} acquires {}{}, which {} holds{} since event {}", thread_name(event.thread),
                     shortened(source_->names().lock(event.object)), shared ? " shared" : "",
                     other->thread == event.thread ? "it already" : thread_name(other->thread),
                     written ? (shared ? " exclusively" : "") : " shared", other->since));
  }
  const Holder now{event.thread, 1, index};
  if (shared) {
    lock.readers.push_back(now);
  } else {
    lock.writer = now;
  }
}

void WellFormed::check_release(Event& event) {
  Lock& lock = this->lock(event.object);
  const bool shared = event.operation == Operation::kReleaseShared;
  Holder* const own = holder(lock, event.thread, shared);
  if (own == nullptr)
    fail(fmt::format(
        "{} releases {}{}, which it does not hold{}", thread_name(event.thread),
        shortened(source_->names().lock(event.object)), shared ? " shared" : "",
        lock.writer.thread == kNoId || lock.writer.thread == event.thread
            ? ""
            : fmt::format("; {} does, since event {}", thread_name(lock.writer.thread), lock.writer.since)));
  if (--own->depth > 0) {
    event.operation = Operation::kNested;
  } else if (shared) {
    lock.readers.erase(lock.readers.begin() + (own - lock.readers.data()));
  } else {
    lock.writer = Holder();
  }
}

void WellFormed::check_fork(const Event& event) {
  Thread& child = thread(event.object);
  if (event.object == event.thread) fail(fmt::format("{} forks itself", thread_name(event.thread)));
  if (child.forked)
    fail(fmt::format("{} forks {}, which was forked before", thread_name(event.thread),
                     thread_name(event.object)));
  if (status_[event.object] != kUnseen)
    fail(fmt::format("{} forks {}, which has acted before", thread_name(event.thread),
                     thread_name(event.object)));
  child.forked = true;
  child.in_task = child.forked_in_task = thread(event.thread).in_task;
}

void WellFormed::check_join(const Event& event) {
  if (event.object == event.thread) fail(fmt::format("{} joins itself", thread_name(event.thread)));
  if (status_[event.object] == kUnseen && !thread(event.object).forked)
    fail(fmt::format("{} joins {}, which was neither forked nor seen", thread_name(event.thread),
                     thread_name(event.object)));
  status_[event.object] = kJoined;
}

void WellFormed::check_end(const Event& event) {
  std::vector<uint32_t>& blocks = thread(event.thread).blocks;
  if (blocks.empty()) fail(fmt::format("{} ends a block, but none is open", thread_name(event.thread)));
  const uint32_t open = blocks.back();
  if (event.object != kNoId && open != kNoId && event.object != open)
    fail(fmt::format("{} ends block {}, but the innermost open block is {}", thread_name(event.thread),
                     shortened(source_->names().name(Space::kBlock, event.object)),
                     shortened(source_->names().name(Space::kBlock, open))));
  blocks.pop_back();
}

void WellFormed::drain(ThreadId id) {
  Thread& thread = this->thread(id);
  if (thread.committed == thread.buffer.size()) return;
  thread.drained_at = index_;
  thread.drained = thread.buffer[thread.committed];
  buffered_ -= thread.buffer.size() - thread.committed;
  thread.buffer.clear();
  thread.committed = 0;
}

void WellFormed::remember_write(const Event& event) {
  if (buffers_dropped_ || !is_buffered_write(event)) return;
  if (!commits_seen_ && buffered_ == kMostBufferedWrites) {
    buffers_dropped_ = true;
    for (Thread& thread : threads_) thread.buffer = {};
    return;
  }
  ++buffered_;
  thread(event.thread).buffer.push_back(event.object);
}

void WellFormed::check_commit(const Event& event) {
  const Names& names = source_->names();
  if (buffers_dropped_)
    fail(fmt::format("the trace's first commit comes after more than {} uncommitted writes",
                     kMostBufferedWrites));
  commits_seen_ = true;
  Thread& thread = this->thread(event.thread);
  std::vector<uint32_t>& buffer = thread.buffer;
  const bool is_empty = thread.committed == buffer.size();
  if (is_empty || buffer[thread.committed] != event.object) {
    const std::string commits =
        fmt::format("{} commits {}", thread_name(event.thread), shortened(names.variable(event.object)));
    if (thread.drained == event.object)
      fail(fmt::format("{}, but its store buffer was emptied at event {}: the commit belongs before that",
                       commits, thread.drained_at));
    if (is_empty) fail(fmt::format("{}, but no write of it is in its store buffer", commits));
    fail(fmt::format("{}, but the oldest write in its store buffer is to {}", commits,
                     shortened(names.variable(buffer[thread.committed]))));
  }
  --buffered_;
  // Moving the rest to the front when it is the smaller half costs O(1) per commit.
  if (++thread.committed * 2 >= buffer.size()) {
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(thread.committed));
    thread.committed = 0;
  }
}

void WellFormed::check_task_end(const Event& event) {
  Thread& thread = this->thread(event.thread);
  std::vector<bool>& open = thread.tasks;
  if (std::find(open.begin(), open.end(), true) == open.end())
    fail(fmt::format("{} ends a task, but none is open: its task(k) is missing", thread_name(event.thread)));
  if (!open.back())
    fail(fmt::format("{} ends a task inside an if (true*): its endnd is missing", thread_name(event.thread)));
  open.pop_back();
  thread.in_task = thread.forked_in_task || std::find(open.begin(), open.end(), true) != open.end();
}

void WellFormed::check_maybe_begin(const Event& event) {
  Thread& thread = this->thread(event.thread);
  if (!thread.in_task)
    fail(fmt::format(
        "{} enters an if (true*) outside any task: nd has a meaning only between task(k) and endtask",
        thread_name(event.thread)));
  thread.tasks.push_back(false);
}

void WellFormed::check_maybe_end(const Event& event) {
  std::vector<bool>& open = thread(event.thread).tasks;
  if (std::find(open.begin(), open.end(), false) == open.end())
    fail(fmt::format("{} has endnd, but no nd is open", thread_name(event.thread)));
  if (open.back())
    fail(fmt::format(
        "{} leaves an if (true*) while a task that it began inside is open: its endtask is missing",
        thread_name(event.thread)));
  open.pop_back();
}

void WellFormed::check_focus(const Event& event) const {
  const auto freed = freed_.find(event.object);
  if (freed == freed_.end()) return;
  fail(fmt::format("focus on {}, which was freed at event {}: name it while it is alive",
                   shortened(source_->names().variable(event.object)), freed->second));
}

std::string WellFormed::thread_name(ThreadId thread) const {
  return shortened(source_->names().thread(thread));
}

void WellFormed::fail(std::string_view what) const {
  throw InputError(fmt::format("{}: {}", source_->where(index_), what));
}

}  // namespace heddle
