#include "pass/flow_pass.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "pass/flow_function.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<bool> follows_data("heddle-dataflow", cl::desc("tell what values depend on"));

// Of the C and C++ libraries: what they do to theirs is no doing of functions that nobody can look into.
bool is_of_system(StringRef name) {
  static const StringSet<> names = {"stdin", "stdout", "stderr", "environ", "optarg", "optind", "opterr"};
  if (names.contains(name)) return true;
  for (const char* beginning : {"_ZSt", "_ZNSt", "_ZNKSt", "_ZT", "_ZGV", "__", "_ZN9__gnu", "_ZN10__cxx"})
    if (name.starts_with(beginning)) return true;
  return false;
}

// What a pointer into one reaches, and what others can name (runtime/objects.h): declared ones as well, which
// may be defined where nobody can look.
Constant* all_globals(FlowModule& of, uint64_t& count) {
  SmallVector<Constant*> objects;
  auto* const number = Type::getInt64Ty(of.module.getContext());
  for (GlobalVariable& global : of.module.globals()) {
    if (global.isConstant() || global.isThreadLocal() || global.hasAppendingLinkage() ||
        global.getAddressSpace() != 0 || global.getName().starts_with("llvm.") ||
        global.getName().starts_with("__llvm") || global.getName().starts_with("heddle_") ||
        !global.getValueType()->isSized())
      continue;
    const bool is_elsewhere = global.isDeclaration() || global.hasAvailableExternallyLinkage();
    if (is_elsewhere && (global.use_empty() || is_of_system(global.getName()))) continue;
    const uint64_t size = of.layout.getTypeAllocSize(global.getValueType());
    const uint64_t named = global.hasLocalLinkage() ? 0 : runtime::kNamedByOthers;
    if (size > 0)
      objects.push_back(
          ConstantStruct::get(of.object_type, {&global, ConstantInt::get(number, size | named)}));
  }
  count = objects.size();
  auto* const type = ArrayType::get(of.object_type, count);
  return new GlobalVariable(of.module, type, true, GlobalValue::PrivateLinkage,
                            ConstantArray::get(type, objects), "heddle_globals");
}

// Before the program's own constructors.
void say_that_it_is_built(FlowModule& of) {
  LLVMContext& context = of.module.getContext();
  auto* const nothing = Type::getVoidTy(context);
  uint64_t count = 0;
  Constant* const globals = all_globals(of, count);
  FunctionCallee built = of.module.getOrInsertFunction("heddle_flow_is_built", nothing, globals->getType(),
                                                       Type::getInt64Ty(context));
  auto* const constructor = Function::Create(FunctionType::get(nothing, false), GlobalValue::InternalLinkage,
                                             "heddle_flow_constructor", of.module);
  IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
  builder.CreateCall(built, {globals, builder.getInt64(count)});
  if (of.has_series) {
    const auto border = [&](const char* name) {
      auto* const global = new GlobalVariable(of.module, builder.getInt64Ty(), true,
                                              GlobalValue::ExternalWeakLinkage, nullptr, name);
      global->setVisibility(GlobalValue::HiddenVisibility);
      return global;
    };
    FunctionCallee places = of.module.getOrInsertFunction("heddle_series_places", nothing, builder.getPtrTy(),
                                                          builder.getPtrTy());
    builder.CreateCall(places, {border("__start_heddle_places"), border("__stop_heddle_places")});
  }
  builder.CreateRetVoid();
  appendToGlobalCtors(of.module, constructor, 1000);
}

}  // namespace

bool is_following_data() { return follows_data; }

bool is_to_be_followed(const Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(Attribute::Naked) && !function.getName().starts_with("heddle_");
}

PreservedAnalyses FlowPass::run(Module& module, ModuleAnalysisManager& analyses) {
  auto& of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  FlowModule shared(module);
  auto* const mark = ConstantInt::get(Type::getInt64Ty(module.getContext()), runtime::kFollowedMark);
  SmallVector<Function*> functions;
  for (Function& function : module)
    if (is_to_be_followed(function)) functions.push_back(&function);
  for (Function* function : functions) {
    FunctionFlow(shared, *function).run(of_functions);
    function->setPrefixData(mark);
  }
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallBase>(&instruction)) call->removeFnAttr(Attribute::Memory);
  say_that_it_is_built(shared);
  return PreservedAnalyses::none();
}

}  // namespace heddle
