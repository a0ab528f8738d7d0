// rapidcheck's view of random traces: lists of choices, as long as the test's size says, each choice over its
// whole range whatever the size.
#pragma once

#include <rapidcheck.h>

#include <vector>

#include "support/random_trace.h"

namespace heddle::test {

inline rc::Gen<std::vector<Choice>> any_choices() {
  const auto byte = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int>(0, 256));
  return rc::gen::container<std::vector<Choice>>(
      rc::gen::map(rc::gen::tuple(byte, byte, byte), [](const auto& t) {
        const auto [thread, operation, operand] = t;
        return Choice{static_cast<uint8_t>(thread), static_cast<uint8_t>(operation),
                      static_cast<uint8_t>(operand)};
      }));
}

}  // namespace heddle::test
