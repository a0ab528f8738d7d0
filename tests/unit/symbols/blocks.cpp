// A program with blocks as the compiler plug-in notes them, see runtime/blocks.h.
#include <cstdint>

struct Block {
  const char* name;
  uint32_t kind;
  uint32_t origin;
};

[[gnu::section("heddle_blocks"), gnu::used]] static const Block blocks[] = {{"Account::withdraw", 0, 1},
                                                                            {"main", 1, 3}};

int main() {}
