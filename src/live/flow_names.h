// Locals of a trace for the labels that a program's values have (runtime/flow.h).
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "trace/names.h"

namespace heddle {

class FlowNames {
 public:
  explicit FlowNames(Names& names) : names_(names) {}

  // Threads that are in one task share their locals, but not their labels: so each thread has a number of its
  // own while it runs.
  uint32_t local(uint32_t thread, uint32_t label);  // kNoId for label 0
  // Of up to four labels, 0 for none; kNoId: of none.
  using Labels = std::array<uint32_t, 4>;
  uint32_t list(uint32_t thread, const Labels& labels);

 private:
  struct LabelsHash {
    std::size_t operator()(const Labels& labels) const {
      return mix(mix(uint64_t{labels[0]} << 32 | labels[1]) ^ (uint64_t{labels[2]} << 32 | labels[3]));
    }
  };
  struct OfThread {
    std::vector<uint32_t> locals;  // by label
    tsl::robin_map<Labels, uint32_t, LabelsHash> lists;
  };
  OfThread& of(uint32_t thread);
  static std::string name(uint32_t thread, uint32_t label);

  Names& names_;
  std::vector<OfThread> threads_;
};

}  // namespace heddle
