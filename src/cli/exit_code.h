// What heddle's exit status means.
#pragma once

namespace heddle {

inline constexpr int kExitClean = 0;
inline constexpr int kExitFindings = 66;  // the default of --exit-code
inline constexpr int kExitUsage = 2;      // the command line or an input is at fault
inline constexpr int kExitFailure = 125;  // Heddle or the machine is at fault

}  // namespace heddle
