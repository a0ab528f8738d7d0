#include "checkers/predictive/collector.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace heddle::predictive {

namespace {

// A block with many accesses is thinned out now and then, so that its size follows what it accesses and not
// how often.
constexpr std::size_t kThinEvery = 4096;

}  // namespace

void Collector::process(const EventBatch& batch) {
  for (std::size_t i = 0; i < batch.events.size(); ++i) process(batch.events[i], batch.first + i);
}

void Collector::process(const Event& event, EventIndex index) {
  switch (event.operation) {
    case Operation::kRead:
    case Operation::kAtomicRead:
    case Operation::kAtomicCompareFail: return access(StepKind::kRead, event, index);
    case Operation::kWrite:
    case Operation::kAtomicWrite: return access(StepKind::kWrite, event, index);
    case Operation::kAtomicUpdate: return access(StepKind::kUpdate, event, index);
    case Operation::kAcquire: return acquire(event, index, false);
    case Operation::kAcquireShared: return acquire(event, index, true);
    case Operation::kRelease: return release(event, index, false);
    case Operation::kReleaseShared: return release(event, index, true);
    case Operation::kFork:
    case Operation::kArrive:
    case Operation::kPost: return synchronize(StepKind::kSignal, event, index);
    case Operation::kJoin:
    case Operation::kLeave:
    case Operation::kWait: return synchronize(StepKind::kReceive, event, index);
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic: return begin(event, index);
    case Operation::kEnd: return end(event, index);
    case Operation::kAlloc:
    case Operation::kFree: return begin_life(event.object);
    case Operation::kThreadEnd: forced_.update(event); return;
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
    case Operation::kSync:
    case Operation::kNested: return;
  }
}

VariableId Collector::life_of(uint32_t variable) {
  if (variable >= lives_.size()) lives_.resize(variable + std::size_t{1}, kNoId);
  if (lives_[variable] == kNoId) begin_life(variable);
  return lives_[variable];
}

void Collector::begin_life(uint32_t variable) {
  if (variable >= lives_.size()) lives_.resize(variable + std::size_t{1}, kNoId);
  lives_[variable] = static_cast<VariableId>(variables_.size());
  variables_.emplace_back();
}

// What an access says about its variable, and whether it may be a part of its initialization.
void Collector::note(ThreadId id, VariableId variable, bool writes, ShapeStep& step) {
  Variable& seen = variables_[variable];
  fork_join_.meet(id);
  const ThreadClock& clock = fork_join_.clock(id);
  if (seen.first == kNoId) seen.first = id;
  if (seen.first == id) {
    const Time now = clock.epoch().time();
    if (writes) seen.last_write = now;
    step.moment = now <= seen.known ? now : 0;
  } else {
    seen.is_shared = true;
    seen.others_write |= writes;
    seen.known = std::min(seen.known, clock.time_of(seen.first));
  }
}

void Collector::access(StepKind kind, const Event& event, EventIndex index) {
  ShapeStep step;
  step.kind = kind;
  step.object = life_of(event.object);
  step.held = held_.of(event.thread);
  note(event.thread, step.object, writes(kind), step);
  if (thread(event.thread).outermost != 0) {
    add_step(event.thread, step, event, index);
  } else {
    unary(event.thread, step, event, index);
  }
}

void Collector::log(const Event& event, EventIndex index) {
  if (!keeps_logs_) return;
  if (event.thread >= run_.logs.size()) run_.logs.resize(event.thread + std::size_t{1});
  run_.logs[event.thread].push_back({.index = index,
                                     .operation = static_cast<uint8_t>(event.operation),
                                     .leaves_free = thread(event.thread).depth == 0,
                                     .object = event.object,
                                     .site = event.site});
}

