#include "symbols/debug_info.h"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <string_view>
#include <system_error>

#include "symbols/readable_name.h"

namespace heddle {

namespace dwarf {

std::string name(Dwarf_Die die) {
  const char* text = dwarf_diename(&die);
  return text != nullptr ? text : "";
}

std::optional<Dwarf_Die> reference(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute holder;
  Dwarf_Die target;
  if (dwarf_attr(&die, attribute, &holder) == nullptr || dwarf_formref_die(&holder, &target) == nullptr)
    return std::nullopt;
  return target;
}

std::optional<uint64_t> number(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute holder;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &holder) == nullptr || dwarf_formudata(&holder, &value) != 0)
    return std::nullopt;
  return value;
}

bool flag(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute holder;
  bool value = false;
  return dwarf_attr(&die, attribute, &holder) != nullptr && dwarf_formflag(&holder, &value) == 0 && value;
}

Dwarf_Die declaration(Dwarf_Die die) {
  constexpr int kMost = 8;  // a file that leads in circles ends here
  for (int i = 0; i < kMost; ++i) {
    std::optional<Dwarf_Die> next = reference(die, DW_AT_abstract_origin);
    if (!next) next = reference(die, DW_AT_specification);
    if (!next) break;
    die = *next;
  }
  return die;
}

bool is_class(Dwarf_Die die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

}  // namespace dwarf

namespace {

constexpr int kMostNestedEntries = 200;  // of entries; deeper ones are not looked at

// Calls take(begin, end) for each range of addresses that belongs to the entry.
template <typename Take>
void for_each_range(Dwarf_Die die, Take take) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t i = 0; (i = dwarf_ranges(&die, i, &base, &begin, &end)) > 0;) {
    if (begin < end) take(begin, end);
  }
}

// Where a variable lies that has one address for the whole run.
std::optional<uint64_t> static_address(Dwarf_Die variable) {
  Dwarf_Attribute location;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(&variable, DW_AT_location, &location) == nullptr ||
      dwarf_getlocation(&location, &operations, &count) != 0 || count == 0 || count > 2)
    return std::nullopt;
  Dwarf_Addr address = operations[0].number;
  if (operations[0].atom == DW_OP_addrx || operations[0].atom == DW_OP_GNU_addr_index) {
    Dwarf_Attribute entry;  // of the table of addresses
    if (dwarf_getlocation_attr(&location, &operations[0], &entry) != 0 ||
        dwarf_formaddr(&entry, &address) != 0)
      return std::nullopt;
  } else if (operations[0].atom != DW_OP_addr) {
    return std::nullopt;
  }
  if (count == 1) return address;
  if (operations[1].atom != DW_OP_plus_uconst) return std::nullopt;
  return address + operations[1].number;
}

// Of ranges that are sorted and do not overlap the one that `address` is in.
template <typename Range>
const Range* range_at(const std::vector<Range>& ranges, uint64_t address) {
  auto next = std::upper_bound(ranges.begin(), ranges.end(), address,
                               [](uint64_t at, const Range& range) { return at < range.begin; });
  if (next == ranges.begin() || address >= std::prev(next)->end) return nullptr;
  return &*std::prev(next);
}

