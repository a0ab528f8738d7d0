#include "pass/function_summary.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "pass/first_members.h"
#include "pass/library_functions.h"
#include "pass/lock_calls.h"
#include "pass/memory_paths.h"
#include "pass/parameter_classes.h"
#include "pass/same_elements.h"
#include "pass/source_names.h"
#include "pass/thread_holders.h"
#include "types/path.h"
#include "types/program.h"

namespace heddle {

using namespace llvm;

namespace {

class Summarizer {
 public:
  Summarizer(const Function& function, const ClassNames& classes,
             const SmallPtrSetImpl<const Function*>& reaching)
      : function_(function),
        classes_(classes),
        reaching_(reaching),
        returns_member_(!path_returned(function, classes).empty() && !function.hasAddressTaken()),
        paths_(function, classes, returns_member_),
        locks_(function),
        threads_(function),
        same_(function) {}

  FunctionSummary run() {
    FunctionSummary summary;
    DenseMap<const BasicBlock*, unsigned> numbers;
    for (const BasicBlock& block : function_) {
      const auto number = static_cast<unsigned>(numbers.size());
      numbers[&block] = number;
    }
    // Twice: what a root is called is only known when all that leads there has been seen.
    for (int round = 0; round < 2; ++round) {
      summary.blocks.assign(numbers.size(), {});
      for (const BasicBlock& block : function_) {
        SummaryBlock& into = summary.blocks[numbers[&block]];
        operations_ = &into.operations;
        if (const AllocaInst* ended = threads_.ended_before(block))
          emit("join", *block.begin(), paths_.of(ended));
        for (const Instruction& instruction : block) {
          add(instruction);
          if (const std::string root = paths_.root_at(instruction);
              !root.empty() && !isa<AllocaInst>(instruction))
            define(instruction, root);
          if (const auto* call = dyn_cast<CallBase>(&instruction); call != nullptr) add_element(*call);
        }
        for (const BasicBlock* next : successors(&block)) into.next.push_back(numbers[next]);
      }
    }
    return summary;
  }

 private:
  SummaryOperation& emit(const char* kind, const Instruction& at, std::string path) {
    return operations_->emplace_back(SummaryOperation{kind, std::move(path), "", {}, &at});
  }

  // The value is made before it is used, also by what the same instruction is told to do with it.
  void define(const Instruction& at, const std::string& root) {
    auto place = operations_->end();
    while (place != operations_->begin() && std::prev(place)->instruction == &at && !isa<CallBase>(at))
      --place;
    operations_->insert(place, SummaryOperation{"define", root, "", {}, &at});
  }

  // Which of a container's elements an object of the program is.
  void add_element(const CallBase& call) {
    const std::string root = paths_.root_at(call);
    if (root.empty() || !same_.is_element(call)) return;
    const std::string container = paths_.of(call.getArgOperand(0));
    if (types::place_of(container).empty()) return;
    SummaryOperation& operation = emit("element", call, root);
    operation.callee = container;
    for (const CallBase* earlier : same_.earlier(call)) {
      const std::string other = paths_.root_at(*earlier);
      if (other.empty() || paths_.of(earlier->getArgOperand(0)) != container) {
        operation.arguments.clear();
        return;
      }
      operation.arguments.push_back(other);
    }
  }

  bool is_private(const Value* pointer) {
    const Value* const object = getUnderlyingObject(pointer);
    if (!isa<AllocaInst>(object)) return false;
    const auto [known, is_new] = private_.try_emplace(object, false);
    if (is_new) known->second = !PointerMayBeCaptured(object, true, true);
    return private_[object];
  }

  void access(const Instruction& at, const Value* pointer, bool writes) {
    if (is_private(pointer)) return;
    const std::string path = paths_.of(pointer);
    if (const std::string whole = class_in_one_piece(at, pointer); !whole.empty() && !path.empty())
      emit(writes ? "write-whole" : "read-whole", at, path).callee = whole;
    else if (!path.empty())
      emit(writes ? "write" : "read", at, path);
    // A pointer to a member says by how many bytes the member lies in its object, and not which it is.
    if (const auto* element = dyn_cast<GEPOperator>(pointer);
        element != nullptr && element->getSourceElementType()->isIntegerTy(8))
      if (const std::string whole = paths_.class_of(element->getPointerOperand());
          !whole.empty() && whole != "?")
        emit("pass", at, whole).callee = types::kMemberPointer;
  }

