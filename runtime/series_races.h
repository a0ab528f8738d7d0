// Looks for data races of a loop's rounds that are told as one (runtime/series.h).
#pragma once

#include <cstdint>

#include "runtime/series.h"

namespace heddle::runtime {

// `addresses`: how many are listed. A race is told before the rounds are.
void look_for_races(const SeriesPattern& pattern, const SeriesRounds& of, uint32_t rounds,
                    uint32_t addresses);

}  // namespace heddle::runtime