template <typename Range>
void sort_by_address(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

// Adds what is inlined at the address inside `scope`, outermost first.
void add_inlined(Dwarf_Die scope, uint64_t address, std::vector<Dwarf_Die>& functions) {
  for (int depth = 0; depth < kMostNestedEntries; ++depth) {
    bool deeper = false;
    for (dwarf::Children child(scope); child; child.next()) {
      const int tag = dwarf_tag(&*child);
      const bool inlined = tag == DW_TAG_inlined_subroutine;
      if (!inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
        continue;
      if (dwarf_haspc(&*child, address) <= 0) continue;
      if (inlined) functions.push_back(*child);
      scope = *child;
      deeper = true;
      break;
    }
    if (!deeper) return;
  }
}

// The path below `folder`, or empty when it is not below.
std::string below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  if (folder.empty() || !folder.is_absolute()) return {};
  const std::string relative = path.lexically_relative(folder.lexically_normal()).string();
  return relative.starts_with("..") ? std::string() : relative;
}

// Whether the last text of the section has an end. libdw trusts that it has.
bool texts_end(const ElfFile& file, std::string_view name) {
  Elf_Scn* section = file.section(name);
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return true;  // nothing to run over
  if ((header.sh_flags & SHF_COMPRESSED) != 0) return true;  // damage does not survive decompression
  const Elf_Data* data = elf_rawdata(section, nullptr);
  return data != nullptr &&
         (data->d_size == 0 || static_cast<const char*>(data->d_buf)[data->d_size - 1] == '\0');
}

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::open(const ElfFile& holder, const ElfFile& code) {
  if (!holds_debug_info(holder) || !texts_end(holder, ".debug_str") || !texts_end(holder, ".debug_line_str"))
    return nullptr;
  Dwarf* dwarf = dwarf_begin_elf(holder.elf(), DWARF_C_READ, nullptr);
  return dwarf != nullptr ? std::unique_ptr<DebugInfo>(new DebugInfo(dwarf, code)) : nullptr;
}

DebugInfo::DebugInfo(Dwarf* dwarf, const ElfFile& code) : dwarf_(dwarf), code_(code) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    Unit& known = unit_of(die);
    // A function that the linker has left out keeps its range, at an address where no code is.
    for_each_range(die, [&](uint64_t begin, uint64_t end) {
      if (code_.is_code(begin)) ranges_.push_back({.begin = begin, .end = end, .unit = &known});
    });
  }
  sort_by_address(ranges_);
}

DebugInfo::~DebugInfo() { dwarf_end(dwarf_); }

DebugInfo::Unit& DebugInfo::unit_of(const Dwarf_Die& die) {
  std::unique_ptr<Unit>& unit = units_[die.cu];
  if (!unit) {
    unit = std::make_unique<Unit>();
    Dwarf_Die entry = die;
    if (dwarf_diecu(&entry, &unit->die, nullptr, nullptr) == nullptr)
      unit->walked = true;  // as good as empty
  }
  return *unit;
}

DebugInfo::Unit* DebugInfo::unit_at(uint64_t address) {
  const UnitRange* range = range_at(ranges_, address);
  return range != nullptr ? range->unit : nullptr;
}

DebugInfo::Unit& DebugInfo::walked(Unit& unit) {
  if (unit.walked) return unit;
  unit.walked = true;
  walk(unit, unit.die, -1, 0);
  sort_by_address(unit.functions);
  return unit;
}

Dwarf_Off DebugInfo::walk(Unit& unit, Dwarf_Die parent, int32_t scope, int depth) {
  Dwarf_Off end = dwarf_dieoffset(&parent) + 1;
  if (depth > kMostNestedEntries) return end;
  for (dwarf::Children child(parent); child; child.next()) {
    Dwarf_Die& die = *child;
    if (dwarf_dieoffset(&die) < end) break;  // a damaged file: what follows has been seen
    end = dwarf_dieoffset(&die) + 1;
    const int tag = dwarf_tag(&die);
    const bool is_function = tag == DW_TAG_subprogram;
    if (is_function) {
      for_each_range(die, [&](uint64_t begin, uint64_t range_end) {
        if (code_.is_code(begin)) unit.functions.push_back({.begin = begin, .end = range_end, .die = die});
      });
    }
    if (is_function || tag == DW_TAG_namespace || dwarf::is_class(die)) {
      const auto index = static_cast<int32_t>(unit.scopes.size());
      unit.scopes.push_back({.begin = end - 1, .end = end, .parent = scope, .die = die});
      end = walk(unit, die, index, depth + 1);
      unit.scopes[static_cast<std::size_t>(index)].end = end;
    } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
               tag == DW_TAG_inlined_subroutine) {
      end = walk(unit, die, scope, depth + 1);
    } else if (tag == DW_TAG_variable) {
      if (const std::optional<uint64_t> address = static_address(die))
        unit.variables.push_back({.begin = *address, .die = die});
    }
  }
  return end;
}

