#include "trace/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"
#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle {

using synthetic::Budget;
using synthetic::Plan;
using synthetic::Script;
using synthetic::Shape;

namespace {

constexpr std::size_t kBatch = 2048;
constexpr ThreadId kMain = 0;
constexpr ThreadId kFirstWorker = 1;
constexpr uint64_t kPlantedEvents = 5;

constexpr std::array<SyntheticShapeInfo, 8> kShapes = {{
    {SyntheticShape::kTwoPhaseLocked, "two-phase-locked",
     "blocks that take all their locks before they give one back"},
    {SyntheticShape::kLateViolation, "late-violation", "the same, with one violation among the last events"},
    {SyntheticShape::kLongLived, "long-lived",
     "a few blocks stay open, and every other depends on one of them"},
    {SyntheticShape::kFeeders, "feeders", "short blocks hand messages to one that stays open"},
    {SyntheticShape::kManyThreads, "many-threads",
     "mostly own data, some shared and never written, some locked"},
    {SyntheticShape::kBarriers, "barriers", "arrays rewritten between barriers and read by all"},
    {SyntheticShape::kLockFree, "lock-free", "mostly own data, one shared atomic a block, stores fenced"},
    {SyntheticShape::kOptimisticTasks, "optimistic-tasks",
     "tasks with data flow, for ndseq: own work, and commits that some try in vain first"},
}};

// Options as the schedule needs them. Throws InputError on those that no trace can meet.
SyntheticOptions completed(SyntheticOptions options) {
  const auto require = [](bool holds, std::string_view what) {
    if (!holds) throw InputError(fmt::format("cannot generate a trace: {}", what));
  };
  require(options.threads >= 1, "it needs at least one thread besides main");
  require(options.threads <= 1'000'000, "at most 1000000 threads");
  // Variables have names and statements have sites, which are made before the first event.
  require(options.variables <= 10'000'000, "at most 10000000 variables");
  const uint32_t fewest = 2 * options.threads + 16;
  require(options.variables >= fewest,
          fmt::format("{} need at least {} variables", counted(options.threads, "thread"), fewest));
  require(options.block_length >= 1 && options.block_length <= 10'000, "a block has 1 to 10000 accesses");
  require(options.burst >= 1 && options.burst <= 1'000'000, "a burst has 1 to 1000000 events");
  if (options.locks == 0) options.locks = 8 * options.threads;
  options.locks = std::min(options.locks, options.variables);
  return options;
}

std::unique_ptr<Shape> make_shape(const SyntheticOptions& options, Random& random, Names& names) {
  switch (options.shape) {
    case SyntheticShape::kTwoPhaseLocked:
    case SyntheticShape::kLateViolation: return synthetic::make_two_phase_locked(options, random, names);
    case SyntheticShape::kLongLived: return synthetic::make_long_lived(options, random, names);
    case SyntheticShape::kFeeders: return synthetic::make_feeders(options, random, names);
    case SyntheticShape::kManyThreads: return synthetic::make_many_threads(options, random, names);
    case SyntheticShape::kBarriers: return synthetic::make_barriers(options, random, names);
    case SyntheticShape::kLockFree: return synthetic::make_lock_free(options, random, names);
    case SyntheticShape::kOptimisticTasks: return synthetic::make_optimistic_tasks(options, random, names);
  }
  throw std::logic_error("a shape of synthetic traces that nobody makes");
}

}  // namespace

std::span<const SyntheticShapeInfo> synthetic_shapes() { return kShapes; }

SyntheticShape find_synthetic_shape(std::string_view name) {
  std::vector<std::string> known;
  for (const SyntheticShapeInfo& info : kShapes) {
    if (info.name == name) return info.shape;
    known.emplace_back(info.name);
  }
  const std::string near = nearest(name, known);
  throw InputError(fmt::format("unknown shape '{}'{}; the shapes are {}", printable(name),
                               near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                               join_with_and(known)));
}

// Decides who acts next, and keeps what a thread may have to wait for.
class SyntheticTrace::Schedule {
 public:
  explicit Schedule(const SyntheticOptions& options);

  // Adds about kBatch events, fewer only at the end.
  void fill(std::vector<Event>& batch);

  const Names& names() const { return names_; }
  EventIndex done() const { return done_; }
  double progress() const { return static_cast<double>(done_) / static_cast<double>(options_.events); }
  std::optional<PlantedViolation> planted() const {
    if (planted_at_ == kNever) return std::nullopt;
    return PlantedViolation{planted_at_ + 1, planted_at_ + 2, planted_at_ + 3};
  }

 private:
  static constexpr EventIndex kNever = ~EventIndex{0};

