#include "pass/function_summary.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "pass/lock_calls.h"
#include "pass/memory_paths.h"
#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

bool starts_thread(StringRef symbol) {
  return symbol == "pthread_create" || symbol == "thrd_create" ||
         symbol.starts_with("_ZNSt6thread15_M_start_thread");
}

bool is_atomic_function(StringRef name) {
  return name.starts_with("std::atomic::") || name.starts_with("std::__atomic_base::") ||
         name.starts_with("std::atomic_flag::") || name.starts_with("std::__atomic_float::") ||
         name.starts_with("std::__atomic_ref::") || name.starts_with("std::atomic_");
}

// Members of containers that only look, and give no way into the elements but the reference they return.
bool only_looks(StringRef name) {
  const StringRef function = name.substr(name.rfind("::") + 2);
  return StringSwitch<bool>(function)
      .Cases("size", "empty", "length", "capacity", "max_size", "operator[]", "at", "front", "back", true)
      .Cases("top", "operator*", "operator->", "get", "operator bool", "has_value", "use_count", true)
      .Default(false);
}

// Members that change the container and let nobody keep a way into its elements.
bool keeps_elements(StringRef name) {
  const std::size_t colons = name.rfind("::");
  const StringRef function = name.substr(colons + 2);
  const StringRef of = name.take_front(colons);
  if (function == of.substr(of.rfind("::") + 2) || function.starts_with("~")) return true;
  return only_looks(name) ||
         StringSwitch<bool>(function)
             .Cases("push_back", "pop_back", "emplace_back", "clear", "resize", "reserve", true)
             .Cases("push", "pop", "emplace", "count", "contains", "append", "operator+=", true)
             .Cases("operator=", "reset", "push_front", "pop_front", "shrink_to_fit", true)
             .Default(false);
}

// Functions that use what they are given by reference and forget it.
bool keeps_nothing(StringRef name) {
  const StringRef function = name.substr(name.rfind("::") == StringRef::npos ? 0 : name.rfind("::") + 2);
  return StringSwitch<bool>(function)
      .Cases("max", "min", "swap", "exchange", "abs", "clamp", "copy", "fill", "sort", "find", true)
      .Cases("operator<<", "operator>>", "operator==", "operator<", "operator!=", "operator+", "getline",
             true)
      .Cases("to_string", "stoi", "accumulate", "count", "append", "insert", "erase", "assign", true)
      .Cases("push_back", "emplace_back", "push", "emplace", "push_front", "resize", "operator[]", "at", true)
      .Cases("operator=", "operator+=", "compare", "substr", "distance", "equal", "reverse", "iota", true)
      .Default(false);
}

// The classes that a C++ function takes pointers or references to, by its mangled name.
std::vector<std::string> parameter_classes(const Function& callee) {
  std::vector<std::string> classes;
  std::string text = demangle(callee.getName());
  const std::size_t begin = text.find('(');
  if (begin == std::string::npos) return classes;
  int depth = 0;
  std::string part;
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || c == ')')) {
      classes.push_back(part);
      part.clear();
      if (c == ')') break;
      continue;
    }
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    part += c;
  }
  for (std::string& name : classes) {
    const bool is_pointer = name.find('*') != std::string::npos || name.find('&') != std::string::npos;
    std::string plain = without_arguments(name);
    for (const StringRef word : {" const", "const ", "*", "&", " volatile"})
      for (std::size_t at = plain.find(word); at != std::string::npos; at = plain.find(word))
        plain.erase(at, word.size());
    name = !is_pointer ? "" : StringRef(plain).trim() == "void" ? "?" : StringRef(plain).trim().str();
    if (is_of_library(StringRef(name))) name.clear();
  }
  return classes;
}

class Summarizer {
 public:
  Summarizer(const Function& function, const ClassNames& classes,
             const SmallPtrSetImpl<const Function*>& reaching)
      : function_(function),
        reaching_(reaching),
        returns_member_(!path_returned(function, classes).empty() && !function.hasAddressTaken()),
        paths_(function, classes),
        locks_(function) {}

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
        for (const Instruction& instruction : block) {
          add(instruction);
          if (const std::string root = paths_.root_at(instruction);
              !root.empty() && !isa<AllocaInst>(instruction))
            define(instruction, root);
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
    if (!path.empty()) emit(writes ? "write" : "read", at, path);
  }

  void leak(const Instruction& at, const Value* value) {
    if (!value->getType()->isPointerTy()) return;
    const std::string path = paths_.of(value);
    if (!path.empty() && path != "?") emit("leak", at, path);
  }

  void add(const Instruction& instruction) {
    if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return;
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
    if (path.starts_with("l") || path.starts_with("n") || path.starts_with("p")) leak(at, value);
  }

