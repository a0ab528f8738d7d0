#include "checkers/serializability.h"

#include <algorithm>

namespace heddle {

namespace {

// How far ahead of the event being checked the state of a variable is fetched into the cache.
constexpr std::size_t kPrefetch = 12;

bool is_access(Operation operation) { return operation <= Operation::kAtomicCompareFail; }
bool writes(Operation operation) {
  return operation == Operation::kWrite || operation == Operation::kAtomicWrite ||
         operation == Operation::kAtomicUpdate;
}

// A wait does too, but before it is checked itself.
bool orders_deterministically(Operation operation) {
  return operation == Operation::kFork || operation == Operation::kJoin || operation == Operation::kArrive ||
         operation == Operation::kLeave || operation == Operation::kPost;
}

}  // namespace

template <class Story>
void Serializability<Story>::process(const EventBatch& batch) {
  cover_names();
  for (const uint32_t lock : batch.ended_locks) end_lock(lock);
  const std::size_t size = batch.events.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (settings_.race_filter && i + kPrefetch < size) {
      const Event& ahead = batch.events[i + kPrefetch];
      if (is_access(ahead.operation)) races_.prefetch(ahead.object);
    }
    on_event(batch.events[i], batch.first + i);
  }
  collect();
}

template <class Story>
void Serializability<Story>::cover_names() {
  const std::size_t thread_count = names_.table(Space::kThread).size();
  if (threads_.size() < thread_count) threads_.resize(thread_count);
  if (settings_.race_filter) races_.cover(names_.table(Space::kVariable).size());
}

// What comes under its number is another lock.
template <class Story>
void Serializability<Story>::end_lock(uint32_t lock) {
  if (lock < locks_.size()) locks_[lock] = {};
  if (settings_.race_filter) synchronization_.end_lock(lock);
  if (settings_.conflict_freedom) conflict_freedom_.begin_new_life(Space::kLock, lock);
}

// What all that follows depends on, however far back it began: which phase a barrier is in, who holds what,
// and who is in which block.
template <class Story>
void Serializability<Story>::skim(const EventBatch& batch) {
  cover_names();
  for (const uint32_t lock : batch.ended_locks) end_lock(lock);
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    switch (event.operation) {
      case Operation::kAcquire:
      case Operation::kAcquireShared:
      case Operation::kRelease:
      case Operation::kReleaseShared: hold(event); break;
      case Operation::kBeginAtomic:
      case Operation::kBeginDeterministic: blocks_.begin(event, batch.first + i); break;
      case Operation::kEnd: blocks_.end(event.thread); break;
      case Operation::kFork: blocks_.fork(event.thread, event.object); break;
      case Operation::kJoin: blocks_.stop(event.object); break;
      case Operation::kThreadEnd: blocks_.stop(event.thread); break;
      case Operation::kArrive: at(barriers_, event.object).arrive(event.thread, {}); break;
      case Operation::kLeave: at(barriers_, event.object).leave(event.thread); break;
      case Operation::kRead:
      case Operation::kWrite:
      case Operation::kAtomicRead:
      case Operation::kAtomicWrite:
      case Operation::kAtomicUpdate:
      case Operation::kAtomicCompareFail:
      case Operation::kThreadBegin:
      case Operation::kPost:
      case Operation::kWait:
      case Operation::kNotify:
      case Operation::kWake:
      case Operation::kFence:
      case Operation::kCommit:
      case Operation::kAlloc:
      case Operation::kFree:
      case Operation::kTaskBegin:
      case Operation::kTaskEnd:
      case Operation::kMaybeBegin:
      case Operation::kMaybeEnd:
      case Operation::kAssign:
      case Operation::kBranch:
      case Operation::kLook:
      case Operation::kTouch:
      case Operation::kCount:
      case Operation::kTake:
      case Operation::kDrop:
      case Operation::kAlive:
      case Operation::kFocus:
      case Operation::kSync:
      case Operation::kNested: break;
    }
    if (event.operation != Operation::kArrive && event.operation != Operation::kLeave) continue;
    if (settings_.race_filter) synchronization_.synchronize(event);
    if (settings_.conflict_freedom) conflict_freedom_.synchronize(event);
  }
}