  struct Worker {
    explicit Worker(uint32_t id) : number(id), script(kFirstWorker + id) {}
    uint32_t number;        // from 0
    Script script;          // what it is doing
    uint64_t arrivals = 0;  // at the barrier
    bool finished = false;  // its shape has nothing more for it
  };

  void add_names();
  void plan_start();
  void plan_end();
  void plant(std::vector<Event>& batch);
  void run_burst(std::vector<Event>& batch);
  Worker* choose_worker();
  enum class Standing : uint8_t { kCanAct, kWaits, kFinished };
  Standing standing(Worker& worker);
  bool must_wait(const Worker& worker) const;
  void act(Worker& worker, std::vector<Event>& batch);
  void put(const Event& event, std::vector<Event>& batch) {
    batch.push_back(event);
    ++done_;
  }

  SyntheticOptions options_;
  Random random_;
  Names names_;
  SiteId main_site_ =
      0;  // lines of what main does by itself: forking, joining, its own reads, the planted write
  SiteId late_site_ = 0;  // lines of the planted block
  std::unique_ptr<Shape> shape_;
  Script main_{kMain};
  std::vector<Worker> workers_;       // by number
  std::vector<uint32_t> active_;      // numbers of workers that have not finished, in no order
  std::vector<ThreadId> lock_owner_;  // by lock; kNoId: free
  uint64_t arrivals_ = 0;             // of all workers at the barrier
  Budget budget_{0};                  // what workers may still use
  EventIndex done_ = 0;               // events so far
  uint32_t total_ = kNoId;            // the variable main reads at the end; kNoId: not yet
  EventIndex planted_at_ = kNever;    // where the planted block begins
  bool joined_ = false;               // main has been told to join the workers
};

SyntheticTrace::Schedule::Schedule(const SyntheticOptions& options)
    : options_(completed(options)), random_(options.seed) {
  add_names();
  shape_ = make_shape(options_, random_, names_);
  lock_owner_.resize(options_.locks, kNoId);
  workers_.reserve(options_.threads);
  for (uint32_t number = 0; number < options_.threads; ++number) {
    workers_.emplace_back(number);
    active_.push_back(number);
  }
  plan_start();
}

void SyntheticTrace::Schedule::add_names() {
  for (uint32_t i = 0; i <= options_.threads; ++i) names_.table(Space::kThread).append(fmt::format("T{}", i));
  for (uint32_t i = 0; i < options_.variables; ++i)
    names_.table(Space::kVariable).append(fmt::format("x{}", i));
  for (uint32_t i = 0; i < options_.locks; ++i) names_.table(Space::kLock).append(fmt::format("m{}", i));
  main_site_ = names_.sites().size();
  for (const int line : {11, 14, 17, 20}) names_.intern_site(fmt::format("main.cpp:{}", line));
  late_site_ = names_.sites().size();
  for (const int line : {31, 32, 35, 36}) names_.intern_site(fmt::format("late.cpp:{}", line));
}

void SyntheticTrace::Schedule::plan_start() {
  shape_->plan_main(main_);
  for (uint32_t i = 0; i < options_.threads; ++i) {
    main_.continue_at(main_site_);
    main_.add(Operation::kFork, kFirstWorker + i);
  }
  // Main's joins come last, right before them at the latest the planted events; and since the workers stop
  // when what is left is too little for the block they would do next, the planted events must come earlier by
  // that much.
  const bool late = options_.shape == SyntheticShape::kLateViolation;
  const uint64_t end = options_.threads + (late ? kPlantedEvents : 0);
  const uint64_t tail = end + (late ? synthetic::longest_block(options_) : 0);
  if (options_.events < main_.size() + tail)
    throw InputError(fmt::format("cannot generate a trace: {} of this shape need at least {} events",
                                 counted(options_.threads, "thread"), main_.size() + tail));
  budget_ = Budget(options_.events - main_.size() - end);
  if (late)
    planted_at_ = std::max<uint64_t>(main_.size(), options_.events - std::max(options_.events / 1000, tail));
}

void SyntheticTrace::Schedule::plan_end() {
  constexpr uint32_t kReadsAtATime = 64;
  if (!joined_) {
    joined_ = true;
    main_.restart(main_site_ + 1);
    for (uint32_t i = 0; i < options_.threads; ++i) {
      main_.continue_at(main_site_ + 1);
      main_.add(Operation::kJoin, kFirstWorker + i);
    }
    return;
  }
  if (budget_.left() == 0) throw std::logic_error("a synthetic trace ended early");
  // What the workers left of the budget, main uses up.
  if (total_ == kNoId) total_ = names_.table(Space::kVariable).append("total");
  main_.restart(main_site_ + 2);
  while (main_.size() < kReadsAtATime && budget_.take(1)) {
    main_.continue_at(main_site_ + 2);
    main_.add(Operation::kRead, total_);
  }
}

void SyntheticTrace::Schedule::fill(std::vector<Event>& batch) {
  while (batch.size() < kBatch && done_ < options_.events) {
    if (!main_.done()) {
      put(main_.current(), batch);
      main_.advance();
    } else if (done_ == planted_at_) {
      plant(batch);
    } else if (!active_.empty()) {
      run_burst(batch);
    } else {
      plan_end();
    }
  }
}

void SyntheticTrace::Schedule::plant(std::vector<Event>& batch) {
  const uint32_t variable = names_.table(Space::kVariable).append("late");
  const uint32_t block = names_.table(Space::kBlock).intern("late");
  Script reader(kFirstWorker);
  reader.restart(late_site_);
  reader.add(Operation::kBeginAtomic, block);
  reader.add(Operation::kRead, variable);
  reader.add(Operation::kWrite, variable);
  reader.add(Operation::kEnd, block);
  Script writer(kMain);
  writer.restart(main_site_ + 3);
  writer.add(Operation::kWrite, variable);
  for (Script* next : {&reader, &reader, &writer, &reader, &reader}) {
    put(next->current(), batch);
    next->advance();
  }
}

void SyntheticTrace::Schedule::run_burst(std::vector<Event>& batch) {
  Worker* worker = choose_worker();
  if (worker == nullptr) return;  // all have finished
  uint32_t left = random_.around(options_.burst);
  do {
    act(*worker, batch);
  } while (--left > 0 && done_ != planted_at_ && standing(*worker) == Standing::kCanAct);
}

// Somebody who can act, found from a random place on; null when all have finished.
SyntheticTrace::Schedule::Worker* SyntheticTrace::Schedule::choose_worker() {
  std::size_t place = random_.below(static_cast<uint32_t>(active_.size()));
  for (std::size_t waiting = 0; waiting < active_.size();) {
    if (place >= active_.size()) place = 0;
    Worker& worker = workers_[active_[place]];
    switch (standing(worker)) {
      case Standing::kCanAct: return &worker;
      case Standing::kWaits:
        ++waiting;
        ++place;
        break;
      case Standing::kFinished:
        active_[place] = active_.back();
        active_.pop_back();
        waiting = 0;  // its end may be what others wait for
        break;
    }
  }
  if (!active_.empty()) throw std::logic_error("every thread of a synthetic trace waits");
  return nullptr;
}

SyntheticTrace::Schedule::Standing SyntheticTrace::Schedule::standing(Worker& worker) {
  if (worker.finished) return Standing::kFinished;
  if (worker.script.done()) {
    switch (shape_->plan(worker.number, worker.script, budget_)) {
      case Plan::kReady: break;
      case Plan::kWait: return Standing::kWaits;
      case Plan::kDone: worker.finished = true; return Standing::kFinished;
    }
  }
  return must_wait(worker) ? Standing::kWaits : Standing::kCanAct;
}

bool SyntheticTrace::Schedule::must_wait(const Worker& worker) const {
  const Event& event = worker.script.current();
  if (event.operation == Operation::kAcquire) return lock_owner_[event.object] != kNoId;
  // Its n-th round is complete when everybody has arrived n times.
  if (event.operation == Operation::kLeave) return arrivals_ < worker.arrivals * workers_.size();
  return false;
}

void SyntheticTrace::Schedule::act(Worker& worker, std::vector<Event>& batch) {
  const Event& event = worker.script.current();
  if (event.operation == Operation::kAcquire) {
    lock_owner_[event.object] = event.thread;
  } else if (event.operation == Operation::kRelease) {
    lock_owner_[event.object] = kNoId;
  } else if (event.operation == Operation::kArrive) {
    ++worker.arrivals;
    ++arrivals_;
  }
  put(event, batch);
  worker.script.advance();
}

SyntheticTrace::SyntheticTrace(const SyntheticOptions& options)
    : schedule_(std::make_unique<Schedule>(options)) {}

SyntheticTrace::~SyntheticTrace() = default;

EventBatch SyntheticTrace::next() {
  events_.clear();
  const EventIndex first = schedule_->done();
  schedule_->fill(events_);
  return {first, events_};
}

const Names& SyntheticTrace::names() const { return schedule_->names(); }

std::string SyntheticTrace::where(EventIndex index) const {
  return fmt::format("synthetic trace: event {}", index);
}

double SyntheticTrace::progress() const { return schedule_->progress(); }

std::optional<PlantedViolation> SyntheticTrace::planted() const { return schedule_->planted(); }

}  // namespace heddle
