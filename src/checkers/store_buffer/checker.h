// The checker behind tso and robustness.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "checkers/store_buffer/links.h"
#include "core/checker.h"

namespace heddle::store_buffer {

// More operations than this are not kept (some 90 bytes each at the most); the answer is undecided then.
inline constexpr std::size_t kMostOperations = 50'000'000;

// `most_operations`: tests set it low.
std::unique_ptr<Checker> make_checker(const CheckerContext& context, std::string_view name, const Rule& rule,
                                      Question question, std::size_t most_operations = kMostOperations);

}  // namespace heddle::store_buffer
