// As print_marks.h, with the header's own description of a block.
#pragma once

#include <cstdio>

extern "C" void heddle_begin_block(const struct heddle_scope_block* block, const void*) {
  std::printf("begin %s %u %u\n", block->name, block->kind, block->origin);
}
extern "C" void heddle_end_block(const struct heddle_scope_block* block) {
  std::printf("end %s\n", block->name);
}
