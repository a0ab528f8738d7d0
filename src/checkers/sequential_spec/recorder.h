// Makes a History from the events of a trace.
//
// A thread is in the task it began last and has not ended; a thread forked inside a task is in that task, and
// in the if (true*) around the fork. Locals belong to a task, whatever thread uses them; one that its task
// has not set is that of the task around it, whose value it was given.
#pragma once

#include <tsl/robin_map.h>

#include <string_view>
#include <vector>

#include "base/hash.h"
#include "checkers/sequential_spec/history.h"
#include "checkers/sequential_spec/pointer_counts.h"
#include "core/barrier_phases.h"
#include "trace/names.h"

namespace heddle::sequential_spec {

class Recorder {
 public:
  explicit Recorder(const Names& names);

  void process(const EventBatch& batch);
  std::size_t size() const { return history_.nodes.size(); }
  History take();

 private:
  using ScopeId = uint32_t;  // a task as a whole, whatever its parts

  struct Scope {
    ScopeId around = 0;
    TaskId part = kProgram;                    // the present one
    uint32_t users = 0;                        // open task, threads forked in it, scopes inside it
    uint32_t running = 0;                      // tasks right inside it that are open
    tsl::robin_map<uint32_t, NodeId> defined;  // by local: what set it last
  };
  struct Frame {
    bool is_task = false;
    uint32_t id = 0;  // ScopeId or MaybeId
  };
  struct Thread {
    std::vector<Frame> open;  // tasks and if (true*) it is in, outermost first
    ScopeId scope = 0;        // the innermost one
    MaybeId guard = kNoMaybe;
    ScopeId forked_in = 0;  // where it started …
    MaybeId forked_under = kNoMaybe;
    bool is_user = false;           // … and whether that scope still counts it
    uint32_t context = kNoId;       // of its next event; kNoId: not made yet
    TaskId context_task = kNoTask;  // the task that context says
  };
  struct Arrival {
    ScopeId scope = 0;
    TaskId part = kProgram;
    NodeId node = kNoNode;
  };
  // What the arrivals at a phase of a barrier bring along.
  struct Arrivals {
    std::vector<Arrival> list;
    uint32_t phase = kNoId;  // in phases_; of the first arrival
    void join(const Arrivals& other);
  };
  struct Phase {
    bool is_left = false;      // by somebody
    bool has_tasks = false;    // different ones meet
    TaskId meeting = kNoTask;  // of siblings
  };

  void record(const Event& event, EventIndex index);
  NodeId add(const Event& event, EventIndex index, Kind kind, uint32_t object);
  void add_read(const Event& event, EventIndex index);
  void add_write(const Event& event, EventIndex index);
  void add_update(const Event& event, EventIndex index);
  void add_look(const Event& event, EventIndex index);
  void add_touch(const Event& event, EventIndex index);
  void add_assignment(const Event& event, EventIndex index);
  void add_take(const Event& event, EventIndex index);
  void add_drop(const Event& event, EventIndex index);
  void add_alive(const Event& event, EventIndex index);
  void use(ThreadId thread, uint32_t local);
  void define(ThreadId thread, uint32_t local, NodeId node);
  void end_node() { history_.nodes.back().sources_end = static_cast<NodeId>(history_.sources.size()); }

  void begin_task(const Event& event);
  void end_task(ThreadId thread);
  void begin_maybe(const Event& event, EventIndex index);
  void end_maybe(ThreadId thread);
  void leave_frame(Thread& thread);
  void fork(ThreadId parent, ThreadId child);
  void end_thread(ThreadId id);
  void release(ScopeId scope);
  void arrive(const Event& event, EventIndex index);
  void leave(const Event& event, EventIndex index);
  void begin_meeting(Phase& phase, const Arrivals& arrivals, uint32_t barrier);

  Thread& thread(ThreadId id);
  uint32_t context_of(ThreadId id);
  void end_life(uint32_t variable);
  uint32_t location(uint32_t variable);
  uint32_t side_location(tsl::robin_map<uint32_t, uint32_t>& of, uint32_t place);
  uint32_t number_of(const Event& event) const;
  const std::vector<uint32_t>& locals_in(uint32_t list);

  const Names& names_;
  History history_;
  std::vector<Thread> threads_;        // by thread
  std::vector<Scope> scopes_;          // by ScopeId; the program's first
  std::vector<ScopeId> free_scopes_;   // that nobody uses any more
  std::vector<uint32_t> of_variable_;  // by variable: the location of its present life; kNoId: none yet
  tsl::robin_map<uint32_t, std::vector<uint32_t>> parts_of_;  // of variables that come apart, until they end
  std::size_t parts_known_ = 0;                               // of Names::parts()
  tsl::robin_map<std::string_view, uint32_t> local_ids_;      // names of Space::kLocal
  uint32_t locals_known_ = 0;                                 // how many of them are there
  std::vector<std::vector<uint32_t>> lists_;  // by id in Space::kLocalList, of those seen: the locals in it
  std::vector<uint32_t> listed_when_;         // how many locals were known then; 0: never
  tsl::robin_map<uint32_t, BarrierPhases<Arrivals>> barriers_;
  std::vector<Phase> phases_;
  PointerCounts pointers_;
  // By location of how many pointers there are: that of whether one is left, and of what is borrowed.
  tsl::robin_map<uint32_t, uint32_t> life_of_;
  tsl::robin_map<uint32_t, uint32_t> borrowed_of_;
};

}  // namespace heddle::sequential_spec