void Collector::acquire(const Event& event, EventIndex index, bool shared) {
  if (event.object >= lock_user_.size()) lock_user_.resize(event.object + std::size_t{1}, kNoId);
  if (event.object >= run_.lock_is_shared.size()) run_.lock_is_shared.resize(lock_user_.size());
  ThreadId& user = lock_user_[event.object];
  if (user == kNoId) user = event.thread;
  if (user != event.thread) run_.lock_is_shared[event.object] = true;
  Thread& thread = this->thread(event.thread);
  ++thread.depth;
  log(event, index);
  if (thread.taken.size() == kMostHeld) {
    ++run_.not_counted;
    return;
  }
  if (thread.outermost != 0) {
    ShapeStep step;
    step.kind = shared ? StepKind::kAcquireShared : StepKind::kAcquire;
    step.object = event.object;
    step.held = held_.of(event.thread);
    add_step(event.thread, step, event, index);
  }
  held_.acquire(event.thread, event.object, shared);
  thread.taken.push_back({.event = event, .index = index});
}

void Collector::release(const Event& event, EventIndex index, bool shared) {
  Thread& thread = this->thread(event.thread);
  --thread.depth;
  log(event, index);
  const bool is_counted =
      std::erase_if(thread.taken, [&](const Taken& taken) { return taken.event.object == event.object; }) > 0;
  if (!is_counted) return;
  if (thread.outermost != 0) {
    ShapeStep step;
    step.kind = shared ? StepKind::kReleaseShared : StepKind::kRelease;
    step.object = event.object;
    step.held = held_.of(event.thread);
    add_step(event.thread, step, event, index);
  }
  held_.release(event.thread, event.object);
}

void Collector::synchronize(StepKind kind, const Event& event, EventIndex index) {
  forced_.meet(event.thread);
  fork_join_.meet(event.thread);
  log(event, index);
  ShapeStep step;
  step.kind = kind;
  step.object = event.object;
  step.held = held_.of(event.thread);
  const bool inside = thread(event.thread).outermost != 0;
  // Others know a signal, and with it what its thread knew before; a receipt is what its thread knows then.
  if (inside && kind == StepKind::kSignal) add_step(event.thread, step, event, index);
  forced_.update(event);
  if (event.operation == Operation::kFork || event.operation == Operation::kJoin) fork_join_.update(event);
  if (inside && kind == StepKind::kReceive) add_step(event.thread, step, event, index);
}

void Collector::begin(const Event& event, EventIndex index) {
  Thread& thread = this->thread(event.thread);
  const bool atomic = event.operation == Operation::kBeginAtomic;
  thread.blocks.push_back(atomic);
  if (thread.outermost != 0) {
    if (!atomic) return;
    Open& open = thread.open;
    open.shape.inner.push_back({event.object, event.site, open.inner});
    open.inner = static_cast<uint32_t>(open.shape.inner.size());
    // One that is entered again and again and has nothing to show costs nothing.
    if (open.shape.inner.size() >= 2 * open.shape.steps.size() + kThinEvery) drop_empty_inner_blocks(open);
    return;
  }
  if (!atomic) {
    ++run_.deterministic;
    return;
  }
  thread.outermost = thread.blocks.size();
  forced_.meet(event.thread);
  Open& open = thread.open;
  open = Open();
  open.shape.is_block = true;
  open.shape.begin = {event, index};
  open.instance.first = index;
  open.instance.site = event.site;
  open.stretch = forced_.stretch(event.thread);
  open.start = forced_.clock(event.thread);
  open.past_is_open = forced_.past_holds_lock(event.thread);
  add_around(thread, open.shape, true);
  ++run_.blocks;
}

void Collector::end(const Event& event, EventIndex index) {
  Thread& thread = this->thread(event.thread);
  if (thread.outermost == thread.blocks.size()) {
    thread.open.instance.end_site = event.site;
    close(event.thread, index);
  } else if (thread.outermost != 0 && thread.blocks.back()) {
    thread.open.inner = thread.open.shape.inner[thread.open.inner - 1].around;
  }
  thread.blocks.pop_back();
}

