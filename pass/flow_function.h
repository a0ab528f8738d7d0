// The labels of one function's values (pass/flow_pass.h): what it reads and writes, computes, branches on and
// calls is told with them.
#pragma once

#include <array>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include "pass/access_names.h"
#include "pass/flow_series.h"
#include "pass/texts.h"
#include "runtime/flow.h"
#include "runtime/series.h"

namespace heddle {

// The fields of HeddleFlowState.
enum StateField : unsigned { kNext, kResult, kCallee, kArguments, kOutside };

// Labels, of which a value depends on each.
using Labels = llvm::SmallVector<llvm::Value*, 4>;
constexpr std::size_t kMostLabels = runtime::kMostJoined;  // that are not joined

// What all functions of a module share.
class FlowModule {
 public:
  explicit FlowModule(llvm::Module& module)
      : module(module), layout(module.getDataLayout()), names(module), texts(module) {
    llvm::LLVMContext& context = module.getContext();
    auto* const number = llvm::Type::getInt32Ty(context);
    auto* const pointer = llvm::PointerType::getUnqual(context);
    state_type = llvm::StructType::get(
        context, {number, number, pointer, llvm::ArrayType::get(number, runtime::kMostArguments), number});
    call_type = llvm::StructType::get(context, {pointer, pointer, number, number, pointer});
    object_type = llvm::StructType::get(context, {pointer, llvm::Type::getInt64Ty(context)});
    state = module.getOrInsertGlobal("heddle_flow_state", state_type, [&] {
      return new llvm::GlobalVariable(module, state_type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                      "heddle_flow_state", nullptr, llvm::GlobalValue::InitialExecTLSModel);
    });
  }

  // What loops keep of their rounds (runtime/series.h).
  llvm::GlobalVariable* series_buffer() {
    auto* const type =
        llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), sizeof(HeddleSeriesBuffer));
    return llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal("heddle_series_buffer", type, [&] {
      return new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                      "heddle_series_buffer", nullptr,
                                      llvm::GlobalValue::InitialExecTLSModel);
    }));
  }

  llvm::Module& module;
  bool has_series = false;
  const llvm::DataLayout& layout;
  AccessNames names;
  Texts texts;
  llvm::StructType* state_type;   // HeddleFlowState
  llvm::StructType* call_type;    // HeddleFlowCall
  llvm::StructType* object_type;  // runtime::Object
  llvm::Constant* state;
};

class FunctionFlow {
 public:
  FunctionFlow(FlowModule& of, llvm::Function& function)
      : of_(of), function_(function), number_(llvm::Type::getInt32Ty(function.getContext())) {}

  void run(llvm::FunctionAnalysisManager& analyses);

 private:
  friend class SeriesWriter;

  llvm::Value* none() { return llvm::ConstantInt::get(number_, 0); }
  llvm::Value* field(llvm::IRBuilder<>& builder, unsigned index) {
    return builder.CreateStructGEP(of_.state_type, builder.CreateThreadLocalAddress(of_.state), index);
  }
  llvm::Value* argument_place(llvm::IRBuilder<>& builder, unsigned index) {
    return builder.CreateConstGEP2_32(llvm::ArrayType::get(number_, runtime::kMostArguments),
                                      field(builder, kArguments), 0, index);
  }
  llvm::CallInst* call(llvm::IRBuilder<>& builder, llvm::StringRef name, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    llvm::FunctionCallee callee =
        of_.module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    if (auto* declared = llvm::dyn_cast<llvm::Function>(callee.getCallee()))
      declared->addFnAttr(llvm::Attribute::NoUnwind);
    llvm::CallInst* const made = builder.CreateCall(callee, arguments);
    made->setDoesNotThrow();
    return made;
  }
  llvm::CallInst* tell(llvm::IRBuilder<>& builder, llvm::StringRef name,
                       llvm::ArrayRef<llvm::Value*> arguments) {
    return call(builder, name, builder.getVoidTy(), arguments);
  }

  void promote();
  void take_marks();
  void simplify_loops();
  void find_labelled();
  bool is_labelled_source(const llvm::Instruction& instruction) const;
  void at_entry();
  void show_locals(llvm::IRBuilder<>& builder);
  void visit(llvm::Instruction& instruction);
  void visit_load(llvm::LoadInst& load);
  void visit_store(llvm::StoreInst& store);
  void visit_atomic(llvm::Instruction& instruction);
  void visit_block_operation(llvm::MemIntrinsic& operation);
  void visit_call(llvm::CallBase& call);
  void visit_unknown_call(llvm::CallBase& call);
  llvm::Value* describe(llvm::IRBuilder<>& builder, llvm::CallBase& call);
  void visit_landing(llvm::LandingPadInst& landing);
  void visit_libc_call(llvm::CallBase& call, llvm::FunctionCallee checked);
  void visit_return(llvm::ReturnInst& leaving);
  void visit_select(llvm::SelectInst& select);
  bool is_fit_for_series(const llvm::Instruction& instruction) const;
  bool tell_series(SeriesLoop& loop);
  void fill_phis();
  void use_labels_again();

  bool is_followed(const llvm::Value* address) const;
  Labels labels_of(llvm::Value* value) const;
  void set(llvm::Value* value, llvm::Value* label) { labels_[value] = {label}; }
  static void add(Labels& to, const Labels& from) {
    for (llvm::Value* label : from)
      if (!llvm::is_contained(to, label)) to.push_back(label);
  }
  llvm::Value* joined(llvm::IRBuilder<>& builder, Labels labels);
  // The one label of a value, made where the value is.
  llvm::Value* label_of(llvm::Value* value);
  void branch_on(llvm::IRBuilder<>& builder, const Labels& labels);
  std::array<llvm::Value*, 4> four(llvm::IRBuilder<>& builder, const Labels& labels);
  // Where code can stand that needs the value and what was made for it.
  llvm::Instruction* behind(llvm::Instruction& instruction);
  void ignore(llvm::Instruction& instruction) {
    instruction.setMetadata(llvm::LLVMContext::MD_nosanitize, llvm::MDNode::get(function_.getContext(), {}));
  }
  llvm::Constant* name_of(const llvm::Instruction& instruction, const llvm::Value* address) {
    return of_.texts.get(of_.names.name_of(instruction, address));
  }

  FlowModule& of_;
  llvm::Function& function_;
  llvm::IntegerType* number_;
  llvm::DenseSet<const llvm::Value*> labelled_;              // values that may have a label other than 0
  llvm::DenseMap<const llvm::Value*, Labels> labels_;        // of those of them that were visited
  llvm::DenseMap<const llvm::Value*, llvm::Value*> before_;  // what went through heddle.out: the value before
  llvm::SmallVector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;  // values, and their labels
  llvm::DenseMap<const llvm::Instruction*, llvm::Instruction*>
      made_for_;                                            // the last instruction that makes a value's label
  llvm::DenseSet<const llvm::Value*> branched_;             // labels that the present block has branched on
  llvm::SmallVector<llvm::AllocaInst*> counters_;           // of series, in memory as long as code is made
  llvm::DenseSet<const llvm::BasicBlock*> series_headers_;  // of loops that are told as series
  llvm::Value* mark_ = nullptr;
  llvm::Value* top_ = nullptr;  // of its frame: where it returns to
  llvm::Value* is_called_by_us_ = nullptr;
};

// Whether the function's definition here is compiled with labels.
bool is_to_be_followed(const llvm::Function& function);

// Whether it calls a function whose name begins so.
bool calls_named(const llvm::Instruction& instruction, llvm::StringRef beginning);

}  // namespace heddle