  // The class of an object that is passed by value as one number or two, which hold all of its members: they
  // are accessed where the object begins, or as elements of a type without name. Empty: it is a member.
  std::string class_in_one_piece(const Instruction& at, const Value* pointer) {
    const Value* object = pointer;
    for (const auto* step = dyn_cast<GEPOperator>(object); step != nullptr;
         step = dyn_cast<GEPOperator>(object)) {
      const auto* const type = dyn_cast<StructType>(step->getSourceElementType());
      if (type == nullptr || type->hasName()) break;
      object = step->getPointerOperand();
    }
    Type* const accessed = isa<LoadInst>(at) ? at.getType() : at.getOperand(0)->getType();
    const std::string whole = paths_.class_of(object);
    if (whole.empty() || whole == "?" || accessed->isPointerTy()) return "";
    const DataLayout& layout = function_.getParent()->getDataLayout();
    const bool is_all = layout.getTypeSizeInBits(accessed).getKnownMinValue() >= classes_.size_of(whole);
    return object != pointer || is_all ? whole : "";
  }

  void leak(const Instruction& at, const Value* value) {
    if (!value->getType()->isPointerTy() || paths_.is_followed(value)) return;
    const std::string path = paths_.of(value);
    if (!path.empty() && path != "?") emit("leak", at, path);
  }

  void add(const Instruction& instruction) {
    if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return;
    give_first_members(instruction);
    if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
      if (load->isAtomic())
        emit("atomic", instruction, paths_.of(load->getPointerOperand()));
      else
        access(instruction, load->getPointerOperand(), false);
      return;
    }
    if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
      leak(instruction, store->getValueOperand());
      if (store->isAtomic())
        emit("atomic", instruction, paths_.of(store->getPointerOperand()));
      else
        access(instruction, store->getPointerOperand(), true);
      return;
    }
    if (instruction.isAtomic() && !isa<FenceInst>(instruction)) {
      emit("atomic", instruction, paths_.of(instruction.getOperand(0)));
      for (const Use& operand : drop_begin(instruction.operands())) leak(instruction, operand.get());
      return;
    }
    if (const auto* call = dyn_cast<CallBase>(&instruction)) return add_call(*call);
    if (isa<GetElementPtrInst>(instruction)) {
      // An element that is named by itself is still a part of where it lies.
      if (paths_.of(&instruction).starts_with("v")) leak_root(instruction, instruction.getOperand(0));
      return;
    }
    if (isa<PHINode>(instruction) && paths_.root_at(instruction).empty() &&
        instruction.getType()->isPointerTy() && paths_.of(&instruction).find('/') != std::string::npos)
      return;
    // Callers see what a getter returns, and what becomes of it is theirs to tell.
    if (isa<ReturnInst>(instruction) && returns_member_) return;
    if (isa<ICmpInst>(instruction) || isa<BranchInst>(instruction) || isa<SwitchInst>(instruction)) return;
    for (const Use& operand : instruction.operands()) leak(instruction, operand.get());
  }

  void leak_root(const Instruction& at, const Value* value) {
    const std::string path = paths_.of(value);
    if (path.starts_with("l") || path.starts_with("n") || path.starts_with("p") || path.starts_with("g:"))
      leak(at, value);
  }

  // A pointer to a global object is one to what the object begins with (pass/first_members.h).
  void give_first_members(const Instruction& at) {
    for (const Use& operand : at.operands()) {
      const FirstMembers members = first_members(operand, classes_, function_.getParent()->getDataLayout());
      if (members.steps.empty() && members.classes.empty()) continue;
      const std::string path = paths_.of(operand.get());
      for (const std::string& steps : members.steps) emit("address", at, path + steps);
      if (members.classes.empty()) continue;
      emit("address", at, path);
      for (const std::string& name : members.classes)
        if (!name.empty()) emit("pass", at, name).callee = types::kSomePart;
    }
  }

