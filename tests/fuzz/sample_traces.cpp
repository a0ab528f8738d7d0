#include "sample_traces.h"

#include <fmt/format.h>

#include <random>
#include <vector>

namespace heddle::fuzz {

namespace {

class Sampler {
 public:
  Sampler(uint64_t seed, std::size_t threads) : random_(seed), open_(threads) {}

  std::string trace(std::size_t events) {
    for (std::size_t thread = 1; thread < open_.size(); ++thread) say(0, fmt::format("fork(T{})", thread));
    while (said_ < events) step(below(open_.size()));
    for (std::size_t thread = 0; thread < open_.size(); ++thread)
      while (!open_[thread].empty()) close(thread);
    for (std::size_t thread = 1; thread < open_.size(); ++thread) say(0, fmt::format("join(T{})", thread));
    return text_;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  void say(std::size_t thread, std::string_view operation) {
    text_ += fmt::format("T{}|{}|", thread, operation);
    if (below(4) != 0) text_ += fmt::format("a.cpp:{}", below(6));
    if (text_.back() != '|' && below(4) == 0) text_ += fmt::format(" < main.cpp:{}", below(3));
    text_ += '\n';
    ++said_;
  }

  // Says `operation` now and `closing` when the thread closes what it has opened last.
  void open(std::size_t thread, std::string_view operation, std::string closing) {
    say(thread, operation);
    open_[thread].push_back(std::move(closing));
  }

  void close(std::size_t thread) {
    say(thread, open_[thread].back());
    if (open_[thread].back().starts_with("rel(")) held_ = false;
    open_[thread].pop_back();
  }

  void step(std::size_t thread) {
    const std::size_t x = below(5);
    if (!open_[thread].empty() && below(4) == 0) return close(thread);
    switch (below(24)) {
      case 0: return say(thread, fmt::format("w(x{})", x));
      case 1: return say(thread, fmt::format("w(x{},{})", x, below(9)));
      case 2: return say(thread, fmt::format("r(x{})>l{}", x, below(2)));
      case 3: return say(thread, fmt::format("w(x{})<l{}", x, below(2)));
      case 4: return say(thread, fmt::format("ar(x{},acquire)", x));
      case 5: return say(thread, fmt::format("aw(x{},release)", x));
      case 6: return say(thread, fmt::format("armw(x{},seq_cst)", x));
      case 7: return say(thread, below(2) == 0 ? "fence" : "fence(acq_rel)");
      case 8:
        if (held_) return;
        held_ = true;
        return open(thread, below(2) == 0 ? "acq(m)" : "acq(m,try)", "rel(m)");
      case 9: return open(thread, below(2) == 0 ? "acq_sh(s)" : "acq_sh(s,try)", "rel_sh(s)");
      case 10: return open(thread, fmt::format("begin(f{})", x), fmt::format("end(f{})", x));
      case 11: return open(thread, "begin(g,deterministic)", "end");
      case 12: return open(thread, fmt::format("task(k{})", x), "endtask");
      case 13: return open(thread, "nd", "endnd");
      case 14: return open(thread, "arrive(b)", "leave(b)");
      case 15: return say(thread, "set(l0,l1,l2)");
      case 16: return say(thread, below(2) == 0 ? "post(q)" : "notify(c)");
      case 17: return say(thread, below(2) == 0 ? "wait(q)" : "wake(c)");
      case 18: return say(thread, fmt::format("acasfail(x{},relaxed)", x));
      case 19: return say(thread, fmt::format("{}(x{})", below(2) == 0 ? "alloc" : "free", x));
      case 20: return say(thread, "br(l0)");
      case 21: return say(thread, fmt::format("focus(x{})", x));
      case 22: return say(thread, "sync(o)");
      default: return say(thread, fmt::format("r(x{})", x));
    }
  }

  std::mt19937_64 random_;
  std::vector<std::vector<std::string>> open_;  // by thread: what closes its open locks, blocks, …
  bool held_ = false;                           // somebody has m
  std::size_t said_ = 0;                        // events so far
  std::string text_;
};

}  // namespace

std::string sample_trace(uint64_t seed, std::size_t events) {
  return Sampler(seed, 1 + seed % 5).trace(events);
}

}  // namespace heddle::fuzz