template <class Story>
void Serializability<Story>::follow(const Serializability& skimmed) {
  blocks_ = skimmed.blocks_;
  locksets_ = skimmed.locksets_;
  held_.copy_from(skimmed.held_);
  barriers_ = skimmed.barriers_;
  conflict_freedom_ = skimmed.conflict_freedom_;
  synchronization_ = skimmed.synchronization_;
}

template <class Story>
void Serializability<Story>::restart() {
  order_ = {};
  threads_.assign(threads_.size(), {});
  transactions_.clear();
  variables_.clear();
  locks_.clear();
  semaphores_.clear();
  for (auto& barrier : barriers_) barrier.for_each_phase([](Parties& parties) { parties.clear(); });
  races_.forget_all();
  conflict_freedom_.forget_all();
}

template <class Story>
void Serializability<Story>::on_event(const Event& event, EventIndex index) {
  switch (event.operation) {
    case Operation::kRead:
    case Operation::kWrite:
      return settings_.race_filter ? on_filtered_access(event, index) : on_access(event, index);
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail: return on_access(event, index);
    case Operation::kNested: return;
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic: return on_begin(event, index);
    case Operation::kEnd: return on_end(event, index);
    case Operation::kFork: on_fork(event, index); break;
    case Operation::kJoin: on_join(event, index); break;
    case Operation::kAcquire: {  // [XS ACQUIRE]
      const Lock& lock = at(locks_, event.object);
      start(event, index);
      after(lock.exclusive);
      after(lock.shared);
      check_conflict_freedom();
      done();
      hold(event);
      break;
    }
    case Operation::kRelease: {  // [XS RELEASE]
      start(event, index);
      check_conflict_freedom();
      Lock& lock = at(locks_, event.object);
      lock.exclusive = done();
      lock.shared.clear();  // the releaser came after them when it acquired
      hold(event);
      break;
    }
    case Operation::kAcquireShared:
      start(event, index);
      after(at(locks_, event.object).exclusive);
      check_conflict_freedom();
      done();
      hold(event);
      break;
    case Operation::kReleaseShared:
      start(event, index);
      check_conflict_freedom();
      at(locks_, event.object).shared.put(event.thread, done());
      hold(event);
      break;
    case Operation::kArrive: {
      start(event, index);
      Parties self;
      self.put(event.thread, done());
      at(barriers_, event.object).arrive(event.thread, self);
      break;
    }
    case Operation::kLeave:
      start(event, index);
      after(at(barriers_, event.object).leave(event.thread));
      done();
      break;
    case Operation::kPost:
      start(event, index);
      at(semaphores_, event.object).put(event.thread, done());
      break;
    case Operation::kWait:
      start(event, index);
      after_and_tidy(at(semaphores_, event.object));
      if (settings_.conflict_freedom) conflict_freedom_.synchronize(event);  // a wait comes after the posts
      check_conflict_freedom();
      done();
      break;
    case Operation::kAlloc:
    case Operation::kFree:
      start(event, index);
      done();
      if (event.object < variables_.size()) variables_[event.object] = {};
      if (settings_.race_filter) races_.begin_new_life(event.object);
      if (settings_.conflict_freedom) conflict_freedom_.begin_new_life(Space::kVariable, event.object);
      break;
    case Operation::kThreadEnd:
      start(event, index);
      done();
      stop(event.thread, index);
      break;
    case Operation::kThreadBegin:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kFence:
    case Operation::kCommit:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kFocus:
      start(event, index);
      done();
      break;
    case Operation::kSync:
      start(event, index);
      done();
      // It orders memory, but nobody's result depends on who came first: no edge of the graph, so what only
      // it orders must not be left out of the graph either.
      return;
  }
  if (settings_.race_filter) synchronization_.synchronize(event);
  if (settings_.conflict_freedom && orders_deterministically(event.operation))
    conflict_freedom_.synchronize(event);
}

