#include "pass/places.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/source_names.h"
#include "src/base/bit_field_run.h"

namespace heddle {

using namespace llvm;

namespace {

// How far to look back for where an address comes from.
constexpr unsigned kDeepestPlace = 16;

const DIType* plain(const DIType* type) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type: type = derived->getBaseType(); break;
      default: return type;
    }
  }
  return type;
}

uint64_t size_of(const DIType* type) {
  type = plain(type);
  return type == nullptr ? 0 : type->getSizeInBits() / 8;
}

const DICompositeType* array_type(const DIType* type) {
  const auto* composite = dyn_cast_or_null<DICompositeType>(plain(type));
  return composite != nullptr && composite->getTag() == dwarf::DW_TAG_array_type ? composite : nullptr;
}

// A class of the program, or a union.
const DICompositeType* class_type(const DIType* type) {
  const auto* composite = dyn_cast_or_null<DICompositeType>(plain(type));
  if (composite == nullptr || is_of_library(composite)) return nullptr;
  switch (composite->getTag()) {
    case dwarf::DW_TAG_class_type:
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_union_type: return composite;
    default: return nullptr;
  }
}

struct Member {
  const DICompositeType* owner;  // the class that declares it: maybe a base class
  const DIDerivedType* member;
  uint64_t offset;  // from its beginning
  uint64_t offset_in_owner;
};

// What the bit-fields are called that share this byte of the class; empty: there are none.
std::string bit_fields_at(const DICompositeType& type, uint64_t offset) {
  BitFieldRun run;
  for (const DINode* element : type.getElements()) {
    const auto* part = dyn_cast_or_null<DIDerivedType>(element);
    if (part == nullptr || !part->isBitField()) continue;
    if (run.add(part->getName(), part->getOffsetInBits(), part->getSizeInBits())) continue;
    if (run.has_byte(offset)) break;
    run = {};
    run.add(part->getName(), part->getOffsetInBits(), part->getSizeInBits());
  }
  return run.has_byte(offset) ? run.name() : "";
}

// The member that has this byte; none where several have, as in a union. Of bit-fields the first.
std::optional<Member> member_at(const DICompositeType& type, uint64_t offset) {
  std::optional<Member> found;
  for (const DINode* element : type.getElements()) {
    const auto* part = dyn_cast_or_null<DIDerivedType>(element);
    if (part == nullptr || part->isStaticMember() || part->isVirtual()) continue;
    const uint64_t begin = part->getOffsetInBits() / 8;
    if (offset < begin) continue;
    std::optional<Member> here;
    if (part->getTag() == dwarf::DW_TAG_inheritance) {
      const DICompositeType* base = class_type(part->getBaseType());
      if (base != nullptr && offset < begin + size_of(base)) here = member_at(*base, offset - begin);
    } else if (part->getTag() == dwarf::DW_TAG_member) {
      const uint64_t end = (part->getOffsetInBits() + part->getSizeInBits() + 7) / 8;
      if (offset < end) here = Member{&type, part, offset - begin, offset};
    }
    if (!here) continue;
    if (found && !found->member->isBitField()) return std::nullopt;
    if (!found) found = here;
  }
  return found;
}

// The variable that lives here as a whole. With optimization clang says it by what is assigned to it.
const DIVariable* declared_at(Value* value) {
  for (const DbgVariableRecord* record : findDVRDeclares(value))
    if (record->getExpression()->getNumElements() == 0) return record->getVariable();
  if (const auto* memory = dyn_cast<AllocaInst>(value))
    for (const DbgVariableRecord* record : at::getDVRAssignmentMarkers(memory))
      if (record->getExpression()->getNumElements() == 0) return record->getVariable();
  return nullptr;
}

const DIGlobalVariable* debug_variable(const GlobalVariable& variable) {
  SmallVector<DIGlobalVariableExpression*, 1> expressions;
  variable.getDebugInfo(expressions);
  return expressions.empty() ? nullptr : expressions.front()->getVariable();
}

}  // namespace

