#include "checkers/sequential_spec/recorder.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace heddle::sequential_spec {

namespace {

// As HappensBefore has it, but for atomics, which are nodes.
bool orders_threads(Operation operation) {
  return (operation >= Operation::kAcquire && operation <= Operation::kThreadEnd) ||
         (operation >= Operation::kArrive && operation <= Operation::kWait) ||
         operation == Operation::kFence || operation == Operation::kSync;
}

}  // namespace

Event History::event(NodeId id) const {
  const Node& node = nodes[id];
  Event event;
  event.operation = node.operation;
  event.order = node.order;
  event.thread = context(id).thread;
  const bool is_access = node.kind == Kind::kRead || node.kind == Kind::kWrite || node.kind == Kind::kCount;
  event.object = is_access ? variables[node.object] : node.kind == Kind::kMaybe ? kNoId : node.object;
  event.site = node.site;
  event.local = node.local;
  const auto value = std::lower_bound(values.begin(), values.end(), std::pair(id, uint32_t{0}));
  if (value != values.end() && value->first == id) event.value = value->second;
  return event;
}

void Recorder::Arrivals::join(const Arrivals& other) {
  list.insert(list.end(), other.list.begin(), other.list.end());
  if (phase == kNoId) phase = other.phase;
}

Recorder::Recorder(const Names& names) : names_(names), scopes_(1) {
  history_.tasks.emplace_back();
  scopes_[0].users = 1;
}

History Recorder::take() {
  pointers_.settle(history_);
  return std::move(history_);
}

void Recorder::process(const EventBatch& batch) {
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    if (orders_threads(event.operation))
      history_.synchronization.push_back({static_cast<NodeId>(history_.nodes.size()), event});
    record(event, batch.first + i);
  }
}

void Recorder::record(const Event& event, EventIndex index) {
  switch (event.operation) {
    case Operation::kRead:
    case Operation::kAtomicRead:
    case Operation::kAtomicCompareFail: return add_read(event, index);
    case Operation::kWrite:
    case Operation::kAtomicWrite: return add_write(event, index);
    case Operation::kAtomicUpdate: return add_update(event, index);
    case Operation::kLook: return add_look(event, index);
    case Operation::kTouch: return add_touch(event, index);
    case Operation::kCount: add(event, index, Kind::kCount, location(event.object)); return;
    case Operation::kTake: return add_take(event, index);
    case Operation::kDrop: return add_drop(event, index);
    case Operation::kAlive: return add_alive(event, index);
    case Operation::kAssign: return add_assignment(event, index);
    case Operation::kBranch: {
      const NodeId branch = add(event, index, Kind::kBranch, event.object);
      history_.nodes[branch].decides = true;
      use(event.thread, event.object);
      return end_node();
    }
    case Operation::kFocus: {
      const uint32_t place = location(event.object);
      if (history_.is_focus.size() <= place) history_.is_focus.resize(place + 1, false);
      history_.is_focus[place] = true;
      return;
    }
    case Operation::kTaskBegin: return begin_task(event);
    case Operation::kTaskEnd: return end_task(event.thread);
    case Operation::kMaybeBegin: return begin_maybe(event, index);
    case Operation::kMaybeEnd: return end_maybe(event.thread);
    case Operation::kFork: return fork(event.thread, event.object);
    case Operation::kJoin: return end_thread(event.object);
    case Operation::kThreadEnd: return end_thread(event.thread);
    case Operation::kArrive: return arrive(event, index);
    case Operation::kLeave: return leave(event, index);
    case Operation::kAlloc:
    case Operation::kFree: return end_life(event.object);
    case Operation::kPost:
    case Operation::kWait:
      if (thread(event.thread).scope != 0) ++history_.hand_overs;
      return;
    // The specification is sequential: nobody waits for a lock, and every operation is seen by the next.
    case Operation::kAcquire:
    case Operation::kRelease:
    case Operation::kAcquireShared:
    case Operation::kReleaseShared:
    case Operation::kThreadBegin:
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kFence:
    case Operation::kCommit:
    case Operation::kSync:
    case Operation::kNested: return;
  }
}

