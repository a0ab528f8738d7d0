// Random numbers that are the same on every machine for the same seed (those of <random>'s distributions are
// not).
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace heddle {

// A Weyl sequence through a mixing function, as in SplitMix64: every seed has the full period of 2^64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed ^ 0xD1B54A32D192ED03)) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    return mix(state_);
  }
  // A number below `bound`, which is not 0. The bias is below bound / 2^32.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((next() >> 32) * bound >> 32); }
  // A number from 1 with this mean.
  uint32_t around(uint32_t mean) { return 1 + below(2 * mean - 1); }

 private:
  uint64_t state_;
};

}  // namespace heddle