void Collector::close(ThreadId id, EventIndex index) {
  Thread& thread = this->thread(id);
  Open& open = thread.open;
  thread.outermost = 0;
  open.instance.last = index;
  add_around(thread, open.shape, false);
  if (!open.clocks.empty()) open.clocks.resize(open.shape.steps.size(), ThreadClock(open.clocks.back()));
  thin(open);
  for (ShapeStep& step : open.shape.steps)
    if (is_access(step.kind) && step.moment > variables_[step.object].known) step.moment = 0;
  const bool empty = std::none_of(open.shape.steps.begin(), open.shape.steps.end(),
                                  [](const ShapeStep& step) { return !step.around; });
  if (empty) return;
  open.instance.places.reserve(open.shape.origins.size());
  for (const Origin& origin : open.shape.origins)
    open.instance.places.push_back({origin.index, origin.event.site});
  const ShapeId shape = shapes_.intern(std::move(open.shape));
  add_to_group(shape, *open.start, open.stretch, open.past_is_open, std::move(open.instance),
               std::move(open.clocks));
  open = Open();
}

void Collector::add_step(ThreadId id, const ShapeStep& step, const Event& event, EventIndex index) {
  Open& open = thread(id).open;
  const ThreadClock& now = forced_.clock(id);
  const bool synchronizes = step.kind == StepKind::kSignal || step.kind == StepKind::kReceive;
  // Until the first synchronization the clock is that of the start.
  if (synchronizes && open.clocks.empty()) open.clocks.assign(open.shape.steps.size(), *open.start);
  open.shape.steps.push_back(step);
  open.shape.steps.back().inner = open.inner;
  open.shape.origins.push_back({event, index});
  if (synchronizes || !open.clocks.empty()) open.clocks.push_back(now);
  if (open.shape.steps.size() >= open.thinned * 2 + kThinEvery) thin(open);
}

void Collector::unary(ThreadId id, const ShapeStep& step, const Event& event, EventIndex index) {
  Thread& thread = this->thread(id);
  forced_.meet(id);
  const UnaryKey key{uint64_t{step.object} << 32 | step.held,
                     step.moment << 2 | static_cast<uint64_t>(step.kind)};
  auto known = unary_.find(key);
  if (known == unary_.end()) {
    Shape shape;
    shape.begin = {event, index};
    add_around(thread, shape, true);
    shape.steps.push_back(step);
    shape.origins.push_back({event, index});
    add_around(thread, shape, false);
    known = unary_.emplace(key, shapes_.intern(std::move(shape))).first;
  }
  Instance instance;
  instance.first = index;
  instance.last = index;
  instance.site = event.site;
  add_to_group(known->second, forced_.clock(id), forced_.stretch(id), forced_.past_holds_lock(id),
               std::move(instance), {});
}

void Collector::add_around(const Thread& thread, Shape& shape, bool at_start) {
  LocksetId held = at_start ? kEmptyLockset : held_.of(shape.begin.event.thread);
  const auto add = [&](const Taken& taken) {
    const bool shared = taken.event.operation == Operation::kAcquireShared;
    ShapeStep step;
    step.kind = at_start ? (shared ? StepKind::kAcquireShared : StepKind::kAcquire)
                         : (shared ? StepKind::kReleaseShared : StepKind::kRelease);
    step.around = true;
    step.object = taken.event.object;
    step.held = held;
    shape.steps.push_back(step);
    shape.origins.push_back({taken.event, taken.index});
    held = at_start ? locksets_.add(held, step.object, shared) : locksets_.remove(held, step.object);
  };
  if (at_start) {
    for (const Taken& taken : thread.taken) add(taken);
  } else {
    for (const Taken& taken : std::views::reverse(thread.taken)) add(taken);
  }
}

