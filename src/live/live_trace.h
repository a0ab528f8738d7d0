// A running program as a trace: what it tells through the channel, in words and dense ids, well formed.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/waits.h"
#include "live/channel_reader.h"
#include "live/even_rows.h"
#include "live/freed_memory.h"
#include "live/looks.h"
#include "live/sieve.h"
#include "live/sites.h"
#include "live/told_flow.h"
#include "live/told_locks.h"
#include "live/told_names.h"
#include "live/told_series.h"
#include "live/variables.h"
#include "symbols/symbolizer.h"
#include "trace/series.h"
#include "trace/source.h"

namespace heddle {

// Two accesses that the program's runtime found in race; or an access, and the end of its memory's life.
struct ToldRace {
  Event earlier;
  Event later;
  EventIndex index = 0;  // of the later one
};

class LiveTrace : public TraceSource, private Variables::Namer {
 public:
  // What becomes of a variable when it turns out to be several.
  enum class Divided : uint8_t {
    kForgotten,  // what was done to the whole is not held against the parts; but by ndseq
    kRecorded,   // the names say which parts it has (Names::parts()); a reader resolves them
  };
  // Blocks whose name is ignored leave no trace; an empty function ignores none.
  using IgnoresBlock = std::function<bool(std::string_view name)>;
  LiveTrace(ChannelReader& reader, std::string program, Divided divided = Divided::kForgotten,
            IgnoresBlock ignores = {}, Sieve::LetsThrough lets_through = Sieve::LetsThrough::kAll);

  // Waits until something was told.
  EventBatch next() override;
  // How many events the series among them stand for, beyond one for each.
  uint64_t events_in_series() const { return in_series_; }
  // How many records the program has told; of what cannot matter there are no events (live/sieve.h).
  uint64_t told() const { return sieve_.records(); }
  // Or begun to compare anew: what was told before, no checker sees beside what comes.
  bool has_left_out() const { return sieve_.has_dropped() || has_forgotten_variables_; }
  // After how many records it told of plain accesses again, which it had stopped; 0: it never did.
  uint64_t calm_until() const { return calm_until_; }
  // Called while next() waits, from there: all that was told before has been handed out.
  void while_waiting(std::function<void()> idle) { idle_ = std::move(idle); }
  const Names& names() const override { return names_; }
  std::string where(EventIndex index) const override;

  // What came to light since the latest batch, and was not taken yet.
  std::vector<ToldRace> take_races() { return std::exchange(races_, {}); }

  // Whether a block may be broken by what the program did not tell while it was calm (runtime/calm.h).
  bool has_doubt() const { return sieve_.has_doubt(); }

  // Whether one of them has an access that is not among the events.
  bool has_untold_race() const { return has_untold_race_; }
  bool has_begun_atomic() const { return has_begun_atomic_; }
  bool has_begun_deterministic() const { return has_begun_deterministic_; }

  // What is to be known about the data flow it told of.
  std::vector<std::string> flow_notices() { return flow_.notices(symbolizer_); }

  // Only races in the program are looked for: after so many records of a program without any, it need not
  // tell what orders its threads, which it knows itself.
  void needs_races_only(uint64_t after) { quiet_after_ = after; }
  bool is_quiet() const { return is_quiet_; }
  bool is_calm() const { return reader_.channel().calm.load() == runtime::Channel::kCalm; }

  // What the threads hold and wait for, after all that was told.
  Waits waits();
  // Circles of threads that wait for each other, that came to light since they were last taken.
  bool any_standstill() const { return !standstills_.empty(); }
  std::vector<std::vector<BlockedThread>> take_standstills() { return std::exchange(standstills_, {}); }