  void add_copy(const MemIntrinsic& copy) {
    const auto* transfer = dyn_cast<MemTransferInst>(&copy);
    std::string whole = class_of_copy(copy.getDest());
    if (whole.empty() || whole == "?") {
      const std::string source = transfer == nullptr ? "" : class_of_copy(transfer->getSource());
      if (!source.empty()) whole = source;
    }
    const auto touch = [&](const Value* pointer, bool writes) {
      if (is_private(pointer)) return;
      const std::string path = paths_.of(pointer);
      if (path.empty()) return;
      const bool is_own = path[0] == 'l' || path[0] == 'n';
      const bool is_member = path.find('/') != std::string::npos && !path.ends_with("/*");
      if (whole.empty() || (whole == "?" && (is_own || is_member))) {
        emit(writes ? "write" : "read", copy, path);
      } else if (whole == "?") {
        // Bytes of anything: as if somebody without summary had them.
        emit("write", copy, path);
        emit("pass", copy, "?").callee = "a copy of memory of unknown type";
      } else {
        emit(writes ? "write-whole" : "read-whole", copy, path).callee = whole;
      }
    };
    touch(copy.getDest(), true);
    if (transfer != nullptr) touch(transfer->getSource(), false);
  }

  std::string class_of_copy(const Value* pointer) { return paths_.class_of(pointer); }

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
    if (const std::optional<LockCall> lock = locks_.of(call, name)) {
      add_lock(call, *lock);
      // With a predicate it calls back.
      if (lock->kind == LockCall::Kind::kWait && reaching_.contains(callee)) call_function(call, *callee);
      return;
    }
    if (is_library_function(*callee)) return call_library(call, *callee, name);
    if (callee->isDeclaration() && is_harmless(*callee)) {
      for (const Use& argument : call.args()) {
        if (!argument->getType()->isPointerTy()) continue;
        if (isa<Function>(argument.get()->stripPointerCasts()) || symbol.starts_with("_Zd") ||
            symbol == "free")
          continue;
        const std::string path = paths_.of(argument.get());
        if (!path.empty() && !is_private(argument.get()) && path.find('/') != std::string::npos)
          emit(call.paramHasAttr(call.getArgOperandNo(&argument), Attribute::ReadOnly) ? "read" : "write",
               call, path)
              .is_of_library = true;
        if (starts_thread(symbol)) leak(call, argument.get());
      }
      if (starts_thread(symbol)) emit("fork", call, "-");
      return;
    }
    if (callee->isDeclaration()) pass_objects(call, *callee);
    call_function(call, *callee);
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
      emit("atomic", call, call.arg_empty() ? "?" : paths_.of(call.getArgOperand(0)));
      for (unsigned i = 1; i < call.arg_size(); ++i) leak(call, call.getArgOperand(i));
      return;
    }
    const bool is_member =
        !callee.getName().starts_with("_ZSt") && call.arg_size() > 0 && !callee.arg_empty();
    const unsigned object = call.hasStructRetAttr() ? 1 : 0;
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
        if (path.find('/') == std::string::npos && !path.starts_with("g:")) continue;
        if (path.ends_with("/*")) continue;
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
      if (!keeps_nothing(name)) leak(call, argument);
    }
    if (!reaching_.contains(&callee)) return;
    call_function(call, callee);
    // What is said above is all that happens to the object and to what was given along.
    for (std::string& argument : operations_->back().arguments)
      if (argument.find('/') != std::string::npos || keeps_nothing(name)) argument = "?";
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
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const Value* const argument = call.getArgOperand(i);
      if (!argument->getType()->isPointerTy() || paths_.of(argument).empty()) continue;
      std::string name = paths_.class_of(argument);
      if (name == "?" && declared.size() == call.arg_size()) name = declared[i];
      if (name == "?" && declared.size() + 1 == call.arg_size())  // a member function, perhaps
        name = i == 0 ? class_of_member(callee) : declared[i - 1];
      if (!name.empty()) emit("pass", call, name).callee = unique_symbol(callee);
    }
  }

  static std::string class_of_member(const Function& callee) {
    const std::string name = name_of(callee).qualified;
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? "?" : name.substr(0, colons);
  }

  const Function& function_;
  const SmallPtrSetImpl<const Function*>& reaching_;
  bool returns_member_;
  MemoryPaths paths_;
  LockCalls locks_;
  DenseMap<const Value*, bool> private_;
  std::vector<SummaryOperation>* operations_ = nullptr;
};

}  // namespace

FunctionSummary summarize(const Function& function, const ClassNames& classes,
                          const SmallPtrSetImpl<const Function*>& reaching) {
  return Summarizer(function, classes, reaching).run();
}