// Keeps, of the accesses to one variable between two other steps, the first and last that read and the first
// and last that write.
void Collector::thin(Open& open) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Kept {
    std::size_t since = kNone;  // start of the stretch between other steps
    std::size_t first_read = kNone, last_read = kNone, first_write = kNone, last_write = kNone;
  };
  std::vector<ShapeStep>& steps = open.shape.steps;
  std::vector<uint8_t> roles(steps.size(), 0);  // of each access: for how many of the four it stands
  tsl::robin_map<VariableId, Kept, MixHash> kept;
  std::size_t since = 0;
  const auto take = [&](std::size_t& place, std::size_t i) {
    if (place != kNone) --roles[place];
    place = i;
    ++roles[i];
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!is_access(steps[i].kind)) {
      roles[i] = 1;
      since = i + 1;
      continue;
    }
    Kept& variable = kept[steps[i].object];
    if (variable.since != since) variable = {since, kNone, kNone, kNone, kNone};
    if (reads(steps[i].kind)) {
      if (variable.first_read == kNone) take(variable.first_read, i);
      take(variable.last_read, i);
    }
    if (writes(steps[i].kind)) {
      if (variable.first_write == kNone) take(variable.first_write, i);
      take(variable.last_write, i);
    }
  }
  std::size_t to = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (roles[i] == 0) continue;
    if (to != i) {
      steps[to] = steps[i];
      open.shape.origins[to] = open.shape.origins[i];
      if (!open.clocks.empty()) open.clocks[to] = open.clocks[i];
    }
    ++to;
  }
  steps.resize(to);
  open.shape.origins.resize(to);
  if (!open.clocks.empty()) open.clocks.erase(open.clocks.begin() + static_cast<long>(to), open.clocks.end());
  open.thinned = to;
  drop_empty_inner_blocks(open);
}

// Keeps those with steps in them, those that are open, and those around these.
void Collector::drop_empty_inner_blocks(Open& open) {
  std::vector<InnerBlock>& inner = open.shape.inner;
  if (inner.empty()) return;
  std::vector<uint32_t> number(inner.size() + 1, 0);  // from 1; 0: not kept
  const auto keep = [&](uint32_t block) {
    for (; block != 0 && number[block] == 0; block = inner[block - 1].around) number[block] = 1;
  };
  keep(open.inner);
  for (const ShapeStep& step : open.shape.steps) keep(step.inner);
  uint32_t kept = 0;
  for (uint32_t block = 1; block <= inner.size(); ++block) {
    if (number[block] == 0) continue;
    number[block] = ++kept;
    inner[kept - 1] = inner[block - 1];
    inner[kept - 1].around = number[inner[kept - 1].around];
  }
  inner.resize(kept);
  open.inner = number[open.inner];
  for (ShapeStep& step : open.shape.steps) step.inner = number[step.inner];
}

void Collector::add_to_group(ShapeId shape, const ThreadClock& start, uint64_t stretch, bool past_is_open,
                             Instance instance, std::vector<ThreadClock> clocks) {
  const ThreadId thread = start.epoch().thread();
  if (clocks.empty()) {
    if (Group* known = groups_.find(shape, thread, stretch)) {
      ++known->count;
      known->latest = std::move(instance);
      return;
    }
  }
  Group group(start);
  group.shape = shape;
  group.thread = thread;
  group.stretch = stretch;
  group.past_is_open = past_is_open;
  group.count = 1;
  group.latest = instance;
  group.earliest = std::move(instance);
  group.clocks = std::move(clocks);
  groups_.add(std::move(group));
}

// Nobody else accesses the variable, or nobody writes it after its initialization.
bool Collector::is_idle(const Variable& variable) const {
  return !variable.is_shared || (!variable.others_write && variable.last_write <= variable.known);
}

void Collector::resolve(Shape& shape) const {
  for (ShapeStep& step : shape.steps) {
    if (!is_access(step.kind)) continue;
    const Variable& variable = variables_[step.object];
    step.initializes = step.moment != 0 && step.moment <= variable.known;
    step.moment = 0;
    step.idle = is_idle(variable);
    shape.touches_shared |= variable.is_shared;
  }
}

Transactions Collector::finish() {
  for (ThreadId id = 0; id < threads_.size(); ++id) {
    run_.held_at_end += threads_[id].depth;
    if (threads_[id].outermost == 0) continue;
    ++run_.unended;
    const Shape& shape = threads_[id].open.shape;
    close(id, shape.origins.empty() ? shape.begin.index : shape.origins.back().index);
  }
  ShapeTable resolved;
  std::vector<ShapeId> new_id;
  for (Shape& shape : shapes_.list()) {
    resolve(shape);
    new_id.push_back(resolved.intern(std::move(shape)));
  }
  GroupTable groups;
  for (Group& group : groups_.list()) {
    group.shape = new_id[group.shape];
    groups.add(std::move(group));
  }
  run_.shapes = std::move(resolved.list());
  run_.groups = std::move(groups.list());
  return std::move(run_);
}

}  // namespace heddle::predictive
