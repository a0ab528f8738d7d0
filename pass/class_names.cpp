#include "pass/class_names.h"

#include <algorithm>
#include <map>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>

#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

bool is_class(const DICompositeType& type) {
  return type.getTag() == dwarf::DW_TAG_class_type || type.getTag() == dwarf::DW_TAG_structure_type ||
         type.getTag() == dwarf::DW_TAG_union_type;
}

std::string name_of_class(const DICompositeType& type) {
  // LLVM's type of a class that a function declares is not qualified by the function.
  const DIScope* scope = type.getScope();
  while (isa_and_nonnull<DILocalScope>(scope)) scope = nullptr;
  return type.getName().empty() ? "anon" : qualified_name(scope, type.getName());
}

const DIType* without_names(const DIType* type) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type: type = derived->getBaseType(); break;
      default: return type;
    }
  }
  return type;
}

bool is_c_lock(StringRef name) {
  return name == "pthread_mutex_t" || name == "pthread_rwlock_t" || name == "pthread_spinlock_t" ||
         name == "mtx_t";
}

std::string site_of(const DIDerivedType& member) {
  return member.getFile() == nullptr
             ? ""
             : (member.getFile()->getFilename() + ":" + Twine(member.getLine())).str();
}

}  // namespace

std::string ClassNames::name_of(const StructType& type) {
  if (!type.hasName()) return "";
  StringRef name = type.getName();
  if (!name.consume_front("class.") && !name.consume_front("struct.")) name.consume_front("union.");
  name.consume_back(".base");
  // A number behind the last dot only tells types of one name apart.
  if (const std::size_t dot = name.rfind('.'); dot != StringRef::npos) {
    const StringRef last = name.drop_front(dot + 1);
    if (!last.empty() && all_of(last, isDigit)) name = name.take_front(dot);
  }
  name.consume_back(".base");
  return without_arguments(name);
}

bool ClassNames::is_library(const StructType& type) { return is_of_library(name_of(type)); }

bool ClassNames::is_library_type(const Type& type) {
  const auto* const object = dyn_cast<StructType>(&type);
  return object != nullptr && is_library(*object);
}

ClassNames::ClassNames(const Module& module) {
  DebugInfoFinder finder;
  finder.processModule(module);
  for (const DIType* type : finder.types()) {
    const auto* composite = dyn_cast<DICompositeType>(type);
    if (composite == nullptr || composite->isForwardDecl() || !is_class(*composite)) continue;
    by_name_[name_of_class(*composite)].push_back(composite);
  }
}

std::string ClassNames::member_of(const StructType& type, unsigned element, const DataLayout& layout) const {
  const std::string name = name_of(type);
  // Closures and other classes without name are all one: members go by where they lie.
  if (name == "anon" && !type.isOpaque())
    return "anon::#" + std::to_string(layout.getStructLayout(const_cast<StructType*>(&type))
                                          ->getElementOffset(element)
                                          .getFixedValue());
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || type.isOpaque()) return "";
  const StructLayout& offsets = *layout.getStructLayout(const_cast<StructType*>(&type));
  const uint64_t bits = offsets.getElementOffset(element).getFixedValue() * 8;
  const DIDerivedType* best = nullptr;
  for (const DICompositeType* composite : found->second) {
    const bool is_this = composite->getSizeInBits() == offsets.getSizeInBits();
    for (const DINode* part : composite->getElements()) {
      const auto* member = dyn_cast_or_null<DIDerivedType>(part);
      if (member == nullptr || member->isStaticMember() || member->getTag() != dwarf::DW_TAG_member) continue;
      if (member->getOffsetInBits() != bits &&
          !(member->isBitField() && member->getOffsetInBits() / 8 == bits / 8))
        continue;
      if (best == nullptr || is_this) best = member;
    }
  }
  if (best == nullptr) return name + "::#" + std::to_string(bits / 8);
  return name + "::" + (best->getName().empty() ? "#" + std::to_string(bits / 8) : best->getName().str());
}

bool ClassNames::begins_with_base(const StructType& type) const {
  const auto found = by_name_.find(name_of(type));
  const auto* const first =
      type.isOpaque() || type.getNumElements() == 0 ? nullptr : dyn_cast<StructType>(type.getElementType(0));
  if (found == by_name_.end() || first == nullptr) return false;
  // One that is empty has no element.
  for (const DICompositeType* composite : found->second)
    for (const DINode* part : composite->getElements()) {
      const auto* const base = dyn_cast_or_null<DIDerivedType>(part);
      if (base == nullptr || base->getTag() != dwarf::DW_TAG_inheritance || base->getOffsetInBits() != 0)
        continue;
      const auto* const behind = dyn_cast_or_null<DICompositeType>(without_names(base->getBaseType()));
      if (behind != nullptr && name_of_class(*behind) == name_of(*first)) return true;
    }
  return false;
}

bool ClassNames::begins_with_bits(const StructType& type) const {
  const auto found = by_name_.find(name_of(type));
  return found != by_name_.end() && any_of(found->second, [](const DICompositeType* composite) {
           return any_of(composite->getElements(), [](const DINode* part) {
             const auto* const member = dyn_cast_or_null<DIDerivedType>(part);
             return member != nullptr && member->isBitField() && member->getOffsetInBits() < 64;
           });
         });
}

uint64_t ClassNames::size_of(StringRef name) const {
  uint64_t size = 0;
  if (const auto found = by_name_.find(name); found != by_name_.end())
    for (const DICompositeType* composite : found->second) size = std::max(size, composite->getSizeInBits());
  return size;
}

