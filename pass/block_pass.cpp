#include "pass/block_pass.h"

#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "pass/block_spec.h"
#include "pass/focus_pass.h"
#include "pass/monitor_classes.h"
#include "pass/noted_text.h"
#include "pass/source_names.h"
#include "pass/surround.h"
#include "runtime/blocks.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<std::string> spec_file("heddle-spec", cl::desc("the file that names Heddle's blocks"));

struct Block {
  HeddleBlockKind kind;
  HeddleBlockOrigin origin;
};

// What the functions of the module say of themselves.
DenseMap<const Function*, HeddleBlockKind> annotated(const Module& module) {
  DenseMap<const Function*, HeddleBlockKind> result;
  const GlobalVariable* const list = module.getNamedGlobal("llvm.global.annotations");
  const auto* const entries =
      list != nullptr && list->hasInitializer() ? dyn_cast<ConstantArray>(list->getInitializer()) : nullptr;
  if (entries == nullptr) return result;
  for (const Value* operand : entries->operands()) {
    const auto* const entry = dyn_cast<ConstantStruct>(operand);  // what, text, file, line, arguments
    if (entry == nullptr || entry->getNumOperands() < 2) continue;
    const auto* const function = dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    const auto* const holder = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    if (function == nullptr || holder == nullptr || !holder->hasInitializer()) continue;
    const auto* const text = dyn_cast<ConstantDataArray>(holder->getInitializer());
    if (text == nullptr || !text->isCString()) continue;
    if (text->getAsCString() == "heddle::atomic") result[function] = kHeddleAtomic;
    if (text->getAsCString() == "heddle::deterministic") result[function] = kHeddleDeterministic;
  }
  return result;
}

std::optional<Block> block_of(Function& function, StringRef name, const BlockSpec& spec,
                              const DenseMap<const Function*, HeddleBlockKind>& annotations) {
  if (const auto found = annotations.find(&function); found != annotations.end())
    return Block{found->second, kHeddleByAnnotation};
  if (spec.is_ignored(name)) return std::nullopt;
  if (spec.is_deterministic(name)) return Block{kHeddleDeterministic, kHeddleBySpec};
  if (spec.is_atomic(name)) return Block{kHeddleAtomic, kHeddleBySpec};
  if (is_public_in_monitor_class(function)) return Block{kHeddleAtomic, kHeddleByDefault};
  return std::nullopt;
}

// The constant HeddleBlock. A function that several objects may contain shares it with its copies there.
// It is not put into the function's own group of sections: inlined copies need it too, and must not keep the
// function itself.
GlobalVariable* descriptor(Function& function, StringRef name, Block block) {
  Module& module = *function.getParent();
  IRBuilder<> builder(module.getContext());
  Constant* const text = ConstantDataArray::getString(module.getContext(), name);
  auto* const holder = new GlobalVariable(module, text->getType(), /*isConstant=*/true,
                                          GlobalValue::PrivateLinkage, text, "heddle.block.name");
  holder->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  holder->setAlignment(Align(1));
  Constant* const value = ConstantStruct::getAnon(
      {holder, builder.getInt32(block.kind), builder.getInt32(block.origin)}, /*Packed=*/false);
  const bool is_shared = function.hasLinkOnceLinkage() || function.hasWeakLinkage();
  auto* const result =
      new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                         is_shared ? GlobalValue::LinkOnceODRLinkage : GlobalValue::PrivateLinkage, value,
                         "heddle_block." + function.getName());
  if (is_shared) {
    result->setVisibility(GlobalValue::HiddenVisibility);
    result->setComdat(module.getOrInsertComdat(result->getName()));
  }
  result->setSection("heddle_blocks");
  result->setAlignment(Align(alignof(HeddleBlock)));
  return result;
}

void mark(Function& function, StringRef name, Block block) {
  GlobalVariable* const constant = descriptor(function, name, block);
  Value* object = object_of(function);
  if (object == nullptr) object = ConstantPointerNull::get(PointerType::getUnqual(function.getContext()));
  // Who only looks for races asks nobody which block they are in. In a focused program there is so little
  // else to do that not even the question is left to the runtime.
  Value* is_told = nullptr;
  const auto go_where_told = [&](IRBuilder<>& builder) {
    if (is_told == nullptr) return;
    const DebugLoc location = builder.getCurrentDebugLocation();
    builder.SetInsertPoint(SplitBlockAndInsertIfThen(is_told, &*builder.GetInsertPoint(), false));
    builder.SetCurrentDebugLocation(location);
  };
  surround(
      function,
      [&](IRBuilder<>& builder) {
        if (is_focusing()) is_told = ask_whether_told(builder);
        go_where_told(builder);
        call_runtime(builder, "heddle_begin_block", {constant, object});
      },
      [&](IRBuilder<>& builder, ReturnInst*) {
        go_where_told(builder);
        call_runtime(builder, "heddle_end_block", {constant});
      });
}

}  // namespace

PreservedAnalyses BlockPass::run(Module& module, ModuleAnalysisManager&) {
  BlockSpec spec;
  if (!spec_file.empty()) {
    Expected<BlockSpec> read = BlockSpec::read(spec_file);
    if (!read) {
      module.getContext().emitError(toString(read.takeError()));
      return PreservedAnalyses::all();
    }
    spec = std::move(*read);
  }
  const auto annotations = annotated(module);
  for (Function& function : module) {
    // A coroutine leaves and comes back: where it ends is not where it returns.
    if (function.isDeclaration() || function.isPresplitCoroutine() ||
        function.hasFnAttribute(Attribute::Naked))
      continue;
    if (const uint64_t size = constructed_size(function); size > 0) {
      IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      call_runtime(builder, "heddle_begin_object", {object_of(function), builder.getInt64(size)});
    }
    const std::string name = name_of(function).qualified;
    if (name.empty() || StringRef(name).starts_with("heddle_")) continue;
    spec.meet(name);
    if (const std::optional<Block> block = block_of(function, name, spec, annotations))
      mark(function, name, *block);
  }
  // For patterns_without_function() of src/symbols/executable.h.
  spec.for_each_pattern([&](const std::string& pattern, bool has_met) {
    note_text(module, "heddle_spec_patterns", (has_met ? "+" : "-") + pattern);
  });
  return PreservedAnalyses::none();
}

}  // namespace heddle