// [XS READ], [XS WRITE]. A write comes after all earlier accesses, so whatever comes after it need not be
// compared with them.
template <class Story>
void Serializability<Story>::on_access(const Event& event, EventIndex index) {
  start(event, index);
  Variable& variable = at(variables_, event.object);
  const bool write = writes(event.operation);
  const bool filtered = settings_.race_filter;
  const bool nothing_new = is_present(variable.write, event.thread) && (!write || variable.readers.empty());
  if (!nothing_new) {
    after(variable.write);
    if (write) after(variable.readers);
  }
  // Only now, so that what the detector remembers has these edges as well.
  if (filtered) races_.on_atomic(event, index);
  check_conflict_freedom();
  const Mark mark = done();
  if (nothing_new && !filtered) return;
  if (write) {
    variable.write = mark;
    variable.readers.clear();
  } else {
    variable.readers.put(event.thread, mark);
  }
}

// A plain access behind the filter: it is an operation only if it races with something.
template <class Story>
void Serializability<Story>::on_filtered_access(const Event& event, EventIndex index) {
  now_ = op(event, index);
  fresh_ = false;
  if (event.operation == Operation::kRead) {
    races_.on_read(event, index);
  } else {
    races_.on_write(event, index);
  }
  if (has_cycle()) [[unlikely]]
    done();
}

template <class Story>
void Serializability<Story>::on_race(const Access& earlier, const Access&, const Event& event) {
  const Thread& thread = threads_[event.thread];
  if (settings_.conflict_freedom && thread.inside && earlier.mark.transaction == thread.transaction) {
    // By different threads, or they would be ordered: [CF READ], [CF WRITE].
    if constexpr (Story::kTold) {
      listener_.on_conflict(thread.transaction, root(event.thread), earlier.mark.op, now_);
    } else {
      listener_.on_conflict(thread.transaction, root(event.thread), now_, now_);
    }
  }
  after(earlier.mark);
}

// [XS BEGIN]
template <class Story>
void Serializability<Story>::on_begin(const Event& event, EventIndex index) {
  Thread& thread = threads_[event.thread];
  if (blocks_.inner(event.thread) != kNoId) {  // nested, perhaps in a block begun before restart()
    start(event, index);
    done();
  } else {
    touch(event, index);
    const TransactionHandle opened = order_.open();
    order_.inherit(thread.transaction, opened);
    thread.inside = true;
    thread.transaction = opened;
    transaction(opened) = {1, false, index};
  }
  blocks_.begin(event, index);
  surroundings_change(event.thread);
  if constexpr (Story::kTold) thread.knowledge.begin(event.thread, blocks_.begun(event.thread));
}

// [XS END]
template <class Story>
void Serializability<Story>::on_end(const Event& event, EventIndex index) {
  start(event, index);
  done();
  blocks_.end(event.thread);
  surroundings_change(event.thread);
  Thread& thread = threads_[event.thread];
  if (!thread.inside || blocks_.inner(event.thread) != kNoId) return;
  thread.inside = false;
  leave(thread.transaction, index);
  thread.last_may_be_open = order_.is_open(thread.transaction);
}

// [XS FORK IN], [XS FORK OUT]. Only a deterministic transaction takes the new thread in.
template <class Story>
void Serializability<Story>::on_fork(const Event& event, EventIndex index) {
  start(event, index);
  const Mark forker = done();
  Thread& parent = threads_[event.thread];
  Thread& child = threads_[event.object];
  child.transaction = forker.transaction;
  if constexpr (Story::kTold) {
    child.last = forker.op;
    child.of_forker = forker.knowledge;
  }
  const bool adopted = blocks_.fork(event.thread, event.object);
  if (adopted && parent.inside) {
    child.inside = true;
    Transaction& transaction = this->transaction(parent.transaction);
    ++transaction.threads;
    transaction.shared = true;
  } else {
    child.last_may_be_open = parent.inside;
  }
}

