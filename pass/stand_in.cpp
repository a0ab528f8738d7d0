#include "pass/stand_in.h"

#include <functional>
#include <optional>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/class_names.h"
#include "pass/function_summary.h"
#include "pass/library_functions.h"
#include "pass/lock_calls.h"
#include "pass/memory_paths.h"
#include "pass/places.h"
#include "pass/source_names.h"
#include "pass/surround.h"
#include "pass/texts.h"
#include "src/types/path.h"

namespace heddle {

using namespace llvm;

namespace {

class StandIns {
 public:
  StandIns(Module& module, const FocusFile& focus)
      : module_(module), focus_(focus), classes_(module), texts_(module) {
    for (const ClassNames::Class& described : classes_.classes())
      for (const ClassMember& member : described.members) offsets_[member.name] = member.offset;
    for (const auto& [place, lock] : focus.guarded) locks_.insert(lock);
    for (const auto& [symbol, needs] : focus.required)
      for (const FocusFile::Required& need : needs) locks_.insert(need.lock);
    for (GlobalVariable& variable : module.globals())
      if (!variable.isConstant()) globals_[root_of_global(variable)] = &variable;
  }

  void run() {
    SmallVector<Function*> functions;
    for (Function& function : module_)
      if (!function.isDeclaration() && !is_library_function(function)) functions.push_back(&function);
    for (Function* function : functions) mark(*function);
  }

 private:
  std::string place_of(const std::string& path) const {
    return types::normal_place(types::place_of(path),
                               [&](const std::string& part) { return focus_.taken.contains(part); });
  }

  void mark(Function& function) {
    MemoryPaths paths(function, classes_);
    const LockCalls lock_calls(function);
    const bool is_typed = focus_.methods.contains(unique_symbol(function));
    std::vector<std::function<void()>> changes;  // made when all has been looked at
    for (Instruction& instruction : instructions(function)) {
      if (auto* call = dyn_cast<CallBase>(&instruction)) {
        mark_acquisition(*call, lock_calls, paths, changes);
        if (!is_typed) mark_call(*call, paths, changes);
      }
      if (is_typed) continue;
      if (auto* load = dyn_cast<LoadInst>(&instruction); load != nullptr && !load->isAtomic())
        mark_use(instruction, load->getPointerOperand(), false, paths, changes);
      if (auto* store = dyn_cast<StoreInst>(&instruction); store != nullptr && !store->isAtomic())
        mark_use(instruction, store->getPointerOperand(), true, paths, changes);
    }
    for (const auto& change : changes) change();
  }

  // A guard's constructor, or the lock's own function.
  void mark_acquisition(CallBase& call, const LockCalls& lock_calls, MemoryPaths& paths,
                        std::vector<std::function<void()>>& changes) {
    const Function* const callee = call.getCalledFunction();
    if (callee == nullptr || isa<IntrinsicInst>(call)) return;
    const std::string name =
        callee->getName().starts_with("_Z") ? name_of(*callee).qualified : callee->getName().str();
    const std::optional<LockCall> lock = lock_calls.of(call, name);
    if (!lock) return;
    const bool is_alone = lock->kind == LockCall::Kind::kAcquire || lock->kind == LockCall::Kind::kWait;
    if (!is_alone && lock->kind != LockCall::Kind::kAcquireShared) return;
    for (const Value* mutex : lock->mutexes) {
      if (mutex == nullptr) continue;
      const std::string place = place_of(paths.of(mutex));
      if (!locks_.contains(place)) continue;
      changes.emplace_back([this, &call, mutex, place, is_alone] {
        surround(
            call, [](IRBuilder<>&) {},
            [&](IRBuilder<>& builder) { use(builder, const_cast<Value*>(mutex), place, is_alone); });
      });
    }
  }

  void mark_use(Instruction& instruction, Value* pointer, bool writes, MemoryPaths& paths,
                std::vector<std::function<void()>>& changes) {
    const std::string place = place_of(paths.of(pointer));
    const auto guarded = focus_.guarded.find(place);
    if (guarded == focus_.guarded.end()) return;
    const std::string lock = guarded->second;
    changes.emplace_back([this, &instruction, pointer, place, lock, writes] {
      IRBuilder<> builder(&instruction);
      if (Value* address = address_of(builder, pointer, offset_of(place), lock))
        use(builder, address, lock, writes);
    });
  }

