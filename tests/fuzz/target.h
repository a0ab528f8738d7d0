// A fuzz target: what libFuzzer calls, and what the deterministic driver (mutate_main.cpp) asks for besides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/source.h"

// Reads one input. Returns for every input, good or bad; anything else is a bug in Heddle.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

namespace heddle::fuzz {

// Valid inputs, the same in every run.
std::vector<std::string> seeds();

// Pieces that a mutation may put in.
std::vector<std::string> tokens();

// Makes an input that was valid before its mutation get past checksums, if the format has any. `choice` is
// random.
void repair(std::string& input, uint64_t choice);

// Reads a trace as `heddle check` does, and looks up every name its events refer to.
void read_all(TraceSource& source);

}  // namespace heddle::fuzz