 private:
  struct Thread {
    ThreadId id = kNoId;
    runtime::Record race = {};  // the access that its next one is in race with; ticket: where that one is
    std::vector<runtime::Record> races;  // more of them, with accesses of the series that comes next
    ToldSeries::Thread series;
    std::vector<Event> blocks;       // how the open ones began; no object: ignored
    runtime::Record came_back = {};  // what its block gave comes back with what it tells next
    uint32_t what_followed = kNoId;  // a variable: what others do after what its block gave (runtime/spans.h)
    Looks looks;
    // Barriers it has come to and not left yet, by address: one may be gone before all have left it.
    tsl::robin_map<uint64_t, std::vector<uint32_t>, MixHash> arrivals;
    ToldFlow::Thread flow;
  };

  uint32_t begin_variable(uint64_t address, bool is_part) override;
  void divide_variable(uint32_t whole, std::span<const uint32_t> parts) override;
  void end_variables(uint32_t first, uint32_t count, bool is_part) override;
  uint32_t begin_row(uint64_t address, unsigned size, uint32_t count) override;
  // Lives that begin or end, of variables in a row.
  void add_lives(Operation operation, uint32_t first, uint32_t count);
  void add_lives(const Event& event, uint32_t count);

  void translate(uint32_t stream, const runtime::Record& record);
  void access(const runtime::Record& record, Event event, Thread& thread);
  void compute(const runtime::Record& record, Thread& thread);
  void tell_series(uint32_t stream);
  // As one event of a recording; false: its variables are not whole.
  bool record_series(const ToldSeries::Told& told, Thread& thread);
  bool add_series_variables(const ToldSeries::Told& told);
  // Addresses of an access of the series that is told.
  struct InRow {
    const runtime::SeriesStep* step = nullptr;  // none: they do not lie equally far apart
    uint64_t first = 0;
    uint64_t stride = 0;
    uint32_t count = 0;
    bool is_even = true;
  };
  bool find_rows(const ToldSeries::Told& told);
  bool add_variables_in_row(const runtime::SeriesStep& step, const InRow& row);
  template <class Begin>
  bool add_variables_of_visits(const ToldSeries::Told& told, Begin begin);
  uint32_t variable_at(const runtime::SeriesStep& step, uint64_t address);
  uint32_t variable_in_row(const runtime::SeriesStep& step, const InRow& row, uint32_t i);
  void begin_array(const runtime::SeriesStep& step, const InRow& row, uint64_t address);
  uint32_t shape_of(const ToldSeries::Told& told);
  uint64_t most_bytes() const;  // told apart of one access
  enum class Seen : uint8_t { kSeen, kForgotten, kNotTold };
  Seen seen_by_checkers(const runtime::Record& earlier, const runtime::Record& now) const;
  void race_with(const runtime::Record& earlier, const runtime::Record& now, const Event& later);
  void race_with_free(const runtime::Record& earlier, const runtime::Record& now, ThreadId freeing);
  void add_race(const runtime::Record& earlier, const Event& later);
  std::vector<ThreadId> ids_by_stream() const;
  void look_for_standstills();
  void become_quiet();
  void fetch(std::span<const ChannelReader::ToldRecord> records, std::size_t next) const;
  void ask_for_accesses(bool wants);
  // src/live/after_calm.cpp
  void after_calm(uint32_t stream, const runtime::Record& record);
  void rule_out_calm();
  void come_back(const runtime::Record& given, const runtime::Record& taken, const Event& now);
  uint32_t what_followed(const runtime::Record& given, std::string_view what);
  bool is_known_to_race(const Sieve::ToldRecord& told);
  void block(const runtime::Record& record, Event event, Thread& thread);
  // What comes is judged apart from what was, in the atomic blocks that no other kind of block lies in.
  void judge_apart(const Thread& thread, SiteId site);
  void barrier(const runtime::Record& record, Event event, Thread& thread);
  void task(const runtime::Record& record, Event event, Thread& thread);
  void focus(const runtime::Record& record, Event event);
  void forget(uint64_t address, uint64_t size);
  void forget_objects(uint64_t address, uint64_t end);  // all that is no variable
  // src/live/recorded_lives.cpp
  void give_back(const runtime::Record& record);
  void end_freed(uint64_t begin, uint64_t end);
  uint32_t begin_in_freed(uint64_t address);
  void forget_variables();
  Thread& thread(uint32_t stream);
  uint32_t lock_at(const runtime::Record& record, SiteId site);
  uint32_t object_at(Space space, const runtime::Record& record, SiteId site, std::string_view kind);
  void add(const Event& event) { events_.push_back(event); }

