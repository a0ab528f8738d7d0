// Loops that a running program tells as series of rounds (runtime/series.h).
//
// What it says is not believed: a pattern or rounds that do not fit together are none.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "runtime/channel.h"
#include "runtime/series.h"

namespace heddle {

class ToldSeries {
 public:
  // What a thread is telling.
  struct Thread {
    runtime::Record head = {};    // no operation: nothing
    std::vector<uint64_t> words;  // so far; head.extra of them are to come
  };

  // Rounds of a pattern, as long as the thread tells nothing else.
  struct Told {
    const runtime::SeriesPattern* pattern = nullptr;
    runtime::SeriesRounds rounds = {};
    std::span<const uint64_t> addresses;
    std::span<const uint32_t> inputs;  // labels
    runtime::Record head = {};

    uint64_t label(uint16_t operand) const {
      if (operand == runtime::kNoOperand) return 0;
      return operand < inputs.size() ? inputs[operand] : head.address() + operand - inputs.size();
    }
    // What the program would have told of the step alone. No operation: nothing.
    runtime::Record record(const runtime::SeriesStep& step, uint64_t address) const;
    uint64_t steps() const;  // that are made
    uint64_t events(
        uint64_t steps) const;  // that they are: no branch on a value that depends on nothing is one
    std::span<const uint64_t> words;
  };

  explicit ToldSeries(const runtime::Channel& channel) : channel_(channel) {}

  static void begin(Thread& thread, const runtime::Record& head);
  // Whether all has been told.
  static bool add(Thread& thread, const runtime::Record& words);
  // What that is. No pattern: nothing.
  Told told(const Thread& thread);

  // What a recording says of rounds with the same addresses and path.
  struct Known {
    uint64_t changes = 0;   // Variables::changes() then
    std::string variables;  // in the text of the run
    uint64_t steps = 0;
    uint64_t events = 0;  // of the run
    uint64_t run = 0;     // with the same inputs, and of the same thread and call stack; plus one, 0: none
  };
  // Null: it is not known, or something has changed since. `thread`: ToldFlow::number_of() of who tells it.
  // Then, of the same rounds:
  Known* known(const Told& told, uint64_t thread, uint64_t changes);
  void know(const Told& told, Known known);
  // The run is of these inputs, and no longer of others.
  void know_run(const Told& told, uint64_t thread, uint64_t run, uint64_t events);

 private:
  struct Place {
    Known known;
    uint64_t hash = 0;
    uint64_t pattern = 0;  // where it lies
    uint64_t context = 0;  // the call stack and thread of the run
    std::vector<uint64_t> words;
  };
  static constexpr std::size_t kPlaces = 1U << 15;
  static constexpr std::size_t kMostWords = std::size_t{1} << 23;  // that are remembered
  static uint64_t context_of(const Told& told, uint64_t thread) { return thread << 32 | told.head.context; }
  // Whether there is room for them.
  bool keep(const Told& told);
  static bool is_of(const Place& place, const Told& told, uint64_t hash);
  // Either what is known of it, or the older of two that give way to it.
  Place& place_of(const Told& told);
  const runtime::SeriesPattern* pattern_at(uint64_t place);

  const runtime::Channel& channel_;
  std::vector<Place> places_;  // by what is known there
  Place* present_ = nullptr;   // of what was asked for last; null: it cannot be remembered
  std::size_t kept_ = 0;       // words, in all places
  // By their place. What was looked at cannot change any more. Null: not what the runtime writes.
  tsl::robin_map<uint64_t, std::unique_ptr<uint64_t[]>, MixHash> patterns_;
};

}  // namespace heddle
