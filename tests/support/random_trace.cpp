#include "support/random_trace.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace heddle::test {

namespace {

constexpr std::array kOrders = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

class Builder {
 public:
  explicit Builder(const TraceShape& shape) : shape_(shape) { collect_kinds(); }

  void step(const Choice& choice) {
    std::vector<unsigned> live;
    for (unsigned t = 0; t < shape_.threads; ++t)
      if (!joined_.count(t) && !stopped_.count(t) && (t == 0 || !shape_.all_forked || forked_.count(t)))
        live.push_back(t);
    if (live.empty()) return;
    thread_ = live[choice[0] % live.size()];
    operand_ = choice[2];
    const auto operation = kinds_[choice[1] % kinds_.size()]();
    if (!operation) return;
    acted_.insert(thread_);
    text_ += fmt::format("T{}|{}|row {}\n", thread_, *operation, row_++);
  }

  std::string text() const { return text_; }

 private:
  using Kind =
      std::function<std::optional<std::string>()>;  // an operation of thread_, none if not possible now

  // The list is the distribution: a kind that stands twice is twice as likely.
  void collect_kinds() {
    const auto add = [&](unsigned weight, const Kind& kind) { kinds_.insert(kinds_.end(), weight, kind); };
    if (shape_.variables > 0) {
      add(4, [this] { return fmt::format("r({})", variable()); });
      add(4, [this] { return fmt::format("w({})", variable()); });
      if (shape_.lives)
        add(1, [this] {
          return fmt::format("{}({}{})", operand_ & 64 ? "alloc" : "free", variable(),
                             (operand_ & 192) == 128 ? ",checked" : "");
        });
      if (shape_.atomics) {
        for (const char* name : {"ar", "aw", "armw", "acasfail"})
          add(name[1] == 'c' ? 1 : 2,
              [this, name] { return fmt::format("{}({},{})", name, variable(), order()); });
        add(2, [this] { return fmt::format("fence({})", order()); });
      }
    }
    if (shape_.locks > 0) {
      add(4, [this] { return acquire(false); });
      add(4, [this] { return release(false); });
      if (shape_.shared_locks) {
        add(2, [this] { return acquire(true); });
        add(2, [this] { return release(true); });
      }
    }
    if (shape_.fork_join) {
      add(shape_.fork_weight, [this] { return fork(); });
      add(2, [this] { return join(); });
    }
    if (shape_.barriers > 0) {
      add(1, [this] { return arrive(); });
      add(1, [this] { return leave(); });
    }
    if (shape_.semaphores > 0) {
      add(1, [this] { return fmt::format("post(s{})", operand_ % shape_.semaphores); });
      add(1, [this] { return fmt::format("wait(s{})", operand_ % shape_.semaphores); });
      add(1, [this] { return fmt::format("sync(s{})", operand_ % shape_.semaphores); });
    }
    if (shape_.blocks) {
      add(shape_.block_weight, [this] { return begin(); });
      add(shape_.block_weight, [this]() -> std::optional<std::string> {
        if (blocks_[thread_] == 0) return std::nullopt;
        --blocks_[thread_];
        return "end";
      });
    }
    add(shape_.fence_weight, [] { return std::optional<std::string>("fence"); });
    if (shape_.stops) {
      add(1, [this]() -> std::optional<std::string> {
        if (acted_.count(thread_)) return std::nullopt;
        return "start";
      });
      add(1, [this] { return stop(); });
    }
  }

  std::string variable() const { return fmt::format("x{}", operand_ % shape_.variables); }
  const char* order() const { return kOrders[operand_ / 16 % kOrders.size()]; }

  std::optional<std::string> acquire(bool shared) {
    Lock& lock = locks_[operand_ % shape_.locks];
    auto& mine = shared ? lock.readers : lock.writers;
    auto& other = shared ? lock.writers : lock.readers;
    const bool again = mine.count(thread_) != 0;
    if (again && !shape_.recursive_locks) return std::nullopt;
    if (!again && (!lock.writers.empty() || (!shared && !other.empty()))) return std::nullopt;
    ++mine[thread_];
    const bool tries = operand_ >= 224;
    return fmt::format("{}(m{}{})", shared ? "acq_sh" : "acq", operand_ % shape_.locks, tries ? ",try" : "");
  }

  // Of the locks held, the one the operand picks.
  std::optional<std::string> release(bool shared) {
    std::vector<unsigned> held;
    for (auto& [id, lock] : locks_)
      if ((shared ? lock.readers : lock.writers).count(thread_)) held.push_back(id);
    if (held.empty()) return std::nullopt;
    const unsigned id = held[operand_ % held.size()];
    auto& mine = shared ? locks_[id].readers : locks_[id].writers;
    if (--mine[thread_] == 0) mine.erase(thread_);
    return fmt::format("{}(m{})", shared ? "rel_sh" : "rel", id);
  }

  std::optional<std::string> begin() {
    if (blocks_[thread_] == shape_.deepest_block) return std::nullopt;
    ++blocks_[thread_];
    const bool deterministic = shape_.deterministic_blocks && operand_ >= 64;
    return fmt::format("begin(b{}{})", shape_.unique_blocks ? row_ : operand_ % 3,
                       deterministic ? ",deterministic" : "");
  }

  std::optional<std::string> fork() {
    const unsigned child = operand_ % shape_.threads;
    if (child == thread_ || acted_.count(child) || forked_.count(child)) return std::nullopt;
    forked_.insert(child);
    return fmt::format("fork(T{})", child);
  }

  std::optional<std::string> join() {
    const unsigned child = operand_ % shape_.threads;
    if (child == thread_ || (!acted_.count(child) && !forked_.count(child))) return std::nullopt;
    if (holds_lock(child)) return std::nullopt;
    joined_.insert(child);
    return fmt::format("join(T{})", child);
  }

  std::optional<std::string> stop() {
    if (holds_lock(thread_)) return std::nullopt;
    stopped_.insert(thread_);
    return "stop";
  }

  // A thread that is gone has given back what it held, or the locks would stay closed for good.
  bool holds_lock(unsigned thread) const {
    for (const auto& [id, lock] : locks_)
      if (lock.readers.count(thread) || lock.writers.count(thread)) return true;
    return false;
  }

  std::optional<std::string> arrive() {
    const unsigned barrier = operand_ % shape_.barriers;
    ++arrived_[{thread_, barrier}];
    return fmt::format("arrive(b{})", barrier);
  }

  std::optional<std::string> leave() {
    const unsigned barrier = operand_ % shape_.barriers;
    if (arrived_[{thread_, barrier}] == 0) return std::nullopt;
    --arrived_[{thread_, barrier}];
    return fmt::format("leave(b{})", barrier);
  }

  struct Lock {
    std::map<unsigned, unsigned> writers;  // at most one: thread → depth
    std::map<unsigned, unsigned> readers;  // thread → depth
  };

  TraceShape shape_;
  std::vector<Kind> kinds_;
  unsigned thread_ = 0;   // of the event being made
  unsigned operand_ = 0;  // its third choice
  unsigned row_ = 0;
  std::string text_;
  std::set<unsigned> acted_, forked_, joined_, stopped_;
  std::map<unsigned, Lock> locks_;
  std::map<std::pair<unsigned, unsigned>, unsigned> arrived_;  // (thread, barrier) → arrivals not left
  std::map<unsigned, unsigned> blocks_;                        // thread → open blocks
};

}  // namespace

std::string random_trace(const std::vector<Choice>& choices, const TraceShape& shape) {
  Builder builder(shape);
  for (const Choice& choice : choices) builder.step(choice);
  return builder.text();
}

}  // namespace heddle::test
