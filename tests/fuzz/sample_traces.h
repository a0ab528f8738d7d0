// Well-formed traces in the text format, from a seed: what the fuzzers start from.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::fuzz {

// About `events` events with most kinds of operations.
std::string sample_trace(uint64_t seed, std::size_t events);

}  // namespace heddle::fuzz