void DebugInfo::walk_all() {
  if (all_walked_) return;
  all_walked_ = true;
  std::vector<Unit*> units;
  units.reserve(units_.size());
  for (const auto& [key, unit] : units_) units.push_back(unit.get());
  // In the order of the file, so that the same question always has the same answer.
  std::sort(units.begin(), units.end(),
            [](Unit* a, Unit* b) { return dwarf_dieoffset(&a->die) < dwarf_dieoffset(&b->die); });
  for (Unit* unit : units) {
    walked(*unit);
    variables_.insert(variables_.end(), unit->variables.begin(), unit->variables.end());
  }
  sort_by_address(variables_);
  for (Unit* unit : units) {
    for (const Scope& scope : unit->scopes) {
      if (dwarf::is_class(scope.die) && !dwarf::flag(scope.die, DW_AT_declaration))
        classes_.try_emplace(qualified_name(scope.die), scope.die);
    }
  }
}

std::vector<Dwarf_Die> DebugInfo::functions_at(Unit& unit, uint64_t address) {
  const Function* function = range_at(walked(unit).functions, address);
  if (function == nullptr) return {};
  std::vector<Dwarf_Die> functions = {function->die};
  add_inlined(function->die, address, functions);
  return functions;
}

std::vector<SourceFrame> DebugInfo::frames(uint64_t address, const std::string& symbol) {
  Unit* unit = unit_at(address);
  if (unit == nullptr) return {};
  std::vector<Dwarf_Die> functions = functions_at(*unit, address);
  std::vector<SourceFrame> frames(std::max<std::size_t>(functions.size(), 1));

  // The innermost place is in the line table, that of each caller at what is inlined into it.
  SourceFrame& innermost = frames.front();
  if (Dwarf_Line* line = dwarf_getsrc_die(&unit->die, address)) {
    int number = 0;
    int column = 0;
    if (dwarf_lineno(line, &number) == 0) innermost.line = static_cast<uint32_t>(number);
    if (dwarf_linecol(line, &column) == 0) innermost.column = static_cast<uint32_t>(column);
    innermost.file = source_name(*unit, dwarf_linesrc(line, nullptr, nullptr));
  }
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit->die, &files, &count) != 0) files = nullptr;
  const auto file_name = [&](std::optional<uint64_t> file) {
    return files != nullptr && file ? source_name(*unit, dwarf_filesrc(files, *file, nullptr, nullptr)) : "";
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Dwarf_Die& function = functions[functions.size() - 1 - i];
    frames[i].function = function_name(function);
    if (i + 1 == functions.size()) break;
    frames[i + 1].file = file_name(dwarf::number(function, DW_AT_call_file));
    frames[i + 1].line = static_cast<uint32_t>(dwarf::number(function, DW_AT_call_line).value_or(0));
    frames[i + 1].column = static_cast<uint32_t>(dwarf::number(function, DW_AT_call_column).value_or(0));
  }
  // Code that the compiler made of several lines has none; that of its function is true, if less exact.
  for (std::size_t i = 0; i < functions.size(); ++i) {
    Dwarf_Die& function = functions[functions.size() - 1 - i];
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    if (frames[i].line != 0 ||
        dwarf_formudata(dwarf_attr_integrate(&function, DW_AT_decl_file, &attribute), &file) != 0 ||
        attribute.cu != unit->die.cu ||  // another unit counts its files otherwise
        dwarf_formudata(dwarf_attr_integrate(&function, DW_AT_decl_line, &attribute), &line) != 0)
      continue;
    frames[i].file = file_name(file);
    frames[i].line = static_cast<uint32_t>(line);
    frames[i].column = 0;
  }
  // The linker's symbol is the whole name where line tables only or nothing tells it.
  SourceFrame& outermost = frames.back();
  if (!symbol.empty() && (outermost.function.empty() || symbol.starts_with("_Z")))
    outermost.function = readable_function(demangled(symbol));
  return frames;
}

