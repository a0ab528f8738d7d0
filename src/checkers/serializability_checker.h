// The checker behind atomicity and determinism: chooses the engine, turns cycles and conflicts into findings,
// each violated block once.
#pragma once

#include <memory>
#include <string_view>

#include "core/checker.h"

namespace heddle {

// `conflict_freedom`: report conflicts within deterministic blocks, too.
std::unique_ptr<Checker> make_serializability_checker(const CheckerContext& context, std::string_view name,
                                                      bool conflict_freedom);

}  // namespace heddle