  // Numbers or pointers: no bytes that an object could be made of.
  static bool is_of_scalars(const Value* pointer) {
    const auto* element = dyn_cast<GEPOperator>(pointer);
    if (element == nullptr) return false;
    const Type* type = element->getResultElementType();
    return !type->isIntegerTy(8) && type->isSingleValueType();
  }

  static bool is_of_library_class(const Value* pointer) {
    const auto* element = dyn_cast<GEPOperator>(pointer);
    const auto* type = element == nullptr ? nullptr : dyn_cast<StructType>(element->getResultElementType());
    return type != nullptr && ClassNames::is_library(*type);
  }

  // What is copied has a class if either end tells it.
  std::string class_of_copied(const Value* end, const Value* other) {
    std::string known = paths_.class_of(end);
    if (known != "?" || other == nullptr) return known;
    const std::string there = paths_.class_of(other);
    return there.empty() && !is_of_scalars(other) ? "?" : there;
  }

  void add_copy(const MemIntrinsic& copy) {
    const auto* transfer = dyn_cast<MemTransferInst>(&copy);
    const auto touch = [&](const Value* pointer, const Value* other, bool writes) {
      if (is_private(pointer)) return;
      const std::string path = paths_.of(pointer);
      if (path.empty()) return;
      const bool is_own = (path[0] == 'l' || path[0] == 'n') && !types::is_through_owner(path);
      const bool is_member = path.find('/') != std::string::npos && !ends_behind_pointer(path);
      const std::string whole = class_of_copied(pointer, other);
      if (whole.empty() || (whole == "?" && (is_own || is_member))) {
        emit(writes ? "write" : "read", copy, path);
        if (is_member && is_of_library_class(pointer))  // copied as bytes: its elements lie within itself
          emit(writes ? "write" : "read", copy, path + "/[]");
      } else if (whole == "?") {
        emit(writes ? "write" : "read", copy, path);
        emit("pass", copy, "?").callee = writes ? types::kCopyTo : types::kCopyFrom;
      } else {
        emit(writes ? "write-whole" : "read-whole", copy, path).callee = whole;
      }
    };
    const Value* const source = transfer == nullptr ? nullptr : transfer->getSource();
    touch(copy.getDest(), source, true);
    if (source != nullptr) touch(source, copy.getDest(), false);
  }

  void add_call(const CallBase& call) {
    if (call.isInlineAsm()) {
      for (const Use& argument : call.args()) leak(call, argument.get());
      return;
    }
    if (const auto* copy = dyn_cast<MemIntrinsic>(&call)) return add_copy(*copy);
    if (isa<IntrinsicInst>(call)) return;
    const Function* const callee = call.getCalledFunction();
    if (callee == nullptr) return call_through_pointer(call);
    const StringRef symbol = callee->getName();
    if (symbol.starts_with("heddle_")) return;
    const std::string name = symbol.starts_with("_Z") ? name_of(*callee).qualified : symbol.str();
    if (const StringRef how = ordering_of(name); !how.empty()) emit("order", call, how.str());
    if (const std::optional<LockCall> lock = locks_.of(call, name)) {
      add_lock(call, *lock);
      // A lock that is made is written to, like other memory; what its memory stands for later
      // (pass/stand_in.h) must not be mistaken for that.
      if (is_constructor(name) && !lock->mutexes.empty() && lock->mutexes.front() == call.getArgOperand(0))
        emit("write", call, paths_.of(call.getArgOperand(0))).is_of_library = true;
      // With a predicate it calls back.
      if (lock->kind == LockCall::Kind::kWait && reaching_.contains(callee)) call_function(call, *callee);
      return;
    }
    if (is_library_function(*callee)) {
      call_library(call, *callee, name);
      if (const AllocaInst* ended = threads_.ended_by(call)) emit("join", call, paths_.of(ended));
      return;
    }
    if (callee->isDeclaration() && is_harmless(*callee)) {
      for (const Use& argument : call.args())
        if (argument->getType()->isPointerTy() && !isa<Function>(argument.get()->stripPointerCasts()))
          give_to_harmless(call, argument, symbol);
      if (starts_thread(symbol)) emit("fork", call, "-");
      return;
    }
    if (callee->isDeclaration()) pass_objects(call, *callee);
    call_function(call, *callee);
  }