std::string name_of(const GlobalVariable& variable) {
  if (const DIGlobalVariable* debug = debug_variable(variable);
      debug != nullptr && !debug->getName().empty()) {
    const DIDerivedType* member = debug->getStaticDataMemberDeclaration();
    return qualified_name(member == nullptr ? debug->getScope() : member->getScope(), debug->getName());
  }
  return variable.hasName() ? name_of_variable(variable.getName()) : "";
}

// A pointer may have been moved to another object of an array.
void Places::enter_object(Place& place) {
  const uint64_t size = size_of(place.type);
  if (place.root == Root::kVariable || size == 0) return;
  place.is_indexed |= place.offset >= size;
  place.offset %= size;
}

// Goes into the member that has the place's byte.
bool Places::enter_member(Place& place) {
  const DICompositeType* type = class_type(place.type);
  if (type == nullptr) return false;
  const std::optional<Member> found = member_at(*type, place.offset);
  if (!found || found->member->isArtificial()) return false;
  const std::string member = found->member->isBitField()
                                 ? bit_fields_at(*found->owner, found->offset_in_owner)
                                 : found->member->getName().str();
  if (!member.empty()) {
    if (place.root == Root::kVariable) {
      place.text += "." + member;
    } else if (found->owner->getName().empty()) {
      place.text = member;  // what a lambda captured
    } else {
      place.text = qualified_name(found->owner->getScope(), found->owner->getName()) + "::" + member;
    }
    place.root = Root::kVariable;
  } else if (place.root != Root::kVariable) {
    place.text = qualified_name(found->owner->getScope(), found->owner->getName());
    place.root = Root::kVariable;
  }
  place.type = found->member->getBaseType();
  place.offset = found->offset;
  place.is_indexed = false;
  return true;
}

// Goes into the array's elements, one dimension at a time.
void Places::enter_element(Place& place) {
  const DICompositeType* array = array_type(place.type);
  if (place.root == Root::kPointer) place.text = "(*" + place.text + ")";
  place.root = Root::kVariable;
  place.text += "[]";
  if (++place.dimension < array->getElements().size()) return;
  place.dimension = 0;
  place.type = array->getBaseType();
  if (const uint64_t size = size_of(place.type); size > 0) place.offset %= size;
}

std::optional<Places::Place> Places::array_at(Place place) {
  enter_object(place);
  while (array_type(place.type) == nullptr)
    if (!enter_member(place)) return std::nullopt;
  return place;
}

// Down to what has no parts, or whose parts are not the program's, or is no larger than `size`.
std::optional<Places::Place> Places::part_at(Place place, uint64_t size) {
  enter_object(place);
  while (place.offset != 0 || size == 0 || size_of(place.type) > size) {
    if (array_type(place.type) != nullptr) {
      enter_element(place);
    } else if (const DICompositeType* type = class_type(place.type)) {
      if (enter_member(place)) continue;
      if (place.root == Root::kVariable && type->getTag() == dwarf::DW_TAG_union_type) break;
      return std::nullopt;
    } else {
      break;
    }
  }
  return place;
}

std::string Places::name_of(const Place& place) {
  if (place.text.empty()) return "";
  if (place.root != Root::kPointer) return place.text;
  if (place.text == "this") return "";  // inside the library
  return place.is_indexed ? place.text + "[]" : "*" + place.text;
}

// What the pointer or reference at this place refers to.
std::optional<Places::Place> Places::place_behind(const Place& pointer) {
  const auto* type = dyn_cast_or_null<DIDerivedType>(plain(pointer.type));
  if (type == nullptr) return std::nullopt;
  switch (type->getTag()) {
    case dwarf::DW_TAG_pointer_type: return Place{name_of(pointer), Root::kPointer, type->getBaseType()};
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
      return Place{name_of(pointer), Root::kReference, type->getBaseType()};
    default: return std::nullopt;
  }
}