  ChannelReader& reader_;
  Sieve sieve_;
  std::vector<Sieve::ToldRecord> passed_;  // by the sieve
  std::string program_;
  Divided divided_;
  bool tells_ends_;  // of locks and threads: no recording, and no checker that knows nothing of them
  IgnoresBlock ignores_;
  Names names_;
  Symbolizer symbolizer_;
  Sites sites_;
  Variables variables_{*this};
  FreedMemory freed_;
  tsl::robin_set<uint32_t, MixHash> parts_of_freed_;  // variables; they are not used again
  std::vector<Event> events_;
  ToldNames told_names_{names_, symbolizer_, sites_};
  ToldLocks locks_{events_};
  ToldFlow flow_{names_};
  ToldSeries series_;
  tsl::robin_map<uint64_t, uint32_t, MixHash> shapes_;  // of series, by pattern and call stack
  SeriesRun run_;                                       // that is being told
  std::string text_;                                    // of it
  runtime::Record series_access_ = {};                  // of it, while variables_ asks for names
  EvenRows even_rows_;
  std::vector<InRow> rows_by_step_;                                            // of it
  std::vector<uint32_t> step_variables_;                                       // of a step of it
  std::vector<std::vector<uint32_t>> variables_by_step_;                       // where they are not in series
  std::array<std::vector<uint32_t>, runtime::kMostBlocks> accesses_by_block_;  // steps of those
  uint64_t in_series_ = 0;       // events that series stand for, but one for each
  std::vector<Thread> threads_;  // by stream
  tsl::robin_map<uint64_t, uint32_t, MixHash> barriers_;
  tsl::robin_map<uint64_t, uint32_t, MixHash> semaphores_;
  tsl::robin_map<uint64_t, uint32_t, MixHash> conditions_;
  tsl::robin_map<uint64_t, uint32_t, MixHash> blocks_;  // by address of the name; kNoId: ignored
  uint32_t told_per_stretch_;                           // accesses, when they are wanted
  bool wants_accesses_ = true;                          // and so the program was told
  uint64_t calm_until_ = 0;
  bool has_untold_race_ = false;
  bool has_forgotten_variables_ = false;  // so that what was told before is not compared any more
  bool has_begun_atomic_ = false;         // a block
  bool has_begun_deterministic_ = false;
  uint64_t quiet_after_ = 0;                    // so many records, if not 0 …
  bool is_quiet_ = false;                       // … and so the program was told
  const runtime::Record* accessing_ = nullptr;  // while variables_ asks for names
  SiteId accessing_at_ = kNoId;
  std::vector<uint32_t> pieces_;  // that the present access is about
  ThreadId now_ = kNoId;          // whose record is translated
  std::size_t handed_out_ = 0;    // of events_
  // Locks whose life is over: after what is in events_, and told with the latest batch.
  std::vector<uint32_t> ending_locks_;
  std::vector<uint32_t> ended_locks_;
  std::vector<ToldRace> races_;
  uint64_t looked_at_waits_ = 0;     // of the sieve's
  uint64_t next_look_ = kLookEvery;  // after so many records
  static constexpr uint64_t kLookEvery = 1U << 16;
  static constexpr std::size_t kAhead = 8;             // records
  std::set<std::vector<ThreadId>> known_standstills_;  // their threads: they stay there
  std::vector<std::vector<BlockedThread>> standstills_;
  std::function<void()> idle_;
  EventIndex first_ = 0;
};

}  // namespace heddle