  // The C library reads or fills what it is given, and keeps nothing.
  void give_to_harmless(const CallBase& call, const Use& argument, StringRef symbol) {
    const bool ends_life = symbol.starts_with("_Zd") || symbol == "free";
    if (ends_life || symbol.starts_with("__cxa_") || symbol.starts_with("_Unwind_")) return;
    const std::string path = paths_.of(argument.get());
    if (!path.empty() && !is_private(argument.get())) {
      const bool reads = call.paramHasAttr(call.getArgOperandNo(&argument), Attribute::ReadOnly);
      if (path.find('/') != std::string::npos || path.starts_with("g:"))
        emit(reads ? "read" : "write", call, path).is_of_library = true;
      const Type* const type = type_in_global(argument.get());
      const bool may_be_object = type == nullptr || type->isStructTy();
      const std::string whole = may_be_object ? paths_.class_of(argument.get()) : "";
      if (!whole.empty() && whole != "?")
        emit(reads ? "read-whole" : "write-whole", call, path).callee = whole;
    }
    if (starts_thread(symbol)) leak(call, argument.get());
  }

  void add_lock(const CallBase& call, const LockCall& lock) {
    const char* kind = nullptr;
    switch (lock.kind) {
      case LockCall::Kind::kAcquire: kind = "acquire"; break;
      case LockCall::Kind::kAcquireShared: kind = "share"; break;
      case LockCall::Kind::kRelease: kind = "release"; break;
      case LockCall::Kind::kDrop: kind = "drop"; break;
      case LockCall::Kind::kWait: kind = "wait"; break;
      case LockCall::Kind::kNone: return;
    }
    for (const Value* mutex : lock.mutexes) {
      std::string path = mutex == nullptr ? "?" : paths_.of(mutex);
      if (path.empty()) path = "?";
      emit(kind, call, std::move(path)).mutex = mutex;
    }
    if (lock.mutexes.empty()) emit(kind, call, "?");
  }

