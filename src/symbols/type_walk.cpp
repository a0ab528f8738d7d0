#include "symbols/type_walk.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <vector>

#include "base/bit_field_run.h"

namespace heddle {

namespace {

constexpr int kMostNestedTypes = 64;  // of types in types; a file that leads in circles ends there

// The type behind typedefs and qualifiers, the full one of a class.
Dwarf_Die plain_type(DebugInfo& info, Dwarf_Die type) {
  for (int depth = 0; depth < kMostNestedTypes; ++depth) {
    const int tag = dwarf_tag(&type);
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
        tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
      break;
    const std::optional<Dwarf_Die> next = dwarf::reference(type, DW_AT_type);
    if (!next) break;
    type = *next;
  }
  return dwarf::is_class(type) ? info.complete(type) : type;
}

// The number of elements of each dimension of an array, the last one varies fastest; 0: not known.
std::vector<uint64_t> dimensions(Dwarf_Die array) {
  std::vector<uint64_t> counts;
  for (dwarf::Children child(array); child; child.next()) {
    if (dwarf_tag(&*child) != DW_TAG_subrange_type) continue;
    std::optional<uint64_t> count = dwarf::number(*child, DW_AT_count);
    if (!count) {
      count = dwarf::number(*child, DW_AT_upper_bound);
      if (count) ++*count;
    }
    counts.push_back(count.value_or(0));
  }
  return counts;
}

std::optional<uint64_t> size_of(DebugInfo& info, Dwarf_Die type, int depth) {
  type = plain_type(info, type);
  if (std::optional<uint64_t> size = dwarf::number(type, DW_AT_byte_size)) return size;
  const int tag = dwarf_tag(&type);
  if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
    return sizeof(uint64_t);
  if (tag != DW_TAG_array_type || depth == kMostNestedTypes) return std::nullopt;
  const std::optional<Dwarf_Die> element = dwarf::reference(type, DW_AT_type);
  std::optional<uint64_t> size = element ? size_of(info, *element, depth + 1) : std::nullopt;
  if (!size) return std::nullopt;
  for (const uint64_t count : dimensions(type)) *size *= count;
  return size;
}

// Where a member or a base lies in its class; not known for virtual bases.
std::optional<uint64_t> member_offset(Dwarf_Die member) {
  if (const std::optional<uint64_t> bit = dwarf::number(member, DW_AT_data_bit_offset)) return *bit / 8;
  if (std::optional<uint64_t> offset = dwarf::number(member, DW_AT_data_member_location)) return offset;
  Dwarf_Attribute attribute;
  if (dwarf_attr(&member, DW_AT_data_member_location, &attribute) != nullptr) return std::nullopt;
  return 0;  // left out: of a union
}

struct Step {
  std::string text;  // ".next"
  Dwarf_Die type;
  uint64_t offset;  // in it
};

// Empty classes have a size but no bytes of their own: as a base or a member they lie over others.
bool is_empty_class(Dwarf_Die type, int depth = 0) {
  constexpr int kMostBases = 4;  // of empty bases of empty bases
  if (depth == kMostBases || !dwarf::is_class(type) || dwarf::flag(type, DW_AT_declaration)) return false;
  for (dwarf::Children child(type); child; child.next()) {
    const int tag = dwarf_tag(&*child);
    if (tag == DW_TAG_member && !dwarf::flag(*child, DW_AT_external)) return false;
    if (tag == DW_TAG_inheritance) {
      const std::optional<Dwarf_Die> base = dwarf::reference(*child, DW_AT_type);
      if (!base || !is_empty_class(*base, depth + 1)) return false;
    }
  }
  return true;
}

// The members and bases that the byte belongs to; more than one in unions.
std::vector<Step> members_at(DebugInfo& info, Dwarf_Die type, uint64_t offset) {
  std::vector<Step> members;
  for (dwarf::Children child(type); child; child.next()) {
    const int tag = dwarf_tag(&*child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    if (dwarf::flag(*child, DW_AT_external) || dwarf::flag(*child, DW_AT_declaration)) continue;  // static
    const std::optional<Dwarf_Die> its_type = dwarf::reference(*child, DW_AT_type);
    const std::optional<uint64_t> begin = member_offset(*child);
    if (!its_type || !begin || *begin > offset) continue;
    const Dwarf_Die plain = plain_type(info, *its_type);
    const std::optional<uint64_t> size = type_size(info, plain);
    if (!size || offset - *begin >= *size || is_empty_class(plain)) continue;
    std::string name = dwarf::name(*child);
    if (name.starts_with("_vptr")) name = "vptr";  // "_vptr.Account", "_vptr$Account"
    const bool named = tag == DW_TAG_member && !name.empty();
    members.push_back({.text = named ? "." + name : "", .type = plain, .offset = offset - *begin});
  }
  return members;
}

std::optional<Step> element_at(DebugInfo& info, Dwarf_Die array, uint64_t offset) {
  const std::optional<Dwarf_Die> element = dwarf::reference(array, DW_AT_type);
  if (!element) return std::nullopt;
  const Dwarf_Die plain = plain_type(info, *element);
  const std::optional<uint64_t> size = type_size(info, plain);
  if (!size || *size == 0) return std::nullopt;
  const std::vector<uint64_t> counts = dimensions(array);
  uint64_t index = offset / *size;
  std::string text;
  for (std::size_t i = counts.size(); i-- > 1;) {
    if (counts[i] == 0) return std::nullopt;
    text = fmt::format("[{}]{}", index % counts[i], text);
    index /= counts[i];
  }
  text = fmt::format("[{}]{}", index, text);
  return Step{.text = text, .type = plain, .offset = offset % *size};
}

// The first bit of a bit-field, from the beginning of its class. Up to DWARF 3, and in DWARF 4 of gcc, bits
// are counted from the end of the piece of memory that it lies in.
std::optional<uint64_t> first_bit(Dwarf_Die member, uint64_t bits) {
  if (std::optional<uint64_t> first = dwarf::number(member, DW_AT_data_bit_offset)) return first;
  const std::optional<uint64_t> from_end = dwarf::number(member, DW_AT_bit_offset);
  const std::optional<uint64_t> size = dwarf::number(member, DW_AT_byte_size);
  const std::optional<uint64_t> begin = dwarf::number(member, DW_AT_data_member_location);
  if (!from_end || !size || !begin || *size * 8 < *from_end + bits) return std::nullopt;
  return *begin * 8 + *size * 8 - *from_end - bits;
}

// What the bit-fields are called that share this byte of the class; empty: there are none.
std::string bit_fields_at(Dwarf_Die type, uint64_t offset) {
  BitFieldRun run;
  for (dwarf::Children child(type); child; child.next()) {
    const std::optional<uint64_t> bits = dwarf::number(*child, DW_AT_bit_size);
    const std::optional<uint64_t> first = bits ? first_bit(*child, *bits) : std::nullopt;
    if (!first || dwarf_tag(&*child) != DW_TAG_member) continue;
    const std::string name = dwarf::name(*child);
    if (run.add(name, *first, *bits)) continue;
    if (run.has_byte(offset)) break;
    run = {};
    run.add(name, *first, *bits);
  }
  return run.has_byte(offset) ? run.name() : "";
}

// The one way on from here to a smaller part.
std::optional<Step> step(DebugInfo& info, Dwarf_Die type, uint64_t offset) {
  if (dwarf_tag(&type) == DW_TAG_array_type) return element_at(info, type, offset);
  if (!dwarf::is_class(type)) return std::nullopt;
  std::vector<Step> members = members_at(info, type, offset);
  if (members.empty()) return std::nullopt;
  if (info.is_standard(type)) {
    // An array is what it holds.
    if (!info.qualified_name(type).starts_with("std::array<")) return std::nullopt;
    members.front().text.clear();
    return members.front();
  }
  if (dwarf_tag(&type) == DW_TAG_union_type && members.size() > 1) return std::nullopt;
  if (const std::string fields = bit_fields_at(type, offset); !fields.empty())
    members.front().text = "." + fields;
  return members.front();
}

}  // namespace

std::optional<uint64_t> type_size(DebugInfo& info, Dwarf_Die type) { return size_of(info, type, 0); }

std::string member_path(DebugInfo& info, Dwarf_Die type, uint64_t offset) {
  std::string path;
  type = plain_type(info, type);
  for (int depth = 0; depth < kMostNestedTypes; ++depth) {
    const std::optional<Step> next = step(info, type, offset);
    if (!next) break;
    path += next->text;
    type = next->type;
    offset = next->offset;
  }
  return path;
}

}  // namespace heddle
