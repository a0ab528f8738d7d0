// From a byte inside a value to the words for it: "[3].next", by the type's debug information.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "symbols/debug_info.h"

namespace heddle {

// What lies `offset` bytes into a value of this type, as it is written behind the value's name: ".inner.x",
// "[3].next"; empty for the value itself. Ends at types of the standard library ("mu_", not
// "mu_._M_mutex.__data"), at unions of which several members lie there and at bytes that belong to no member.
std::string member_path(DebugInfo& info, Dwarf_Die type, uint64_t offset);

// The size in bytes; not known for a class that is only declared.
std::optional<uint64_t> type_size(DebugInfo& info, Dwarf_Die type);

}  // namespace heddle
