#include "pass/monitor_classes.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include "pass/source_names.h"
#include "pass/surround.h"

namespace heddle {

using namespace llvm;

namespace {

bool is_c_lock(StringRef name) {
  return name == "pthread_mutex_t" || name == "pthread_rwlock_t" || name == "pthread_spinlock_t";
}

bool is_class_to_share_by(StringRef name) {
  return StringSwitch<bool>(name.take_until([](char c) { return c == '<'; }))
      .Cases("mutex", "recursive_mutex", "timed_mutex", "recursive_timed_mutex", true)
      .Cases("shared_mutex", "shared_timed_mutex", "atomic", "atomic_flag", true)
      .Default(false);
}

// Whether a member of this type makes its class a monitor: a mutex or an atomic, or an array of them.
bool is_to_share_by(const DIType* type) {
  while (type != nullptr) {
    if (const auto* derived = dyn_cast<DIDerivedType>(type)) {
      switch (derived->getTag()) {
        case dwarf::DW_TAG_typedef:
          if (is_c_lock(derived->getName())) return true;
          break;
        case dwarf::DW_TAG_const_type:
        case dwarf::DW_TAG_volatile_type: break;
        default: return false;
      }
      type = derived->getBaseType();
      continue;
    }
    const auto* composite = dyn_cast<DICompositeType>(type);
    if (composite == nullptr) return false;
    if (composite->getTag() == dwarf::DW_TAG_array_type) {
      type = composite->getBaseType();
      continue;
    }
    return is_of_library(composite->getScope()) && is_class_to_share_by(composite->getName());
  }
  return false;
}

bool is_monitor(const DICompositeType& type) {
  if (type.getName().empty() || is_of_library(&type)) return false;  // a closure, or the library's own affair
  for (const DINode* element : type.getElements()) {
    const auto* member = dyn_cast_or_null<DIDerivedType>(element);
    if (member != nullptr && member->getTag() == dwarf::DW_TAG_member && !member->isStaticMember() &&
        is_to_share_by(member->getBaseType()))
      return true;
  }
  return false;
}

bool is_public(const DISubprogram& declaration, const DICompositeType& type) {
  switch (declaration.getFlags() & DINode::FlagAccessibility) {
    case DINode::FlagPublic: return true;
    case DINode::FlagZero: return type.getTag() != dwarf::DW_TAG_class_type;
    default: return false;
  }
}

bool is_whole_assignment(const DISubprogram& function, const DICompositeType& type) {
  if (function.getName() != "operator=") return false;
  const DITypeRefArray types = function.getType()->getTypeArray();  // what it returns, this, the other
  const DIType* other = types.size() == 3 ? types[2] : nullptr;
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(other)) other = derived->getBaseType();
  return other == &type;
}

// What makes a class a lock of the program's own. To take it, a thread looks again and again.
bool is_of_lock(StringRef function) {
  return StringSwitch<bool>(function)
      .Cases("lock", "unlock", "try_lock", "try_lock_for", "try_lock_until", true)
      .Cases("lock_shared", "unlock_shared", "try_lock_shared", "try_lock_shared_for",
             "try_lock_shared_until", true)
      .Default(false);
}

}  // namespace

bool is_public_in_monitor_class(Function& function) {
  const DISubprogram* const subprogram = function.getSubprogram();
  if (subprogram == nullptr || object_of(function) == nullptr) return false;
  const DISubprogram* const declaration = subprogram->getDeclaration();
  if (declaration == nullptr || declaration->isArtificial()) return false;
  const auto* const type = dyn_cast_or_null<DICompositeType>(declaration->getScope());
  return type != nullptr && is_public(*declaration, *type) && is_monitor(*type) &&
         !is_whole_assignment(*declaration, *type) && !is_of_lock(declaration->getName()) &&
         !name_of(function).is_constructor_or_destructor;
}

uint64_t constructed_size(Function& function) {
  const DISubprogram* const subprogram = function.getSubprogram();
  if (subprogram == nullptr || object_of(function) == nullptr) return 0;
  if (!name_of(function).is_constructor_or_destructor || subprogram->getName().starts_with("~")) return 0;
  const DISubprogram* const declaration = subprogram->getDeclaration();
  const auto* const type =
      dyn_cast_or_null<DICompositeType>((declaration != nullptr ? declaration : subprogram)->getScope());
  return type != nullptr && (is_monitor(*type) || is_to_share_by(type)) ? type->getSizeInBits() / 8 : 0;
}

}  // namespace heddle