// [XS JOIN]
template <class Story>
void Serializability<Story>::on_join(const Event& event, EventIndex index) {
  start(event, index);
  after(mark(event.object));
  done();
  stop(event.object, index);
}

template <class Story>
void Serializability<Story>::after(const Mark& earlier) {
  Thread& thread = threads_[now_.event.thread];
  if (!order_.exists(earlier.transaction)) return;  // nothing that is still open comes before it
  if (!thread.inside) {                             // [XS OUTSIDE]
    thread.transaction = order_.extend(thread.transaction, fresh_, earlier.transaction, story(earlier));
  } else if (earlier.transaction != thread.transaction) {
    if (auto cycle = order_.add(earlier.transaction, story(earlier), thread.transaction)) {
      if (!closes_cycle_ || cycle->better_than(cycle_.story)) cycle_.story = std::move(*cycle);
      closes_cycle_ = true;
    }
    if constexpr (Story::kTold) blame(earlier);
  }
  if constexpr (Story::kTold)
    if (earlier.op.event.thread != now_.event.thread)
      thread.knowledge.learn(now_.event.thread, *earlier.knowledge, story(earlier), blocks_);
}

// Blocks around the present operation whose begin happens before `earlier`, which is of another transaction.
template <class Story>
void Serializability<Story>::blame(const Mark& earlier) {
  if constexpr (Story::kTold) {
    for (BlockId id = blocks_.inner(now_.event.thread); id != kNoId; id = blocks_[id].parent) {
      const Knowledge::Entry& known = earlier.knowledge->of(blocks_[id].opener);
      if (known.number < blocks_[id].number) continue;
      // Several earlier operations may each refute some; the story is that of the innermost block.
      const bool is_new = std::find(refuted_.begin(), refuted_.end(), id) == refuted_.end();
      const bool is_innermost = refuted_.empty() || blocks_[id].begin >= blocks_[refuted_.front()].begin;
      Story path = known.path.then(story(earlier));
      if (is_innermost && (is_new || path.better_than(cycle_.blame))) cycle_.blame = std::move(path);
      if (is_new) refuted_.insert(is_innermost ? refuted_.begin() : refuted_.end(), id);
    }
  }
}

template <class Story>
typename Serializability<Story>::Mark Serializability<Story>::done() {
  const ThreadId id = now_.event.thread;
  if (has_cycle()) [[unlikely]] {
    if (!closes_cycle_) cycle_.story = cycle_.blame;
    cycle_.now = now_;
    cycle_.transaction = threads_[id].transaction;
    cycle_.root = root(id);
    for (BlockId block = blocks_.inner(id); block != kNoId; block = blocks_[block].parent)
      cycle_.around.push_back(blocks_[block]);
    for (BlockId block = blocks_.inner(id); block != kNoId; block = blocks_[block].parent)
      if (std::find(refuted_.begin(), refuted_.end(), block) != refuted_.end())
        cycle_.refuted.push_back(blocks_[block]);
    listener_.on_cycle(cycle_);
    cycle_ = {};
    refuted_.clear();
    closes_cycle_ = false;
  }
  return mark(id);
}

template <class Story>
void Serializability<Story>::part_from_last(Thread& thread, const Event& event, EventIndex index) {
  thread.last_may_be_open = false;
  if (!order_.is_open(thread.transaction)) return;
  bool fresh = false;
  Story hop;
  if constexpr (Story::kTold) {
    hop = Story::of(thread.last, op(event, index));
  } else {
    hop.first = transaction(thread.transaction).begin;
  }
  thread.transaction = order_.extend({}, fresh, thread.transaction, hop);
}

