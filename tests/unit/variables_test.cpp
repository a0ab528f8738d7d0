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
  void end_variable(uint32_t variable, bool is_part) override {
    add(Operation::kFree, variable);
    if (!is_part) ended_.push_back(variable);
  }
  void add(Operation operation, uint32_t variable, uint32_t access = kNoId) {
    Event event;
    event.operation = operation;
    event.object = variable;
    event.site = access;
    events.push_back(event);
  }

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

TEST(Variables, ShareWhatTheirBytesShare) {
  constexpr uint64_t kBytes = 24;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Recorder recorder;
    Variables variables(recorder);
    std::array<uint64_t, kBytes> life{};
    std::vector<Touched> bytes;  // by access
    for (int i = 0; i < 40; ++i) {
      if (random() % 8 == 0) {
        const uint64_t cell = random() % (kBytes / 8);
        variables.forget(cell * 8, 8);
        for (uint64_t byte = cell * 8; byte < cell * 8 + 8; ++byte) ++life[byte];
        continue;
      }
      const uint64_t size = uint64_t{1} << random() % 5;
      const uint64_t address = random() % (kBytes - size + 1);
      const auto access = static_cast<uint32_t>(bytes.size());
      variables.access(address, size,
                       [&](uint32_t variable) { recorder.add(Operation::kWrite, variable, access); });
      Touched& touched = bytes.emplace_back();
      for (uint64_t byte = address; byte < address + size; ++byte) touched.emplace(byte, life[byte]);
    }

    ASSERT_EQ(recorder.parts.complete(), "");
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
        ASSERT_EQ(share(found[a], found[b]), share(bytes[a], bytes[b]))
            << "seed " << seed << ", accesses " << a << " and " << b;
  }
}

}  // namespace
}  // namespace heddle
