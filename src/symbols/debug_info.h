// The DWARF debug information of one file, asked by link address.
//
// Compilers other than g++ write no table from addresses to compile units, so one is built from the units'
// own ranges; a unit's tree is walked once, when the first question about it is asked.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/elf_file.h"

namespace heddle {

// One function of the source at an address, and where in it.
struct SourceFrame {
  std::string file;  // as short as is useful; empty: not known
  uint32_t line = 0;
  uint32_t column = 0;
  std::string function;  // readable; empty: not known
};

class DebugInfo {
 public:
  // Null when `holder` has no debug information. `code` is the file that is loaded: the same or the one that
  // `holder` is the separate debug file of. Both outlive the result.
  static std::unique_ptr<DebugInfo> open(const ElfFile& holder, const ElfFile& code);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  // The functions at a code address, innermost first. `symbol` is what the linker calls the code there: units
  // with line tables only do not name their functions. Empty when nothing is known.
  std::vector<SourceFrame> frames(uint64_t address, const std::string& symbol);

  // The class that the function at a code address is a member of: of the functions inlined into each other
  // there the innermost one that is a member of a class outside the standard library.
  std::optional<Dwarf_Die> class_at(uint64_t address);

  struct Variable {
    uint64_t begin;
    Dwarf_Die die;
  };
  // The variable that begins last at or before a data address; it may have ended before.
  const Variable* variable_before(uint64_t address);

  // The name with its namespaces, classes and functions in front, as the compiler wrote it; empty without
  // name.
  std::string qualified_name(Dwarf_Die die);
  // Whether it belongs to the standard library.
  bool is_standard(Dwarf_Die type);
  // The full definition of a class that this unit may only have declared, and itself if there is none.
  Dwarf_Die complete(Dwarf_Die type);

 private:
  // What contains others, in the order of the file: everything that lies in it has an offset in [begin, end).
  struct Scope {
    Dwarf_Off begin;
    Dwarf_Off end;
    int32_t parent;  // index of the scope around it; -1: none
    Dwarf_Die die;
  };
  struct Function {
    uint64_t begin;
    uint64_t end;
    Dwarf_Die die;
  };
  struct Unit {
    Dwarf_Die die;
    bool walked = false;
    std::vector<Scope> scopes;
    std::vector<Function> functions;  // by address
    std::vector<Variable> variables;
  };
  struct UnitRange {
    uint64_t begin;
    uint64_t end;
    Unit* unit;
  };

  DebugInfo(Dwarf* dwarf, const ElfFile& code);

  Unit& unit_of(const Dwarf_Die& die);
  Unit* unit_at(uint64_t address);
  Unit& walked(Unit& unit);
  // Notes what lies in `parent`; returns the offset behind the last entry seen.
  Dwarf_Off walk(Unit& unit, Dwarf_Die parent, int32_t scope, int depth);
  void walk_all();

  // The function at the address and those inlined there, outermost first.
  std::vector<Dwarf_Die> functions_at(Unit& unit, uint64_t address);
  // The classes and the namespaces that the entry lies in, innermost first, up to the first function.
  std::vector<Dwarf_Die> scopes_around(Dwarf_Die die);
  std::string function_name(Dwarf_Die function);
  std::string source_name(Unit& unit, const char* file);

  Dwarf* dwarf_;
  const ElfFile& code_;
  std::unordered_map<const Dwarf_CU*, std::unique_ptr<Unit>> units_;
  std::vector<UnitRange> ranges_;                       // by address
  bool all_walked_ = false;                             // then the following two are there
  std::vector<Variable> variables_;                     // of all units, by address
  std::unordered_map<std::string, Dwarf_Die> classes_;  // full definitions by qualified name
};

// Helpers around libdw that return less instead of errors.
namespace dwarf {

std::string name(Dwarf_Die die);
std::optional<Dwarf_Die> reference(Dwarf_Die die, unsigned attribute);
std::optional<uint64_t> number(Dwarf_Die die, unsigned attribute);
bool flag(Dwarf_Die die, unsigned attribute);
// The entry that the program text declares: from an inlined or out-of-line instance to where it has its name.
Dwarf_Die declaration(Dwarf_Die die);
bool is_class(Dwarf_Die die);

// The entries directly below one, in the order of the file. Never the same one twice, whatever the file says.
class Children {
 public:
  explicit Children(Dwarf_Die parent) : last_(dwarf_dieoffset(&parent)) {
    valid_ = dwarf_child(&parent, &die_) == 0 && moves_on();
  }
  explicit operator bool() const { return valid_; }
  Dwarf_Die& operator*() { return die_; }
  void next() {
    Dwarf_Die sibling;
    valid_ = dwarf_siblingof(&die_, &sibling) == 0;
    die_ = sibling;
    valid_ = valid_ && moves_on();
  }

 private:
  bool moves_on() {
    const Dwarf_Off offset = dwarf_dieoffset(&die_);
    const bool on = offset > last_;
    last_ = offset;
    return on;
  }

  Dwarf_Die die_{};
  Dwarf_Off last_;
  bool valid_;
};

}  // namespace dwarf

}  // namespace heddle
