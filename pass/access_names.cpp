#include "pass/access_names.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "pass/places.h"
#include "pass/source_names.h"
#include "pass/surround.h"

namespace heddle {

using namespace llvm;

namespace {

constexpr StringRef kOnInstruction = "heddle.name";  // one name; of a copy two, to and from
constexpr StringRef kInModule = "heddle.names";      // tuples of scope, line, column, name, function or null

Value* address_in(Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) return load->getPointerOperand();
  if (auto* store = dyn_cast<StoreInst>(&instruction)) return store->getPointerOperand();
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return update->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) return exchange->getPointerOperand();
  return nullptr;
}

// The object that a member function of the library is called for.
Value* library_object(Instruction& instruction) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  Function* const callee = call == nullptr ? nullptr : call->getCalledFunction();
  const Argument* const object = callee == nullptr ? nullptr : object_of(*callee);
  if (object == nullptr || !is_of_library(callee->getSubprogram())) return nullptr;
  return call->getArgOperand(object->getArgNo());
}

constexpr StringRef kAtomics[] = {"std::atomic::",     "std::__atomic_base::", "std::atomic_flag::",
                                  "std::atomic_ref::", "std::__atomic_ref::",  "std::__atomic_impl::"};

// Atomic operations are the library's functions, but their object is the program's: inlined even where
// nothing else is, they know its name.
void inline_always(Function& function, StringRef name) {
  if (function.isDeclaration() ||
      none_of(kAtomics, [&](StringRef of_class) { return name.starts_with(of_class); }))
    return;
  function.removeFnAttr(Attribute::OptimizeNone);
  function.removeFnAttr(Attribute::NoInline);
  function.addFnAttr(Attribute::AlwaysInline);
}

using Spots = std::map<std::tuple<Metadata*, unsigned, unsigned, Metadata*>, std::string>;

void name_accesses(Function& function, const Places& places, Spots& spots) {
  LLVMContext& context = function.getContext();
  const auto attach = [&](Instruction& instruction, ArrayRef<std::string> names) {
    SmallVector<Metadata*, 2> strings;
    for (const std::string& name : names) strings.push_back(MDString::get(context, name));
    instruction.setMetadata(kOnInstruction, MDNode::get(context, strings));
  };
  for (Instruction& instruction : instructions(function)) {
    std::string name;
    Metadata* called = nullptr;  // by the program, of the library
    if (Value* address = address_in(instruction)) {
      name = places.name_at(address);
      if (!name.empty()) attach(instruction, {name});
      if (isa<AllocaInst>(address)) continue;  // mostly the way to what is meant
    } else if (auto* operation = dyn_cast<MemIntrinsic>(&instruction)) {
      const auto* length = dyn_cast<ConstantInt>(operation->getLength());
      const uint64_t size = length == nullptr ? 1 : length->getZExtValue();
      auto* const transfer = dyn_cast<MemTransferInst>(operation);
      attach(instruction, {places.name_at(operation->getDest(), size),
                           transfer == nullptr ? "" : places.name_at(transfer->getSource(), size)});
    } else if (Value* object = library_object(instruction)) {
      name = places.name_at(object);
      called = cast<CallBase>(instruction).getCalledFunction()->getSubprogram();
    }
    const DebugLoc& spot = instruction.getDebugLoc();
    if (name.empty() || !spot) continue;
    for (Metadata* by : {static_cast<Metadata*>(nullptr), called}) {
      const auto [known, is_new] =
          spots.try_emplace({spot.getScope(), spot.getLine(), spot.getCol(), by}, name);
      if (!is_new && known->second != name) known->second.clear();  // one place, two names: neither
    }
  }
}

}  // namespace

PreservedAnalyses NamePass::run(Module& module, ModuleAnalysisManager&) {
  const Places places(module);
  Spots spots;
  for (Function& function : module) {
    const FunctionName name = heddle::name_of(function);
    if (name.is_of_library())
      inline_always(function, name.qualified);
    else if (!function.isDeclaration())
      name_accesses(function, places, spots);
  }
  LLVMContext& context = module.getContext();
  auto* const number = Type::getInt32Ty(context);
  const auto constant = [&](unsigned value) {
    return ConstantAsMetadata::get(ConstantInt::get(number, value));
  };
  NamedMDNode* const table = module.getOrInsertNamedMetadata(kInModule);
  for (const auto& [spot, name] : spots)
    if (!name.empty())
      table->addOperand(
          MDNode::get(context, {std::get<0>(spot), constant(std::get<1>(spot)), constant(std::get<2>(spot)),
                                MDString::get(context, name), std::get<3>(spot)}));
  return PreservedAnalyses::none();
}

AccessNames::AccessNames(Module& module) {
  NamedMDNode* const table = module.getNamedMetadata(kInModule);
  if (table == nullptr) return;
  for (const MDNode* row : table->operands()) {
    const auto number = [&](unsigned column) {
      return static_cast<unsigned>(mdconst::extract<ConstantInt>(row->getOperand(column))->getZExtValue());
    };
    by_spot_[{row->getOperand(0), number(1), number(2), row->getOperand(4)}] =
        cast<MDString>(row->getOperand(3))->getString();
  }
  table->eraseFromParent();
}

std::string AccessNames::name_of(const Instruction& instruction, const Value* address) const {
  if (const MDNode* names = instruction.getMetadata(kOnInstruction)) {
    const auto* transfer = dyn_cast<MemTransferInst>(&instruction);
    const unsigned which = transfer != nullptr && address == transfer->getSource() ? 1 : 0;
    if (which < names->getNumOperands())
      if (const StringRef name = cast<MDString>(names->getOperand(which))->getString(); !name.empty())
        return name.str();
  }
  // What the library does, it does for whom it was inlined into.
  const DILocation* spot = instruction.getDebugLoc();
  const DISubprogram* called = nullptr;
  for (; spot != nullptr && spot->getInlinedAt() != nullptr && is_of_library(spot->getScope());
       spot = spot->getInlinedAt())
    called = spot->getScope()->getSubprogram();
  if (spot != nullptr)
    for (const DISubprogram* function : {called, static_cast<const DISubprogram*>(nullptr)})
      if (const auto found = by_spot_.find({spot->getScope(), spot->getLine(), spot->getColumn(), function});
          found != by_spot_.end())
        return found->second;
  if (const auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(address)))
    return heddle::name_of(*variable);
  return "";
}

}  // namespace heddle