NodeId Recorder::add(const Event& event, EventIndex index, Kind kind, uint32_t object) {
  const auto id = static_cast<NodeId>(history_.nodes.size());
  Node& node = history_.nodes.emplace_back();
  node.event = static_cast<uint32_t>(index);
  node.object = object;
  node.context = context_of(event.thread);
  node.site = event.site;
  node.local = event.local;
  node.operation = event.operation;
  node.order = event.order;
  node.kind = kind;
  if (scopes_[thread(event.thread).scope].running > 0) history_.beside.push_back(id);
  if (event.value != kNoId && event.operation != Operation::kAssign)
    history_.values.emplace_back(id, event.value);
  end_node();
  return id;
}

void Recorder::add_read(const Event& event, EventIndex index) {
  const NodeId read = add(event, index, Kind::kRead, location(event.object));
  if (event.local == kNoId) {
    history_.nodes[read].decides = true;
  } else {
    define(event.thread, event.local, read);
  }
}

void Recorder::add_write(const Event& event, EventIndex index) {
  add(event, index, Kind::kWrite, location(event.object));
  if (event.local != kNoId) use(event.thread, event.local);
  end_node();
}

void Recorder::add_update(const Event& event, EventIndex index) {
  const uint32_t place = location(event.object);
  const NodeId read = add(event, index, Kind::kRead, place);
  history_.nodes[read].decides = event.local == kNoId;
  add(event, index, Kind::kWrite, place);
  history_.sources.push_back(read);
  if (event.local != kNoId) {
    use(event.thread, event.local);
    define(event.thread, event.local, read);
  }
  end_node();
}

// What code that tells nothing sees is added to what it has seen so far.
void Recorder::add_look(const Event& event, EventIndex index) {
  const NodeId read = add(event, index, Kind::kRead, location(event.object));
  ++history_.assumed;
  if (event.local == kNoId) {
    history_.nodes[read].decides = true;
    return;
  }
  Event learns = event;  // set(l,l,x), if there were such an operation
  learns.operation = Operation::kAssign;
  learns.local = learns.value = kNoId;
  const NodeId seen = add(learns, index, Kind::kAssign, event.local);
  history_.sources.push_back(read);
  use(event.thread, event.local);
  end_node();
  define(event.thread, event.local, seen);
}

// Whatever code that tells nothing has seen so far, it may have written here as well.
void Recorder::add_touch(const Event& event, EventIndex index) {
  const uint32_t place = location(event.object);
  const NodeId read = add(event, index, Kind::kRead, place);
  history_.nodes[read].decides = event.local == kNoId;
  const NodeId write = add(event, index, Kind::kWrite, place);
  history_.sources.push_back(read);
  if (event.local != kNoId) {
    use(event.thread, event.local);
    define(event.thread, event.local, write);
  }
  end_node();
  ++history_.assumed;
}

void Recorder::add_assignment(const Event& event, EventIndex index) {
  const NodeId assignment = add(event, index, Kind::kAssign, event.object);
  if (event.local != kNoId)
    for (const uint32_t local : locals_in(event.local)) use(event.thread, local);
  end_node();
  define(event.thread, event.object, assignment);
}

// D1: the last node that set the local.
void Recorder::use(ThreadId id, uint32_t local) {
  history_.has_data_flow = true;
  for (ScopeId scope = thread(id).scope;; scope = scopes_[scope].around) {
    const auto& defined = scopes_[scope].defined;
    if (const auto found = defined.find(local); found != defined.end()) {
      history_.sources.push_back(found->second);
      return;
    }
    if (scope == 0) return;
  }
}

void Recorder::define(ThreadId id, uint32_t local, NodeId node) {
  history_.has_data_flow = true;
  scopes_[thread(id).scope].defined[local] = node;
}

void Recorder::begin_task(const Event& event) {
  const ScopeId around = thread(event.thread).scope;
  ScopeId id = 0;
  if (free_scopes_.empty()) {
    id = static_cast<ScopeId>(scopes_.size());
    scopes_.emplace_back();
  } else {
    id = free_scopes_.back();
    free_scopes_.pop_back();
  }
  ++scopes_[around].users;
  ++scopes_[around].running;
  const TaskId parent = scopes_[around].part;
  Scope& scope = scopes_[id];
  scope.around = around;
  scope.users = 1;
  scope.part = static_cast<TaskId>(history_.tasks.size());
  history_.tasks.push_back({parent, history_.tasks[parent].depth + 1, event.object, 0, false});
  Thread& thread = this->thread(event.thread);
  thread.open.push_back({true, id});
  thread.scope = id;
  thread.context = kNoId;
}

