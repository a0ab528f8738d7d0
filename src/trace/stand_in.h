// How variables are named that are no memory of the program's but stand for all that a lock guards
// (pass/stand_in.h): "guarded_by:Account::mu_".
#pragma once

#include <string_view>

namespace heddle {

inline constexpr std::string_view kStandIn = "guarded_by:";

}  // namespace heddle
