#include "pass/first_members.h"

#include <list>
#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>

#include "pass/parameter_classes.h"
#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

// Whose first member is known: of a union it may be any.
bool has_first_member(const StructType& type) {
  return type.hasName() && !type.isOpaque() && type.getNumElements() > 0 &&
         !type.getName().starts_with("union.") && !ClassNames::is_library(type);
}

bool is_scalar(const Type& type) { return !type.isStructTy() && !type.isArrayTy(); }

// What the user of a pointer says that it points to.
struct Meant {
  enum class By { kNothing, kType, kSize, kScalar, kClass };
  By by = By::kNothing;
  Type* type = nullptr;
  uint64_t size = 0;
  std::string name;

  bool fits(Type* there, const DataLayout& layout) const {
    switch (by) {
      case By::kNothing: return false;
      case By::kType: return there == type;
      case By::kSize: return layout.getTypeAllocSize(there).getKnownMinValue() <= size;
      case By::kScalar: return is_scalar(*there) && layout.getTypeStoreSize(there).getKnownMinValue() >= size;
      case By::kClass: break;
    }
    const auto* const of = dyn_cast<StructType>(there);
    if (of == nullptr) return false;
    // Members of a library's class may be those of its bases.
    return ClassNames::is_library(*of) ? is_of_library(StringRef(name)) : ClassNames::name_of(*of) == name;
  }
};

Meant meant_by(const Use& operand, const DataLayout& layout) {
  const auto scalar = [&](Type* type) {
    return Meant{Meant::By::kScalar, nullptr, layout.getTypeStoreSize(type).getKnownMinValue(), ""};
  };
  User* const user = operand.getUser();
  const unsigned number = operand.getOperandNo();
  if (auto* load = dyn_cast<LoadInst>(user)) return scalar(load->getType());
  if (auto* store = dyn_cast<StoreInst>(user))
    return number == StoreInst::getPointerOperandIndex() ? scalar(store->getValueOperand()->getType())
                                                         : Meant();
  if (auto* change = dyn_cast<AtomicRMWInst>(user))
    return number == AtomicRMWInst::getPointerOperandIndex() ? scalar(change->getValOperand()->getType())
                                                             : Meant();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(user))
    return number == AtomicCmpXchgInst::getPointerOperandIndex()
               ? scalar(exchange->getCompareOperand()->getType())
               : Meant();
  if (auto* step = dyn_cast<GetElementPtrInst>(user)) {
    // To a base class, by bytes: of the object as a whole.
    if (step->getSourceElementType()->isIntegerTy(8) && step->hasAllConstantIndices()) return Meant();
    return {Meant::By::kType, step->getSourceElementType(), 0, ""};
  }
  const auto* const call = dyn_cast<CallBase>(user);
  if (call == nullptr || !call->isArgOperand(&operand)) return {};
  if (const auto* copy = dyn_cast<MemIntrinsic>(call)) {
    const auto* const length = dyn_cast<ConstantInt>(copy->getLength());
    if (length == nullptr) return {};
    return {Meant::By::kSize, nullptr, length->getZExtValue(), ""};
  }
  std::string name = class_of_argument(*call, call->getArgOperandNo(&operand));
  if (name.empty()) return {};
  return {Meant::By::kClass, nullptr, 0, std::move(name)};
}

// The base class that the object begins with has no name as a member: its own go by their class.
struct Step {
  StructType* from;  // null: into an array
  bool is_to_base;
};
std::optional<Step> step_into(Type* type, const ClassNames& classes) {
  if (auto* array = dyn_cast<ArrayType>(type); array != nullptr) return Step{nullptr, false};
  auto* const object = dyn_cast<StructType>(type);
  if (object == nullptr || !has_first_member(*object) || classes.begins_with_bits(*object))
    return std::nullopt;
  return Step{object, classes.begins_with_base(*object)};
}
Type* first_of(Type* type) {
  if (auto* array = dyn_cast<ArrayType>(type)) return array->getElementType();
  return cast<StructType>(type)->getElementType(0);
}