std::vector<std::string> ClassNames::with_bases(const std::string& name) const {
  std::vector<std::string> names = {name};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = by_name_.find(names[i]);
    if (found == by_name_.end()) continue;
    for (const DICompositeType* composite : found->second)
      for (const DINode* part : composite->getElements()) {
        const auto* const base = dyn_cast_or_null<DIDerivedType>(part);
        if (base == nullptr || base->getTag() != dwarf::DW_TAG_inheritance) continue;
        const auto* const behind = dyn_cast_or_null<DICompositeType>(without_names(base->getBaseType()));
        if (behind != nullptr && !is_contained(names, name_of_class(*behind)))
          names.push_back(name_of_class(*behind));
      }
  }
  return names;
}

std::string ClassNames::class_behind(StringRef member) const {
  const std::size_t colons = member.rfind("::");
  const auto found = colons == StringRef::npos ? by_name_.end() : by_name_.find(member.take_front(colons));
  if (found == by_name_.end()) return "?";
  for (const DICompositeType* composite : found->second)
    for (const DINode* part : composite->getElements()) {
      const auto* candidate = dyn_cast_or_null<DIDerivedType>(part);
      if (candidate != nullptr && candidate->getTag() == dwarf::DW_TAG_member &&
          candidate->getName() == member.drop_front(colons + 2))
        return class_of(candidate->getBaseType());
    }
  return "?";
}

MemberKind ClassNames::kind_of(const DIType* type) {
  for (;;) {
    if (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
      if (derived->getTag() == dwarf::DW_TAG_typedef && is_c_lock(derived->getName()))
        return MemberKind::kLock;
      const DIType* const behind = without_names(type);
      if (behind == type) {
        if (derived->getTag() == dwarf::DW_TAG_atomic_type) return MemberKind::kAtomic;
        return MemberKind::kData;
      }
      type = derived->getBaseType();
      continue;
    }
    break;
  }
  const auto* composite = dyn_cast_or_null<DICompositeType>(type);
  if (composite == nullptr) return MemberKind::kData;
  if (composite->getTag() == dwarf::DW_TAG_array_type) return kind_of(composite->getBaseType());
  const std::string name = name_of_class(*composite);
  return StringSwitch<MemberKind>(name)
      .Cases("std::mutex", "std::recursive_mutex", "std::timed_mutex", "std::recursive_timed_mutex",
             MemberKind::kLock)
      .Cases("std::shared_mutex", "std::shared_timed_mutex", "heddle::Mutex", "heddle::SharedMutex",
             MemberKind::kLock)
      .Cases("std::atomic", "std::atomic_flag", "std::condition_variable", "std::_V2::condition_variable_any",
             MemberKind::kAtomic)
      .Cases("std::barrier", "std::latch", "std::counting_semaphore", "std::once_flag", MemberKind::kAtomic)
      .Default(MemberKind::kData);
}

std::string ClassNames::class_of(const DIType* type) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    type = without_names(type);
    if (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
      switch (derived->getTag()) {
        case dwarf::DW_TAG_pointer_type:
          if (derived->getBaseType() == nullptr) return "?";
          [[fallthrough]];
        case dwarf::DW_TAG_reference_type:
        case dwarf::DW_TAG_rvalue_reference_type: type = derived->getBaseType(); continue;
        default: return "";
      }
    }
    const auto* composite = dyn_cast_or_null<DICompositeType>(type);
    if (composite == nullptr) return "";
    if (composite->getTag() == dwarf::DW_TAG_array_type) {
      type = composite->getBaseType();
      continue;
    }
    if (!is_class(*composite)) return "";
    std::string name = name_of_class(*composite);
    if (!is_of_library(StringRef(name))) return name;
    // What the library keeps for the program: the element, the object behind a smart pointer.
    for (const DINode* parameter : composite->getTemplateParams())
      if (const auto* given = dyn_cast_or_null<DITemplateTypeParameter>(parameter))
        if (const std::string inner = class_of(given->getType()); !inner.empty() && inner != "?")
          return inner;
    return "";
  }
  return "";
}

std::string ClassNames::class_of(const GlobalVariable& variable) {
  SmallVector<DIGlobalVariableExpression*, 1> expressions;
  variable.getDebugInfo(expressions);
  return expressions.empty() ? "" : class_of(expressions.front()->getVariable()->getType());
}

std::vector<ClassNames::Class> ClassNames::classes() const {
  std::vector<Class> result;
  for (const auto& entry : by_name_) {
    if (is_of_library(entry.first()) || entry.first() == "anon") continue;
    const DIFile* const file = entry.second.front()->getFile();
    if (file == nullptr || file->getFilename().starts_with("/usr/") ||
        file->getDirectory().starts_with("/usr/"))
      continue;
    Class described;
    described.name = entry.first().str();
    for (const DICompositeType* composite : entry.second) {
      described.size = std::max(described.size, composite->getSizeInBits() / 8);
      for (const DINode* part : composite->getElements()) {
        const auto* member = dyn_cast_or_null<DIDerivedType>(part);
        if (member == nullptr || member->isStaticMember() || member->isArtificial() ||
            member->getTag() != dwarf::DW_TAG_member)
          continue;
        const uint64_t offset = member->getOffsetInBits() / 8;
        const std::string name =
            member->getName().empty() ? "#" + std::to_string(offset) : member->getName().str();
        described.members.push_back({described.name + "::" + name, offset, (member->getSizeInBits() + 7) / 8,
                                     kind_of(member->getBaseType()), class_of(member->getBaseType()),
                                     site_of(*member)});
      }
    }
    result.push_back(std::move(described));
  }
  return result;
}

}  // namespace heddle
