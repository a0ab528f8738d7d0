// The type check (S4 §6.1.1, §5): which fields cannot be in a race whatever the schedule and the input, which
// methods keep to the owners, which are atomic; and of the rest, why not.
//
// Says nothing wrong as long as: the program keeps to the types of its objects (no cast makes a Sphere of an
// Account); functions without summary do not touch objects that they were not given; objects are destroyed
// after everybody else's last use; pointers are published by locks, atomics that release, or thread starts.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "types/atomicity.h"
#include "types/owners.h"
#include "types/program.h"

namespace heddle::types {

// Why a field is race-unsafe. The numbers are those of S4's six reasons, in what they come to in C++.
enum class Unsafe : uint8_t {
  kNo,
  kNoOwner,    // nothing is known that would make it safe
  kUnguarded,  // an access without the owner's lock
  kIllFormed,  // (1) the owner names no lock of the program, or the class is used without debug information
  kEscapes,    // (2) thread-local, and a thread may get it that it does not belong to
  kWritten,    // (3) readonly, and written
  kNotUnique,  // (4) handed over, and somebody keeps a pointer
  kAssigned,   // (5) copied or assigned as a whole without the owner's lock
  kPassed,     // (6) given to a function that needs the lock, without it
  kAddressTaken,  // somebody has its address
  kForeign,       // given to code without summary
  kMixed,         // used by atomic operations and by plain ones
};
std::string_view name_of(Unsafe reason);

struct FieldVerdict {
  Owner owner;
  Unsafe reason = Unsafe::kNo;
  std::string why;   // a sentence
  std::string site;  // where
  unsigned accesses = 0;
  unsigned safe_accesses = 0;   // that keep to the owner
  unsigned early_accesses = 0;  // of them without its lock, outside of constructors and destructors
  bool is_proven() const { return reason == Unsafe::kNo; }
};

struct MethodVerdict {
  std::string name;
  std::string site;
  bool is_library = false;
  bool is_typed = false;
  bool is_called_unseen = false;  // by the library, without what it needs
  std::string why;                // it is not
  std::string why_site;
  std::set<std::string> needs;        // locks, named from its parameters
  std::set<std::string> surely_held;  // of them, at every call
  ConditionalAtomicity atomicity;
  Atomicity at_calls = Atomicity::kError;  // with what is surely held
  bool is_atomic() const { return is_typed && at_calls <= Atomicity::kAtomic; }
};

// One place in a function where memory is accessed, by the path to it.
struct AccessSpot {
  std::string symbol;
  std::string site;
  std::string path;
  friend auto operator<=>(const AccessSpot&, const AccessSpot&) = default;
};

struct CheckResult {
  std::map<std::string, FieldVerdict> fields;    // by place
  std::map<std::string, MethodVerdict> methods;  // by symbol
  std::set<std::string> missing;                 // functions that are called and have no summary
  std::vector<std::string> opaque_files;
  std::vector<std::string> foreign_parts;  // programs with parts that may do anything
  std::set<std::string> taken;             // places whose address somebody has
  std::set<std::string> atomic_only;       // places that nothing but atomic operations uses once shared
  std::set<AccessSpot> exempt;             // of places that are not proven: no other thread can be there
  std::size_t unproven_for_missing = 0;    // fields
};

CheckResult check_types(const Program& program, const Types& types);

// For people.
std::string check_text(const CheckResult& result, bool lists_everything);

}  // namespace heddle::types