void Recorder::end_task(ThreadId id) {
  Thread& thread = this->thread(id);
  const ScopeId scope = thread.scope;
  pointers_.end(scopes_[scope].part, thread.guard);
  --scopes_[scopes_[scope].around].running;
  leave_frame(thread);
  release(scope);
}

void Recorder::begin_maybe(const Event& event, EventIndex index) {
  const auto id = static_cast<MaybeId>(history_.maybes.size());
  history_.maybes.push_back(add(event, index, Kind::kMaybe, id));
  Thread& thread = this->thread(event.thread);
  thread.open.push_back({false, id});
  thread.guard = id;
  thread.context = kNoId;
}

void Recorder::end_maybe(ThreadId id) {
  Thread& thread = this->thread(id);
  pointers_.end(scopes_[thread.scope].part, thread.guard);
  leave_frame(thread);
}

void Recorder::leave_frame(Thread& thread) {
  thread.open.pop_back();
  thread.scope = thread.forked_in;
  thread.guard = thread.forked_under;
  thread.context = kNoId;
  bool has_scope = false;
  bool has_guard = false;
  for (auto frame = thread.open.rbegin(); frame != thread.open.rend() && !(has_scope && has_guard); ++frame) {
    bool& has = frame->is_task ? has_scope : has_guard;
    if (!has) (frame->is_task ? thread.scope : thread.guard) = frame->id;
    has = true;
  }
}

void Recorder::fork(ThreadId parent, ThreadId child) {
  const ScopeId scope = thread(parent).scope;
  const MaybeId guard = thread(parent).guard;
  Thread& forked = thread(child);
  forked.scope = forked.forked_in = scope;
  forked.guard = forked.forked_under = guard;
  forked.is_user = true;
  forked.context = kNoId;
  ++scopes_[scope].users;
}

void Recorder::end_thread(ThreadId id) {
  Thread& ended = thread(id);
  if (!ended.is_user) return;
  ended.is_user = false;
  release(ended.forked_in);
}

// Nobody can use the locals of a task any more that has ended with all that is inside it.
void Recorder::release(ScopeId id) {
  while (id != 0 && --scopes_[id].users == 0) {
    scopes_[id].defined.clear();
    free_scopes_.push_back(id);
    id = scopes_[id].around;
  }
}

void Recorder::arrive(const Event& event, EventIndex index) {
  const ScopeId scope = thread(event.thread).scope;
  Arrivals arrival;
  arrival.phase = static_cast<uint32_t>(phases_.size());
  phases_.emplace_back();
  const NodeId node = scope == 0 ? kNoNode : add(event, index, Kind::kMeet, event.object);
  arrival.list.push_back({scope, scopes_[scope].part, node});
  barriers_[event.object].arrive(event.thread, arrival);
}

void Recorder::leave(const Event& event, EventIndex index) {
  const Arrivals arrivals = barriers_[event.object].leave(event.thread);
  Phase& phase = phases_[arrivals.phase];
  if (!phase.is_left) {
    phase.is_left = true;
    begin_meeting(phase, arrivals, event.object);
  }
  const ScopeId scope = thread(event.thread).scope;
  if (!phase.has_tasks || scope == 0) return;
  // The task goes on as another one, once for all its threads.
  const TaskId before = scopes_[scope].part;
  if (std::any_of(arrivals.list.begin(), arrivals.list.end(),
                  [&](const Arrival& arrival) { return arrival.part == before; })) {
    const Task old = history_.tasks[before];
    pointers_.end(before, thread(event.thread).guard);
    scopes_[scope].part = static_cast<TaskId>(history_.tasks.size());
    history_.tasks.push_back({old.parent, old.depth, old.name, old.part + 1, false});
  }
  const NodeId node = add(event, index, Kind::kMeet, event.object);
  const TaskId after = scopes_[scope].part;
  if (phase.meeting != kNoTask) {
    history_.meetings.push_back({phase.meeting, after, node, node});
    return;
  }
  for (const Arrival& arrival : arrivals.list)
    if (arrival.scope != 0) history_.meetings.push_back({arrival.part, after, arrival.node, node});
}

