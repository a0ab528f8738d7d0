// Locals of a trace for the labels that a program's values have (runtime/flow.h).
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "runtime/flow.h"
#include "trace/names.h"

namespace heddle {

class FlowNames {
 public:
  explicit FlowNames(Names& names) : names_(names) {}

  // Threads that are in one task share their locals, but not their labels: so each thread has a number of its
  // own while it runs.
  uint32_t local(uint32_t thread, uint32_t label);  // kNoId for label 0
  // Labels below this have locals in a row.
  static constexpr uint32_t kInRow = 1U << 12;
  // Of some labels, 0 for none; kNoId: of none.
  using Labels = std::array<uint32_t, runtime::kMostJoined>;
  uint32_t list(uint32_t thread, const Labels& labels);
  // It will soon be asked for: there are so many that looking one up is waiting for memory.
  void fetch(uint32_t thread, const Labels& labels) const {
    if (thread < threads_.size() && !threads_[thread].latest.empty())
      __builtin_prefetch(&threads_[thread].latest[place_of(labels)]);
  }

 private:
  struct LabelsHash {
    std::size_t operator()(const Labels& labels) const {
      static_assert(runtime::kMostJoined == 6);
      return mix(mix(mix(uint64_t{labels[0]} << 32 | labels[1]) ^ (uint64_t{labels[2]} << 32 | labels[3])) ^
                 (uint64_t{labels[4]} << 32 | labels[5]));
    }
  };
  static constexpr unsigned kLatestBits = 17;
  // Products that do not wait for each other.
  static std::size_t place_of(const Labels& labels) {
    const auto two = [&](unsigned i) { return uint64_t{labels[i]} << 32 | labels[i + 1]; };
    const uint64_t hash =
        two(0) * 0x9E3779B97F4A7C15 + two(2) * 0xBF58476D1CE4E5B9 + two(4) * 0x94D049BB133111EB;
    return (hash ^ hash >> 32) * 0x9E3779B97F4A7C15 >> (64 - kLatestBits);
  }
  // In one line of the cache.
  struct alignas(32) Latest {
    Labels labels = {};
    uint32_t list = kNoId;
  };
  struct OfThread {
    std::vector<uint32_t> locals;  // by label
    tsl::robin_map<Labels, uint32_t, LabelsHash> lists;
    std::vector<Latest> latest;  // of lists, by what is cheap to compute
  };
  OfThread& of(uint32_t thread);
  static void add_name(std::string& to, uint32_t thread, uint32_t label);

  Names& names_;
  std::vector<OfThread> threads_;
  std::string text_;
};

}  // namespace heddle