  void call_library(const CallBase& call, const Function& callee, StringRef name) {
    if (passes_through(name)) return;
    if (starts_thread(callee.getName())) emit("fork", call, "-");
    if (is_atomic_function(name)) {
      // To make one is a write like others (C++20 [atomics.types.operations]).
      emit(is_constructor(name) ? "write" : "atomic", call,
           call.arg_empty() ? "?" : paths_.of(call.getArgOperand(0)));
      for (unsigned i = 1; i < call.arg_size(); ++i) leak(call, call.getArgOperand(i));
      return;
    }
    const bool is_member =
        !callee.getName().starts_with("_ZSt") && call.arg_size() > 0 && !callee.arg_empty();
    const unsigned object = call.hasStructRetAttr() ? 1 : 0;
    if (may_move_elements(callee.getName()) && !moves_functions(callee)) leak_moved(call);
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const Value* const argument = call.getArgOperand(i);
      if (!argument->getType()->isPointerTy() || isa<Constant>(argument)) {
        if (!argument->getType()->isPointerTy() || !isa<GlobalVariable>(argument)) continue;
      }
      const std::string path = paths_.of(argument);
      if (path.empty()) continue;
      const bool is_object = is_member && i == object;
      if (is_object) {
        const bool reads = only_looks(name) || callee.getName().starts_with("_ZNK");
        if (!is_private(argument)) emit(reads ? "read" : "write", call, path).is_of_library = true;
        if (ends_behind_pointer(path) || is_synchronization(name)) continue;
        const bool is_named = path.find('/') != std::string::npos || path.starts_with("g:");
        if (!follows_result(call, name, path)) {
          if (is_named && !is_object_of_program(call))
            emit("address", call, path + "/[]");
          else if (is_named)  // whose members are known by its class; the object around it stays where it is
            emit("address", call,
                 path.starts_with("g:") ? path + "/[]" : "?" + path.substr(path.find('/')) + "/[]");
          else
            leak(call, argument);
        }
        if (!is_named) {
          if ((!keeps_elements(name) && may_return_elements(call)) ||
              (is_of_owner(name) && (takes_pointer(call, i) || gives_unfollowed(call, name))))
            leak(call, argument);
          continue;
        }
        if (!only_looks(name)) {
          emit(reads ? "read" : "write", call, path + "/[]").is_of_library = true;
          if (!keeps_elements(name)) emit("address", call, path + "/[]");
        }
        continue;
      }
      if (!is_private(argument)) {
        const std::string whole = paths_.class_of(argument);
        if (whole.empty() || whole == "?")
          emit("write", call, path).is_of_library = true;
        else
          emit("write-whole", call, path).callee = whole;
      }
      const bool is_made_owner = i == 0 && call.hasStructRetAttr() && makes_owner(callee.getName());
      if (!keeps_nothing(name) && !is_made_owner && !(takes_value(callee) && moves_functions(callee)))
        leak(call, argument);
    }
    if (!reaching_.contains(&callee)) return;
    call_function(call, callee);
    if (const AllocaInst* keeper = threads_.keeper_of(call)) operations_->back().path = paths_.of(keeper);
    // What is said above is all that happens to the object and to what was given along.
    for (std::string& argument : operations_->back().arguments)
      if (argument.find('/') != std::string::npos || keeps_nothing(name)) argument = "?";
  }

  // Elements that go from one container to another take with them whoever has a way to them: neither local
  // container is this function's alone any more, and those of a member that gets such elements are anybody's.
  void leak_moved(const CallBase& call) {
    bool has_ways = false;
    for (const Use& argument : call.args()) {
      const std::string path = argument->getType()->isPointerTy() ? paths_.of(argument.get()) : "";
      if (path.empty() || path == "?" || path.find('/') != std::string::npos || path.starts_with("g:"))
        continue;
      const auto* const variable = dyn_cast<AllocaInst>(argument.get());
      if (variable != nullptr && !may_have_elements(*variable->getAllocatedType())) continue;
      leak(call, argument.get());
      has_ways |= paths_.has_elements_of(path);
    }
    if (!has_ways) return;
    for (const Use& argument : call.args()) {
      const std::string path = argument->getType()->isPointerTy() ? paths_.of(argument.get()) : "";
      if (path.starts_with("g:") || (path.find('/') != std::string::npos && !ends_behind_pointer(path)))
        emit("address", call, path + "/[]");
    }
  }

  // What a closure has captured is used by nobody else but itself.
  static bool may_have_elements(const Type& type) {
    const auto* const object = dyn_cast<StructType>(&type);
    return object != nullptr && !(object->hasName() && object->getName().starts_with("class.anon"));
  }

  static bool ends_behind_pointer(StringRef path) { return path.ends_with("/*") || path.ends_with("/^"); }

  // Whether the object is given a pointer that others may know as well.
  static bool takes_pointer(const CallBase& call, unsigned object) {
    return any_of(call.args(), [&](const Use& argument) {
      return call.getArgOperandNo(&argument) != object && argument->getType()->isPointerTy() &&
             !isa<ConstantPointerNull>(argument.get());
    });
  }

  // Whether what an owner has gets out by another way than `*`, `->` and `get`.
  static bool gives_unfollowed(const CallBase& call, StringRef name) {
    return step_of_result(name) != "*" && may_return_elements(call);
  }

  // Iterators and references; what is only a number leads nowhere.
  static bool may_return_elements(const CallBase& call) {
    return call.hasStructRetAttr() || call.getType()->isStructTy() ||
           (call.getType()->isPointerTy() && !call.use_empty());
  }

  // Whether all that becomes of elements the call gives a reference or an iterator to is seen.
  bool follows_result(const CallBase& call, StringRef name, const std::string& container) {
    if (step_of_result(name) == "[]") return paths_.of(&call) == container + "/[]";
    return !gives_iterator(name);
  }

  bool is_object_of_program(const CallBase& call) {
    const std::string name = paths_.class_of(&call);
    return !name.empty() && name != "?";
  }

  std::vector<std::string> arguments_of(const CallBase& call) {
    std::vector<std::string> arguments;
    for (const Use& argument : call.args()) {
      std::string path = argument->getType()->isPointerTy() ? paths_.of(argument.get()) : std::string();
      arguments.push_back(path.empty() ? "?" : path);
    }
    return arguments;
  }

  void call_function(const CallBase& call, const Function& callee) {
    SummaryOperation& operation = emit("call", call, "");
    operation.callee = unique_symbol(callee);
    operation.arguments = arguments_of(call);
  }

  void call_through_pointer(const CallBase& call) {
    for (const Use& argument : call.args()) {
      if (!argument->getType()->isPointerTy() || is_private(argument.get())) continue;
      const std::string name = paths_.class_of(argument.get());
      if (!name.empty()) emit("pass", call, name).callee = "*" + signature_of(*call.getFunctionType());
    }
    SummaryOperation& operation = emit("call", call, signature_of(*call.getFunctionType()));
    operation.arguments = arguments_of(call);
  }

  void pass_objects(const CallBase& call, const Function& callee) {
    const std::vector<std::string> declared =
        callee.getName().starts_with("_Z") ? parameter_classes(callee) : std::vector<std::string>();
    const std::string scope = scope_of(callee);
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const Value* const argument = call.getArgOperand(i);
      if (!argument->getType()->isPointerTy() || paths_.of(argument).empty()) continue;
      std::string name = paths_.class_of(argument);
      if (name == "?" && declared.size() == call.arg_size()) name = declared[i];
      if (name == "?" && declared.size() + 1 == call.arg_size())  // a member function, perhaps
        name = i > 0 ? declared[i - 1] : scope.empty() ? "?" : scope;
      if (is_of_library(StringRef(name))) name.clear();
      if (!name.empty()) emit("pass", call, name).callee = unique_symbol(callee);
    }
  }

  const Function& function_;
  const ClassNames& classes_;
  const SmallPtrSetImpl<const Function*>& reaching_;
  bool returns_member_;
  MemoryPaths paths_;
  LockCalls locks_;
  ThreadHolders threads_;
  SameElements same_;
  DenseMap<const Value*, bool> private_;
  std::vector<SummaryOperation>* operations_ = nullptr;
};

}  // namespace