// Threads of one task that meet do not make it two. Siblings meet in a task of its own, which keeps the links
// as few as the tasks; others are linked pair by pair.
void Recorder::begin_meeting(Phase& phase, const Arrivals& arrivals, uint32_t barrier) {
  ScopeId first = 0;
  bool are_siblings = true;
  TaskId parent = kNoTask;
  for (const Arrival& arrival : arrivals.list) {
    if (arrival.scope == 0) continue;
    if (first == 0) {
      first = arrival.scope;
      parent = history_.tasks[arrival.part].parent;
    }
    phase.has_tasks |= arrival.scope != first;
    are_siblings &= history_.tasks[arrival.part].parent == parent;
  }
  if (!phase.has_tasks || !are_siblings) return;
  phase.meeting = static_cast<TaskId>(history_.tasks.size());
  history_.tasks.push_back({parent, history_.tasks[parent].depth + 1, barrier, 0, true});
  for (const Arrival& arrival : arrivals.list)
    if (arrival.scope != 0)
      history_.meetings.push_back({arrival.part, phase.meeting, arrival.node, arrival.node});
}

Recorder::Thread& Recorder::thread(ThreadId id) {
  if (id >= threads_.size())
    threads_.resize(std::max<std::size_t>(id + 1, names_.table(Space::kThread).size()));
  return threads_[id];
}

uint32_t Recorder::context_of(ThreadId id) {
  Thread& thread = this->thread(id);
  const TaskId task = scopes_[thread.scope].part;
  if (thread.context == kNoId || thread.context_task != task) {
    thread.context = static_cast<uint32_t>(history_.contexts.size());
    thread.context_task = task;
    history_.contexts.push_back({task, thread.guard, id});
  }
  return thread.context;
}

// Of a running program, a variable that comes apart ends; what was done to it counts against its parts, which
// are one location with it. (In a recording it was parts from the start.)
void Recorder::end_life(uint32_t variable) {
  if (variable >= of_variable_.size()) return;
  for (const std::vector<VariablePart>& parts = names_.parts(); parts_known_ < parts.size(); ++parts_known_)
    parts_of_[parts[parts_known_].whole].push_back(parts[parts_known_].variable);
  const uint32_t place = std::exchange(of_variable_[variable], kNoId);
  const auto divided = parts_of_.find(variable);
  if (divided == parts_of_.end()) return;
  for (const uint32_t part : divided->second) {
    if (part >= of_variable_.size()) of_variable_.resize(std::size_t{part} + 1, kNoId);
    of_variable_[part] = place;
  }
  parts_of_.erase(divided);
}

uint32_t Recorder::location(uint32_t variable) {
  if (variable >= of_variable_.size())
    of_variable_.resize(std::max<std::size_t>(variable + 1, names_.table(Space::kVariable).size()), kNoId);
  if (of_variable_[variable] == kNoId) {
    of_variable_[variable] = static_cast<uint32_t>(history_.variables.size());
    history_.variables.push_back(variable);
  }
  return of_variable_[variable];
}

// Of a local that nothing has set yet no id need be known.
const std::vector<uint32_t>& Recorder::locals_in(uint32_t list) {
  const StringTable& locals = names_.table(Space::kLocal);
  for (; locals_known_ < locals.size(); ++locals_known_)
    local_ids_.emplace(locals[locals_known_], locals_known_);
  if (list >= lists_.size()) {
    const std::size_t size = std::max<std::size_t>(list + 1, names_.table(Space::kLocalList).size());
    lists_.resize(size);
    listed_when_.resize(size, 0);
  }
  if (listed_when_[list] == locals_known_) return lists_[list];
  listed_when_[list] = locals_known_;
  lists_[list].clear();
  for (const std::string_view name : split(names_.name(Space::kLocalList, list), ","))
    if (const auto found = local_ids_.find(name); found != local_ids_.end())
      lists_[list].push_back(found->second);
  return lists_[list];
}

}  // namespace heddle::sequential_spec
