// The checker behind tso and robustness.
#pragma once

#include <memory>
#include <string_view>

#include "checkers/store_buffer/links.h"
#include "core/checker.h"

namespace heddle::store_buffer {

std::unique_ptr<Checker> make_checker(const CheckerContext& context, std::string_view name, const Rule& rule,
                                      Question question);

}  // namespace heddle::store_buffer