// The operand with all steps to what its user means; null: they do not lead there.
Value* with_steps(const Use& operand, Type* type, const ClassNames& classes, const DataLayout& layout) {
  const Meant meant = meant_by(operand, layout);
  auto* const before = cast<Instruction>(operand.getUser());
  Value* pointer = operand.get();
  Type* const index = Type::getInt32Ty(before->getContext());
  Type* from = type;
  SmallVector<Value*> path = {ConstantInt::get(index, 0)};
  SmallVector<std::pair<Type*, SmallVector<Value*>>> all;
  for (; !meant.fits(type, layout); type = first_of(type)) {
    const std::optional<Step> step = step_into(type, classes);
    if (!step) return nullptr;
    if (!step->is_to_base) {
      path.push_back(ConstantInt::get(index, 0));
      continue;
    }
    if (path.size() > 1) all.emplace_back(from, path);
    from = first_of(type);
    path.resize(1);
  }
  if (path.size() > 1) all.emplace_back(from, path);
  for (const auto& [source, steps] : all) {
    auto* const next = GetElementPtrInst::Create(source, pointer, steps, "", before->getIterator());
    next->setDebugLoc(before->getDebugLoc());
    pointer = next;
  }
  return pointer;
}

}  // namespace

Type* type_in_global(const Value* pointer) {
  if (const auto* variable = dyn_cast<GlobalVariable>(pointer))
    return variable->isThreadLocal() || variable->isConstant() ? nullptr : variable->getValueType();
  const auto* const step = dyn_cast<GEPOperator>(pointer);
  if (step == nullptr || step->getSourceElementType()->isIntegerTy(8)) return nullptr;
  return type_in_global(step->getPointerOperand()) == nullptr ? nullptr : step->getResultElementType();
}

namespace {

// A variable whose beginning is computed by the compiler has a type without name, made for its value. What
// the code uses gets the type of its class, if the code knows one; the value stays with another variable.
void give_classes(Module& module) {
  DenseMap<std::pair<StringRef, uint64_t>, StructType*> types;
  std::list<std::string> names;
  const DataLayout& layout = module.getDataLayout();
  for (StructType* type : module.getIdentifiedStructTypes())
    if (!type->isOpaque())
      types.try_emplace({names.emplace_back(ClassNames::name_of(*type)), layout.getTypeAllocSize(type)},
                        type);
  SmallVector<GlobalVariable*> variables;
  for (GlobalVariable& variable : module.globals())
    if (const auto* type = dyn_cast<StructType>(variable.getValueType());
        type != nullptr && !type->hasName() && !variable.isThreadLocal())
      variables.push_back(&variable);
  for (GlobalVariable* variable : variables) {
    const std::string name = ClassNames::class_of(*variable);
    const auto type = types.find({name, layout.getTypeAllocSize(variable->getValueType())});
    if (type == types.end()) continue;
    auto* const typed = new GlobalVariable(module, type->second, variable->isConstant(),
                                           GlobalValue::ExternalLinkage, nullptr, "", variable);
    typed->copyMetadata(variable, 0);
    variable->eraseMetadata(LLVMContext::MD_dbg);
    typed->takeName(variable);
    variable->replaceUsesWithIf(typed, [](const Use& use) { return isa<Instruction>(use.getUser()); });
  }
}

// Addresses that stand in the initial value of a variable are given away before anything runs: a function of
// the copy says so.
void give_initial_addresses(Module& module) {
  SmallVector<Constant*> waiting;
  for (const GlobalVariable& variable : module.globals())
    if (variable.hasInitializer() && !variable.getName().starts_with("llvm."))
      waiting.push_back(const_cast<Constant*>(variable.getInitializer()));
  SmallVector<Constant*> addresses;
  SmallPtrSet<Constant*, 16> seen;
  while (!waiting.empty()) {
    Constant* const value = waiting.pop_back_val();
    if (!seen.insert(value).second) continue;
    const auto* const variable = dyn_cast<GlobalVariable>(getUnderlyingObject(value));
    if (value->getType()->isPointerTy() && variable != nullptr) {
      // Tables of virtual functions are the compiler's.
      if (!variable->isConstant() && !variable->getName().starts_with("_ZT")) addresses.push_back(value);
    } else if (!isa<GlobalValue>(value)) {
      for (const Use& part : value->operands()) waiting.push_back(cast<Constant>(part.get()));
    }
  }
  if (addresses.empty()) return;
  LLVMContext& context = module.getContext();
  auto* const function = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                          GlobalValue::InternalLinkage, "_GLOBAL__initial_addresses", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  Value* const away = builder.CreateAlloca(builder.getPtrTy());
  for (Constant* address : addresses) builder.CreateStore(address, away);
  builder.CreateRetVoid();
}

}  // namespace

