#include "runtime/spec_blocks.h"

#include <link.h>

#include "runtime/memory.h"

namespace heddle::runtime {

namespace {

struct Function {
  uint64_t begin;
  uint64_t end;
  HeddleBlock block;
};
Function* functions = nullptr;  // by address
uint32_t function_count = 0;

// How far from its addresses in the file the program lies: it comes first of all that is loaded.
uint64_t place_of_program() {
  uint64_t place = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<uint64_t*>(result) = info->dlpi_addr;
        return 1;
      },
      &place);
  return place;
}

}  // namespace

void take_spec_blocks(const Channel& channel) {
  const uint32_t count =
      channel.spec_blocks < Channel::kSpecBlocks ? channel.spec_blocks : Channel::kSpecBlocks;
  if (count == 0) return;
  functions = static_cast<Function*>(reserve(sizeof(Function) * count, "the spec's functions"));
  const uint64_t place = place_of_program();
  for (uint32_t i = 0; i < count; ++i) {
    const SpecBlock& block = channel.spec_block[i];
    functions[i] = {place + block.begin,
                    place + block.end,
                    {reinterpret_cast<const char*>(kNameInChannel | block.name),
                     static_cast<HeddleBlockKind>(block.kind), kHeddleBySpec}};
  }
  function_count = count;
}

const HeddleBlock* spec_block_at(const void* pc) {
  const auto address = reinterpret_cast<uint64_t>(pc);
  uint32_t first = 0;
  uint32_t end = function_count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (address >= functions[middle].end) {
      first = middle + 1;
    } else if (address < functions[middle].begin) {
      end = middle;
    } else {
      return &functions[middle].block;
    }
  }
  return nullptr;
}

}  // namespace heddle::runtime