template <class Story>
void Serializability<Story>::learn_from_forker(Thread& thread, const Event& event, EventIndex index) {
  if constexpr (Story::kTold) {
    if (thread.of_forker == nullptr) return;
    thread.knowledge.learn(event.thread, *thread.of_forker, Story::of(thread.last, op(event, index)),
                           blocks_);
    thread.of_forker.reset();
  }
}

template <class Story>
std::shared_ptr<const Surroundings> Serializability<Story>::surroundings(ThreadId id) {
  if constexpr (Story::kTold) {
    std::shared_ptr<const Surroundings>& around = threads_[id].around;
    if (around == nullptr) {
      Surroundings now;
      for (BlockId block = blocks_.inner(id); block != kNoId; block = blocks_[block].parent)
        now.blocks.push_back(blocks_[block]);
      now.held = held_.of(id);
      around = std::make_shared<const Surroundings>(std::move(now));
    }
    return around;
  } else {
    return nullptr;
  }
}

// The thread has taken or given back a lock.
template <class Story>
void Serializability<Story>::hold(const Event& event) {
  if constexpr (Story::kTold) {
    if (event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared) {
      held_.acquire(event.thread, event.object, event.operation == Operation::kAcquireShared);
    } else {
      held_.release(event.thread, event.object);
    }
    surroundings_change(event.thread);
  }
}

template <class Story>
void Serializability<Story>::stop(ThreadId id, EventIndex index) {
  Thread& thread = threads_[id];
  blocks_.stop(id);
  surroundings_change(id);
  if (thread.inside) {
    thread.inside = false;
    leave(thread.transaction, index);
  }
  if constexpr (Story::kTold)
    if (!order_.exists(thread.transaction)) forget_what_it_knew(thread);
}

// A stopped thread that nothing open comes before: a later join learns nothing from it.
template <class Story>
void Serializability<Story>::forget_what_it_knew(Thread& thread) {
  if constexpr (Story::kTold) {
    thread.knowledge.forget();
    thread.of_forker.reset();
    thread.around.reset();
    thread.last = {};
  }
}

template <class Story>
void Serializability<Story>::leave(TransactionHandle handle, EventIndex index) {
  if (--transaction(handle).threads > 0) return;
  listener_.on_close(handle, index);
  if (settings_.conflict_freedom) conflict_freedom_.forget(handle);
  order_.close(handle);
}

template <class Story>
void Serializability<Story>::check_conflict_freedom() {
  if (!settings_.conflict_freedom) return;
  const Thread& thread = threads_[now_.event.thread];
  if (!thread.inside || !transaction(thread.transaction).shared) return;
  if (const std::optional<Op> earlier = conflict_freedom_.check(thread.transaction, now_))
    listener_.on_conflict(thread.transaction, root(now_.event.thread), *earlier, now_);
}

template <class Story>
void Serializability<Story>::collect() {
  const std::size_t handles = 2 * names_.table(Space::kVariable).size() + locks_.size() + threads_.size();
  if (!order_.is_full(handles)) return;
  order_.collect([&](auto keep) {
    const auto keep_all = [&](const Parties& parties) {
      for (const Party& party : parties.entries()) keep(party.mark.transaction);
    };
    for (const Thread& thread : threads_) keep(thread.transaction);
    for (const Variable& variable : variables_) {
      keep(variable.write.transaction);
      keep_all(variable.readers);
    }
    for (const Lock& lock : locks_) {
      keep(lock.exclusive.transaction);
      keep_all(lock.shared);
    }
    for (const Parties& posts : semaphores_) keep_all(posts);
    for (auto& barrier : barriers_) barrier.for_each_phase([&](Parties& parties) { keep_all(parties); });
    races_.for_each_access([&](const Access& access) { keep(access.mark.transaction); });
  });
}

template class Serializability<Since>;
template class Serializability<Told>;

}  // namespace heddle