void name_first_members(Module& module, const ClassNames& classes) {
  give_initial_addresses(module);
  SmallVector<Constant*> objects;
  for (GlobalVariable& variable : module.globals())
    if (!is_scalar(*variable.getValueType()) && !variable.getName().starts_with("llvm."))
      objects.push_back(&variable);
  convertUsersOfConstantsToInstructions(objects);
  give_classes(module);
  const DataLayout& layout = module.getDataLayout();
  for (Function& function : module) {
    SmallVector<Use*> operands;
    for (Instruction& instruction : instructions(function))
      if (!isa<PHINode>(instruction))
        for (Use& operand : instruction.operands())
          if (operand->getType()->isPointerTy() && type_in_global(operand.get()) != nullptr)
            operands.push_back(&operand);
    for (Use* operand : operands)
      if (Value* pointer = with_steps(*operand, type_in_global(operand->get()), classes, layout))
        operand->set(pointer);
  }
}

FirstMembers first_members(const Use& operand, const ClassNames& classes, const DataLayout& layout) {
  FirstMembers members;
  Type* const whole = operand->getType()->isPointerTy() ? type_in_global(operand.get()) : nullptr;
  if (whole == nullptr || is_scalar(*whole) || isa<ICmpInst>(operand.getUser())) return members;
  const Meant meant = meant_by(operand, layout);
  // Of a constant, LLVM's type may have no name.
  const auto* const object = dyn_cast<StructType>(whole);
  const auto* const variable = dyn_cast<GlobalVariable>(operand.get());
  const bool has_name = object == nullptr || object->hasName();
  const std::string name = object == nullptr     ? ""
                           : has_name            ? ClassNames::name_of(*object)
                           : variable == nullptr ? ""
                                                 : ClassNames::class_of(*variable);
  if (meant.by == Meant::By::kClass && meant.name == name) return {};
  if (const auto* piece = dyn_cast_or_null<StructType>(meant.type); piece != nullptr && !piece->hasName())
    return {};
  std::string path;
  Type* type = whole;
  for (; !meant.fits(type, layout); type = first_of(type)) {
    const std::optional<Step> step = step_into(type, classes);
    if (!step) {
      // Several members in one piece (function_summary.cpp).
      if (meant.by == Meant::By::kScalar && is_scalar(*type)) return {};
      const bool is_end = is_scalar(*type) || ClassNames::is_library_type(*type);
      const bool may_be_any = meant.by == Meant::By::kNothing || meant.by == Meant::By::kClass;
      if (!is_end || !may_be_any) members.classes = classes.with_bases(name);
      return members;
    }
    // Elements that are objects, and members of a base class, go by their own class.
    if (step->from == nullptr || step->is_to_base) {
      path.clear();
      continue;
    }
    path += "/" + classes.member_of(*step->from, 0, layout);
    members.steps.push_back(path);
  }
  return {};
}

}  // namespace heddle