std::string DebugInfo::function_name(Dwarf_Die function) {
  Dwarf_Attribute attribute;
  for (const unsigned linkage : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* symbol = dwarf_formstring(dwarf_attr_integrate(&function, linkage, &attribute));
    if (symbol != nullptr) return readable_function(demangled(symbol));
  }
  return readable_type(qualified_name(function));
}

std::string DebugInfo::source_name(Unit& unit, const char* file) {
  if (file == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(&unit.die, DW_AT_comp_dir, &attribute));
  std::string relative = below(path, folder != nullptr ? folder : "");
  std::error_code error;
  if (relative.empty()) relative = below(path, std::filesystem::current_path(error));
  return relative.empty() ? path.string() : relative;
}

std::optional<Dwarf_Die> DebugInfo::class_at(uint64_t address) {
  Unit* unit = unit_at(address);
  if (unit == nullptr) return std::nullopt;
  std::vector<Dwarf_Die> functions = functions_at(*unit, address);
  for (const Dwarf_Die& function : std::views::reverse(functions)) {
    const std::vector<Dwarf_Die> around = scopes_around(dwarf::declaration(function));
    if (around.empty() || !dwarf::is_class(around.front())) continue;
    const std::string name = dwarf::name(around.front());
    if (name.empty() || name.starts_with('<') || is_standard(around.front())) continue;  // "<lambda()>"
    return complete(around.front());
  }
  return std::nullopt;
}

const DebugInfo::Variable* DebugInfo::variable_before(uint64_t address) {
  walk_all();
  auto next = std::upper_bound(variables_.begin(), variables_.end(), address,
                               [](uint64_t at, const Variable& variable) { return at < variable.begin; });
  return next == variables_.begin() ? nullptr : &*std::prev(next);
}

std::vector<Dwarf_Die> DebugInfo::scopes_around(Dwarf_Die die) {
  Unit& unit = walked(unit_of(die));
  const Dwarf_Off offset = dwarf_dieoffset(&die);
  // Of the scopes that begin before the entry the last one may have ended, but then one around it has not.
  auto next = std::lower_bound(unit.scopes.begin(), unit.scopes.end(), offset,
                               [](const Scope& scope, Dwarf_Off at) { return scope.begin < at; });
  std::vector<Dwarf_Die> scopes;
  auto index = static_cast<int32_t>(next - unit.scopes.begin()) - 1;
  while (index >= 0) {
    const Scope& scope = unit.scopes[static_cast<std::size_t>(index)];
    index = scope.parent;
    if (offset >= scope.end) continue;
    scopes.push_back(scope.die);
    Dwarf_Die found = scope.die;
    if (dwarf_tag(&found) == DW_TAG_subprogram) break;
  }
  return scopes;
}

std::string DebugInfo::qualified_name(Dwarf_Die die) {
  constexpr std::size_t kMostLength = 4096;  // a file that leads in circles ends here
  std::string name = dwarf::name(dwarf::declaration(die));
  if (name.empty()) return name;
  std::vector<Dwarf_Die> around = scopes_around(dwarf::declaration(die));
  for (std::size_t i = 0; i < around.size() && name.size() < kMostLength; ++i) {
    Dwarf_Die scope = dwarf::declaration(around[i]);
    const std::string its_name = dwarf::name(scope);
    if (!its_name.empty()) name.insert(0, its_name + "::");
    // A function may be defined outside of where it is declared; what is around the declaration counts.
    if (dwarf_tag(&around[i]) == DW_TAG_subprogram) {
      around = scopes_around(scope);
      i = static_cast<std::size_t>(-1);
    }
  }
  return name;
}

bool DebugInfo::is_standard(Dwarf_Die type) {
  const std::string name = qualified_name(type);
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

Dwarf_Die DebugInfo::complete(Dwarf_Die type) {
  if (!dwarf::flag(type, DW_AT_declaration)) return type;
  if (std::optional<Dwarf_Die> definition = dwarf::reference(type, DW_AT_signature)) return *definition;
  walk_all();
  const auto found = classes_.find(qualified_name(type));
  return found != classes_.end() ? found->second : type;
}

}  // namespace heddle
