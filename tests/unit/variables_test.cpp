// The memory of a program as variables, against the bytes themselves: as a reader of the recording sees them,
// two accesses share a variable in one of its lives exactly when they share a byte in one of its lives.
#include "live/variables.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

#include "trace/names.h"
#include "trace/parts.h"

namespace heddle {
namespace {

// What a recording says of the variables: Event::site is the number of the access.
class Recorder : public Variables::Namer {
 public:
  uint32_t begin_variable(uint64_t, bool is_part) override {
    if (is_part || ended_.empty()) return count_++;
    const uint32_t again = ended_.back();
    ended_.pop_back();
    return again;
  }
  void divide_variable(uint32_t whole, std::span<const uint32_t> into) override {
    EXPECT_GT(into.size(), 1u);
    for (const uint32_t part : into) EXPECT_EQ(parts.add({part, whole}), "");
  }
  void end_variables(uint32_t first, uint32_t count, bool is_part) override {
    for (uint32_t variable = first; variable < first + count; ++variable) {
      add(Operation::kFree, variable);
      if (!is_part) ended_.push_back(variable);
    }
  }
  uint32_t begin_row(uint64_t, unsigned, uint32_t count) override {
    if (!has_rows) return Variables::kNone;
    count_ += count;
    ++rows;
    return count_ - count;
  }
  void add(Operation operation, uint32_t variable, uint32_t access = kNoId) {
    Event event;
    event.operation = operation;
    event.object = variable;
    event.site = access;
    events.push_back(event);
  }

  bool has_rows = true;
  uint32_t rows = 0;
  std::vector<Event> events;
  Parts parts;

 private:
  uint32_t count_ = 0;
  std::vector<uint32_t> ended_;
};

// What an access touches: a byte or a variable, and which of its lives.
using Touched = std::set<std::pair<uint64_t, uint64_t>>;

bool share(const Touched& a, const Touched& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& each) { return b.contains(each); });
}

constexpr uint64_t kBase = 4096;

// The number of rows that there were.
uint32_t share_what_their_bytes_share(uint64_t bytes_in_all, unsigned accesses, uint64_t seeds,
                                      bool has_rows) {
  uint32_t rows = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 random(seed);
    Recorder recorder;
    recorder.has_rows = has_rows;
    Variables variables(recorder);
    std::vector<uint64_t> life(bytes_in_all);
    std::vector<Touched> bytes;  // by access
    for (unsigned i = 0; i < accesses; ++i) {
      if (random() % 8 == 0) {
        const uint64_t cells = 1 + random() % (bytes_in_all / 16);
        const uint64_t cell = random() % (bytes_in_all / 8 - cells + 1);
        variables.forget(kBase + cell * 8, cells * 8);
        for (uint64_t byte = cell * 8; byte < (cell + cells) * 8; ++byte) ++life[byte];
        continue;
      }
      if (random() % 4 == 0) {
        const auto piece = 1U << random() % 4;
        const uint64_t begin = random() % (bytes_in_all / piece) * piece;
        variables.begin_row(kBase + begin, piece, 1 + random() % ((bytes_in_all - begin) / piece));
        continue;
      }
      const uint64_t size = uint64_t{1} << random() % 5;
      const uint64_t address = random() % (bytes_in_all - size + 1);
      const auto access = static_cast<uint32_t>(bytes.size());
      variables.access(kBase + address, size,
                       [&](uint32_t variable) { recorder.add(Operation::kWrite, variable, access); });
      Touched& touched = bytes.emplace_back();
      for (uint64_t byte = address; byte < address + size; ++byte) touched.emplace(byte, life[byte]);
    }

    EXPECT_EQ(recorder.parts.complete(), "");
    std::vector<Event> resolved;
    Names names;
    recorder.parts.resolve(recorder.events, resolved, names);
    std::map<uint32_t, uint64_t> lives;  // by variable
    std::vector<Touched> found(bytes.size());
    for (const Event& event : resolved) {
      if (event.operation == Operation::kFree) {
        ++lives[event.object];
      } else {
        found[event.site].emplace(event.object, lives[event.object]);
      }
    }
    for (std::size_t a = 0; a < bytes.size(); ++a)
      for (std::size_t b = 0; b < bytes.size(); ++b)
        EXPECT_EQ(share(found[a], found[b]), share(bytes[a], bytes[b]))
            << "seed " << seed << ", accesses " << a << " and " << b;
    rows += recorder.rows;
  }
  return rows;
}

TEST(Variables, ShareWhatTheirBytesShare) { share_what_their_bytes_share(24, 40, 300, false); }

TEST(Variables, ShareWhatTheirBytesShareInRows) {
  EXPECT_GT(share_what_their_bytes_share(320, 60, 300, true), 300);
}

TEST(Variables, InARowAreEven) {
  Recorder recorder;
  Variables variables(recorder);
  variables.begin_row(kBase, 2, 400);
  variables.begin_row(kBase + 800, 2, 400);  // goes on
  const uint32_t first = variables.whole(kBase, 2);
  for (uint64_t i = 0; i < 800; ++i) EXPECT_EQ(variables.known_whole(kBase + 2 * i, 2), first + i);
  EXPECT_EQ(recorder.rows, 2);
  EXPECT_TRUE(variables.are_even(kBase, 2, 2, 800, first, 1));
  EXPECT_TRUE(variables.are_even(kBase + 6, 2, 32, 40, first + 3, 16));
  EXPECT_TRUE(variables.are_even(kBase + 1598, 2, ~uint64_t{1}, 800, first + 799, -1));
  EXPECT_FALSE(variables.are_even(kBase, 2, 2, 801, first, 1));
  EXPECT_FALSE(variables.are_even(kBase, 2, 2, 800, first + 1, 1));
  EXPECT_FALSE(variables.are_even(kBase, 2, 2, 800, first, 2));
  EXPECT_FALSE(variables.are_even(kBase, 1, 1, 800, first, 1));
  variables.access(kBase + 500, 1, [](uint32_t) {});
  EXPECT_FALSE(variables.are_even(kBase, 2, 2, 800, first, 1));
  EXPECT_TRUE(variables.are_even(kBase + 504, 2, 2, 500, first + 252, 1));
}

}  // namespace
}  // namespace heddle