FunctionSummary summarize_library(const Function& function,
                                  const SmallPtrSetImpl<const Function*>& reaching) {
  FunctionSummary summary;
  SummaryBlock& block = summary.blocks.emplace_back();
  SmallPtrSet<const void*, 8> seen;
  for (const Instruction& instruction : instructions(function)) {
    const auto* call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || call->isInlineAsm() || isa<IntrinsicInst>(call)) continue;
    SummaryOperation operation{"call", "", "", {}, &instruction};
    for (const Use& argument : call->args()) {
      const auto* given = dyn_cast<Argument>(argument.get());
      operation.arguments.push_back(given == nullptr ? "?" : "p" + std::to_string(given->getArgNo()));
    }
    const Function* const callee = call->getCalledFunction();
    if (callee == nullptr) {
      if (!seen.insert(call->getFunctionType()).second) continue;
      operation.path = signature_of(*call->getFunctionType());
    } else {
      if (!seen.insert(callee).second) continue;
      if (starts_thread(callee->getName())) {
        block.operations.push_back({"fork", "-", "", {}, &instruction});
        continue;
      }
      const bool matters = is_library_function(*callee) ? reaching.contains(callee)
                                                        : !(callee->isDeclaration() && is_harmless(*callee));
      if (!matters) continue;
      operation.callee = unique_symbol(*callee);
    }
    block.operations.push_back(std::move(operation));
  }
  // It may keep what it is given: the library's containers are there for it.
  for (const Argument& argument : function.args())
    if (argument.getType()->isPointerTy())
      block.operations.insert(
          block.operations.begin(),
          {"leak", "p" + std::to_string(argument.getArgNo()), "", {}, &*instructions(function).begin()});
  return summary;
}

void find_reaching(const Module& module, SmallPtrSetImpl<const Function*>& reaching) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Function& function : module) {
      if (function.isDeclaration() || reaching.contains(&function) || !is_library_function(function))
        continue;
      const bool reaches = any_of(instructions(function), [&](const Instruction& instruction) {
        const auto* call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr || call->isInlineAsm() || isa<IntrinsicInst>(call)) return false;
        const Function* const callee = call->getCalledFunction();
        if (callee == nullptr || starts_thread(callee->getName())) return true;
        if (is_library_function(*callee)) return reaching.contains(callee);
        return !(callee->isDeclaration() && is_harmless(*callee));
      });
      if (!reaches) continue;
      reaching.insert(&function);
      has_changed = true;
    }
  }
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

bool is_library_function(const Function& function) {
  const StringRef symbol = function.getName();
  if (symbol.contains("__gthread_") || symbol == "__clang_call_terminate") return true;
  if (!symbol.starts_with("_Z")) return false;
  // A template's name begins with what it returns.
  const std::string name = name_of(function).qualified;
  return is_of_library(StringRef(name)) || StringRef(name).contains(" std::");
}

bool is_harmless(const Function& function) {
  const StringRef symbol = function.getName();
  if (symbol.starts_with("__cxa_") || symbol.starts_with("_Unwind_") || symbol.starts_with("__gxx_") ||
      symbol.starts_with("__clang_call_terminate") || symbol.starts_with("pthread_") ||
      symbol.starts_with("sem_") || symbol.starts_with("_Znw") || symbol.starts_with("_Zna") ||
      symbol.starts_with("_Zdl") || symbol.starts_with("_Zda") || symbol.starts_with("__sanitizer_") ||
      symbol.starts_with("__asan_"))
    return true;
  const bool is_known =
      StringSwitch<bool>(symbol)
          .Cases("clock_gettime", "nanosleep", "usleep", "sleep", "sched_yield", "gettimeofday", true)
          .Cases("rand", "srand", "rand_r", "random", "srandom", "drand48", "exit", "_exit", true)
          .Cases("__assert_fail", "__errno_location", "sysconf", "getpid", "time", "clock", true)
          .Cases("thrd_create", "thrd_join", "thrd_yield", "mtx_init", "atexit", "quick_exit", true)
          .Cases("getopt", "getopt_long", "isatty", "abort", "syscall", "strerror", "localtime_r", true)
          .Cases("socket", "bind", "listen", "accept", "connect", "shutdown", "setsockopt", true)
          .Cases("close", "poll", "select", "pipe", "fcntl", "ioctl", "kill", "signal", true)
          .Cases("posix_memalign", "aligned_alloc", "secure_getenv", "gethostname", "qsort", true)
          .Default(false);
  if (is_known) return true;
  static const TargetLibraryInfoImpl known{Triple("x86_64-pc-linux-gnu")};
  LibFunc which;
  return known.getLibFunc(symbol, which);
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