std::optional<Places::Place> Places::place_of_element(const GEPOperator& element, unsigned depth) const {
  std::optional<Place> place = place_of(element.getOperand(0), depth + 1);
  if (!place) return std::nullopt;
  for (auto step = gep_type_begin(element); step != gep_type_end(element); ++step) {
    const auto* index = dyn_cast<ConstantInt>(step.getOperand());
    if (StructType* type = step.getStructTypeOrNull()) {
      place->offset +=
          layout_.getStructLayout(type)->getElementOffset(static_cast<unsigned>(index->getZExtValue()));
      continue;
    }
    const uint64_t stride = step.getSequentialElementStride(layout_).getFixedValue();
    if (index != nullptr) {
      place->offset += static_cast<uint64_t>(index->getSExtValue()) * stride;
      continue;
    }
    if (step == gep_type_begin(element) && place->root != Root::kVariable && stride == size_of(place->type)) {
      place->is_indexed = true;
      continue;
    }
    place = array_at(*place);
    if (!place) return std::nullopt;
    enter_element(*place);
    place->offset = 0;
  }
  return place;
}

std::optional<Places::Place> Places::place_of_result(const CallBase& call) const {
  const Function* callee = call.getCalledFunction();
  const DISubprogram* subprogram = callee == nullptr ? nullptr : callee->getSubprogram();
  if (subprogram == nullptr || subprogram->getType()->getTypeArray().size() == 0) return std::nullopt;
  std::optional<Place> result = place_behind({"", Root::kVariable, subprogram->getType()->getTypeArray()[0]});
  if (!result || call.arg_empty() || !is_of_library(subprogram)) return result;
  // An element of the library's container is named for the container.
  const StringRef name = subprogram->getName();
  const bool is_element = name == "operator[]" || name == "at" || name == "front" || name == "back";
  const bool is_target = name == "operator*" || name == "operator->" || name == "get";
  if (!is_element && !is_target) return result;
  const std::string object = name_at(call.getArgOperand(0));
  if (object.empty()) return result;
  result->text = is_element ? object + "[]" : "*" + object;
  result->root = Root::kReference;
  return result;
}

std::optional<Places::Place> Places::place_of(Value* address, unsigned depth) const {
  if (depth >= kDeepestPlace) return std::nullopt;
  if (const auto* variable = dyn_cast<GlobalVariable>(address)) {
    const DIGlobalVariable* debug = debug_variable(*variable);
    if (debug == nullptr) return std::nullopt;
    return Place{heddle::name_of(*variable), Root::kVariable, debug->getType()};
  }
  if (const auto* element = dyn_cast<GEPOperator>(address)) return place_of_element(*element, depth);
  if (isa<AllocaInst>(address) || isa<Argument>(address)) {
    const DIVariable* variable = declared_at(address);
    if (variable == nullptr) return std::nullopt;
    return Place{variable->getName().str(), Root::kVariable, variable->getType()};
  }
  if (auto* load = dyn_cast<LoadInst>(address)) {
    const std::optional<Place> place = place_of(load->getPointerOperand(), depth + 1);
    const std::optional<Place> pointer = place ? part_at(*place, 0) : std::nullopt;
    return pointer ? place_behind(*pointer) : std::nullopt;
  }
  if (const auto* call = dyn_cast<CallBase>(address)) {
    if (isa<IntrinsicInst>(call) && call->arg_size() > 0 && call->getArgOperand(0)->getType()->isPointerTy())
      return place_of(call->getArgOperand(0), depth + 1);  // threadlocal.address, launder.invariant.group
    return place_of_result(*call);
  }
  if (auto* choice = dyn_cast<SelectInst>(address)) return place_of(choice->getTrueValue(), depth + 1);
  return std::nullopt;
}

std::string Places::name_at(Value* address, uint64_t size) const {
  const std::optional<Place> place = place_of(address, 0);
  const std::optional<Place> part = place ? part_at(*place, size) : std::nullopt;
  return part ? name_of(*part) : "";
}

}  // namespace heddle
