// What a running program tells of its data flow (`--heddle-dataflow`), beside its accesses: the values that
// assignments and branches are about, the places of its parallel constructs, marks for memory that is no
// longer there, calls of functions that nothing is known of.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "live/flow_names.h"
#include "runtime/channel.h"
#include "symbols/symbolizer.h"
#include "trace/event.h"

namespace heddle {

class ToldFlow {
 public:
  explicit ToldFlow(Names& names) : names_(names) {}

  // What is kept for each thread.
  struct Thread {
    uint32_t number = kNoId;              // FlowNames knows it by
    std::vector<std::string> constructs;  // that it is in, or was forked in: where they stand
    uint32_t tasks = 0;                   // that it is in, with the one it was forked in

    std::string place() const { return constructs.empty() ? "task" : constructs.back(); }
  };

  // What FlowNames knows the thread by.
  uint32_t number_of(Thread& thread);
  // The local for the value that an access reads or writes; kNoId: it has none.
  uint32_t local(Thread& thread, uint64_t label);
  // The object of an assignment or a branch, and what an assignment's value comes from.
  void set_locals(Thread& thread, const runtime::Record& record, Event& event);
  // That will soon be asked for.
  void fetch(const Thread& thread, const runtime::Record& record) const;

  // The program is in parallel constructs, so that memory given back is remembered.
  void begin_construct(Thread& thread, std::string place);
  void end_construct(Thread& thread);
  static void end_task(Thread& thread) { thread.tasks -= thread.tasks > 0 ? 1 : 0; }
  // An `if (HEDDLE_MAYBE)` of a thread that is in no task counts for nothing, and is remembered.
  void lose_maybe(const std::string& place);
  void fork(const Thread& from, Thread& to) const;
  void end_thread(Thread& thread);

  bool is_followed() const { return is_followed_; }
  void give_back(uint64_t begin, uint64_t end);
  // Memory that is used has begun a new life.
  void use(uint64_t begin, uint64_t end);
  // Whether all of the memory has been given back: a mark for it counts for nothing, and is remembered.
  bool is_dead_focus(uint64_t begin, uint64_t end, const std::string& place);

  // An iteration reads a thread_local variable as it was before, or writes it.
  void read_own(const runtime::Record& record, uint32_t thread, std::string place);
  void write_own(const runtime::Record& record, uint32_t thread);
  // The program has ended itself because it jumped out of an iteration, or into a body.
  void end_by_jump(std::string place) { bad_jump_ = std::move(place); }

  // A function was called that does not say what its results depend on.
  void call_unfollowed(uint64_t function) { ++unfollowed_[function]; }

  // What is to be known about all that.
  std::vector<std::string> notices(Symbolizer& symbolizer) const;

 private:
  // A word of all threads' copies of a thread_local variable. Of iterations two are as many as can matter.
  struct OwnWord {
    std::vector<uint64_t> readers;
    std::vector<uint64_t> writers;
    std::string place;  // of the first read

    bool carries_over() const;
  };

  FlowNames names_;
  uint32_t numbers_ = 0;  // given
  std::vector<uint32_t> unused_numbers_;
  bool is_followed_ = false;
  tsl::robin_map<uint64_t, uint64_t, MixHash> unfollowed_;  // calls, by address of the function
  std::map<uint64_t, uint64_t> dead_;                       // memory given back: where it begins, its end
  std::vector<std::string> dead_focus_;                     // where the marks are
  std::vector<std::string> lost_maybes_;                    // of threads that are in no task
  std::map<uint64_t, OwnWord> own_words_;                   // by where they lie from the thread pointer
  std::string bad_jump_;                                    // where it was made; empty: there was none
};

}  // namespace heddle
