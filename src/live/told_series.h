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
    uint64_t events() const;  // that it stands for
    std::span<const uint64_t> words;
  };

  explicit ToldSeries(const runtime::Channel& channel) : channel_(channel) {}

  static void begin(Thread& thread, const runtime::Record& head);
  // Whether all has been told.
  static bool add(Thread& thread, const runtime::Record& words);
  // What that is. No pattern: nothing.
  Told told(const Thread& thread);

  // What a recording says of the variables of rounds with the same addresses and path, if nothing has changed since.
  const std::string* known_variables(const Told& told, uint64_t changes);
  void know_variables(const Told& told, uint64_t changes, std::string text);

 private:
  struct Known {
    uint64_t changes = 0;
    uint64_t place = 0;           // of the pattern
    std::vector<uint64_t> words;  // but for the inputs
    std::string text;
  };
  static constexpr std::size_t kKnown = 1U << 14;
  static constexpr std::size_t kMostWords = 256;  // of one that is remembered
  static uint64_t place_of(const Told& told);
  static bool is_same(const Known& known, const Told& told);
  const runtime::SeriesPattern* pattern_at(uint64_t place);

  const runtime::Channel& channel_;
  std::vector<Known> known_;  // by what they are made of
  // By their place. What was looked at cannot change any more. Null: not what the runtime writes.
  tsl::robin_map<uint64_t, std::unique_ptr<uint64_t[]>, MixHash> patterns_;
};

}  // namespace heddle