  // Functions of the library that get a guarded container, copies of whole objects, and typed methods that
  // need a lock.
  void mark_call(CallBase& call, MemoryPaths& paths, std::vector<std::function<void()>>& changes) {
    if (auto* copy = dyn_cast<MemIntrinsic>(&call)) {
      mark_copy(call, copy->getDest(), true, paths, changes);
      if (auto* transfer = dyn_cast<MemTransferInst>(copy))
        mark_copy(call, transfer->getSource(), false, paths, changes);
      return;
    }
    const Function* const callee = call.getCalledFunction();
    if (callee == nullptr || isa<IntrinsicInst>(call)) return;
    if (is_library_function(*callee) || callee->isDeclaration())
      for (const Use& argument : call.args())
        if (argument->getType()->isPointerTy()) mark_use(call, argument.get(), true, paths, changes);
    const auto needs = focus_.required.find(unique_symbol(*callee));
    if (needs == focus_.required.end() || !focus_.methods.contains(needs->first)) return;
    for (const FocusFile::Required& need : needs->second)
      changes.emplace_back([this, &call, need] {
        IRBuilder<> builder(&call);
        Value* object = need.parameter < call.arg_size() ? call.getArgOperand(need.parameter) : nullptr;
        if (Value* address = address_of(builder, object, 0, need.lock))
          use(builder, address, need.lock, !need.is_shared);
      });
  }

  void mark_copy(CallBase& call, Value* pointer, bool writes, MemoryPaths& paths,
                 std::vector<std::function<void()>>& changes) {
    const std::string class_name = paths.class_of(pointer);
    for (const auto& [place, lock] : focus_.guarded) {
      if (class_name != "?" && !StringRef(place).starts_with(class_name + "::")) continue;
      if (class_name == "?" || class_name.empty()) continue;  // such classes are not proven to begin with
      changes.emplace_back([this, &call, pointer, guard = lock, writes] {
        IRBuilder<> builder(&call);
        if (Value* address = address_of(builder, pointer, 0, guard)) use(builder, address, guard, writes);
      });
    }
  }

  uint64_t offset_of(const std::string& member) const {
    const auto found = offsets_.find(member);
    return found == offsets_.end() ? 0 : found->second;
  }

  // The lock, from a pointer to so many bytes behind the beginning of its object.
  Value* address_of(IRBuilder<>& builder, Value* pointer, uint64_t offset, const std::string& lock) {
    if (types::is_global(lock)) {
      const auto found = globals_.find(lock);
      return found == globals_.end() ? nullptr : found->second;
    }
    if (pointer == nullptr || !pointer->getType()->isPointerTy()) return nullptr;
    const auto distance = static_cast<int64_t>(offset_of(lock)) - static_cast<int64_t>(offset);
    return builder.CreateGEP(builder.getInt8Ty(), pointer, builder.getInt64(static_cast<uint64_t>(distance)));
  }

  void use(IRBuilder<>& builder, Value* lock, const std::string& name, bool writes) {
    auto* const pointer = builder.getPtrTy();
    FunctionCallee callee = module_.getOrInsertFunction(
        writes ? "heddle_write8" : "heddle_read8",
        FunctionType::get(builder.getVoidTy(), {pointer, pointer, pointer}, /*isVarArg=*/false));
    if (auto* function = dyn_cast<Function>(callee.getCallee())) {
      function->setCallingConv(CallingConv::PreserveAll);
      function->addFnAttr(Attribute::NoUnwind);
      function->addFnAttr(Attribute::NonLazyBind);
    }
    const StringRef plain = types::is_global(name) ? StringRef(name).drop_front(2) : StringRef(name);
    CallInst* const call = builder.CreateCall(
        callee, {lock, texts_.get(("guarded_by:" + plain).str()), ConstantPointerNull::get(pointer)});
    call->setCallingConv(CallingConv::PreserveAll);
    call->setDoesNotThrow();
  }

  Module& module_;
  const FocusFile& focus_;
  ClassNames classes_;
  Texts texts_;
  std::map<std::string, uint64_t> offsets_;  // of members
  std::set<std::string> locks_;              // places
  std::map<std::string, GlobalVariable*> globals_;
};

}  // namespace

void insert_stand_ins(Module& module, const FocusFile& focus) {
  if (!focus.guarded.empty()) StandIns(module, focus).run();
}

}  // namespace heddle
