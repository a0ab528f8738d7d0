// Functions that a spec names in objects compiled with -fsanitize=thread. The plug-in has not seen them; the
// monitor says where they lie.
#pragma once

#include "runtime/blocks.h"
#include "runtime/channel.h"

namespace heddle::runtime {

void take_spec_blocks(const Channel& channel);

// Of the function that the code lies in; null: it is no block.
const HeddleBlock* spec_block_at(const void* pc);

}  // namespace heddle::runtime