FunctionSummary summarize(const Function& function, const ClassNames& classes,
                          const SmallPtrSetImpl<const Function*>& reaching) {
  return Summarizer(function, classes, reaching).run();
}

std::string unique_symbol(const Function& function) {
  if (!function.hasLocalLinkage()) return function.getName().str();
  return (function.getName() + "@" + function.getParent()->getSourceFileName()).str();
}

std::string signature_of(const FunctionType& type) {
  std::string text;
  raw_string_ostream out(text);
  type.getReturnType()->print(out);
  out << '(';
  for (unsigned i = 0; i < type.getNumParams(); ++i) {
    if (i > 0) out << ',';
    type.getParamType(i)->print(out);
  }
  out << (type.isVarArg() ? ",...)" : ")");
  return text;
}

void promote_variables(Function& function) {
  if (function.isDeclaration()) return;
  DominatorTree dominators(function);
  for (;;) {
    std::vector<AllocaInst*> variables;
    for (Instruction& instruction : function.getEntryBlock())
      if (auto* variable = dyn_cast<AllocaInst>(&instruction);
          variable != nullptr && isAllocaPromotable(variable))
        variables.push_back(variable);
    if (variables.empty()) return;
    PromoteMemToReg(variables, dominators);
  }
}

}  // namespace heddle
