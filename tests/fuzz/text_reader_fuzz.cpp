// The text reader and the check that follows it, on any bytes.
#include "trace/text_reader.h"

#include "base/error.h"
#include "sample_traces.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    heddle::TextReader reader("input", std::string(reinterpret_cast<const char*>(data), size));
    heddle::fuzz::read_all(reader);
  } catch (const heddle::InputError&) {
    // the right answer to a bad input
  }
  return 0;
}

namespace heddle::fuzz {

std::vector<std::string> seeds() {
  constexpr uint64_t kSeeds = 24;
  std::vector<std::string> result;
  result.reserve(kSeeds);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) result.push_back(sample_trace(seed, 4 + seed * 2));
  return result;
}

std::vector<std::string> tokens() {
  std::vector<std::string> result = {"|",  "(",    ")", ",",   ">",       "<", " < ",
                                     "\n", "\r\n", "#", "T1|", "|r(x0)|", "\t"};
  for (const OperationInfo& operation : kOperationInfo) {
    result.emplace_back(operation.spelling);
    result.push_back("\nT1|" + std::string(operation.spelling) + "(x0)|\n");
  }
  for (std::size_t order = 1; order < kMemoryOrders; ++order) result.emplace_back(kOrderSpelling[order]);
  return result;
}

void repair(std::string&, uint64_t) {}

}  // namespace heddle::fuzz
