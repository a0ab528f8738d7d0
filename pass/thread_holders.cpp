#include "pass/thread_holders.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/library_functions.h"
#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

constexpr StringRef kThread = "std::thread";
constexpr StringRef kStoppable = "std::jthread";

bool is_thread_class(StringRef name) { return name == kThread || name == kStoppable; }

// The class and the function of a call of the library's that has to do with threads: "std::thread", "join".
struct Called {
  std::string class_name;
  std::string function;
  bool is_constructor() const {
    return function == StringRef(class_name).substr(class_name.rfind("::") + 2).str();
  }
  bool is_destructor() const { return StringRef(function).starts_with("~"); }
};

bool names_threads(StringRef symbol) { return symbol.contains("St6thread") || symbol.contains("St7jthread"); }

Called called(const CallBase& call) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr || !callee->getName().starts_with("_Z") || !is_library_function(*callee)) return {};
  const std::string name = name_of(*callee).qualified;
  const std::size_t colons = name.rfind("::");
  if (colons == std::string::npos) return {"", name};
  return {name.substr(0, colons), name.substr(colons + 2)};
}

// What may be done to a thread by reference without moving or detaching it.
bool is_harmless_to_thread(const Called& called) {
  return is_thread_class(called.class_name) &&
         StringSwitch<bool>(called.function)
             .Cases("join", "joinable", "get_id", "request_stop", "operator=", true)
             .Default(false);
}

bool is_harmless_to_holder(const Called& called) {
  if (called.is_constructor() || called.is_destructor()) return true;
  if (is_thread_class(called.class_name)) return is_harmless_to_thread(called);
  return StringSwitch<bool>(called.function)
      .Cases("emplace_back", "push_back", "reserve", "size", "empty", "clear", true)
      .Cases("begin", "end", "operator[]", "at", "front", "back", true)
      .Default(false);
}

bool is_container_of_threads(const StructType& type, const CallBase& construction) {
  const StringRef name = type.getName();
  return (name.starts_with("class.std::vector") || name.starts_with("struct.std::array")) &&
         names_threads(construction.getCalledFunction()->getName());
}

// References to threads that the library hands out here are joined, looked at, or assigned to.
bool are_references_harmless(const CallBase& call, const Called& what) {
  const bool is_reference = StringSwitch<bool>(what.function)
                                .Cases("operator*", "operator[]", "at", "front", "back", true)
                                .Cases("operator->", "emplace_back", true)
                                .Default(false);
  if (is_reference)
    return all_of(call.uses(), [](const Use& use) {
      const auto* user = dyn_cast<CallBase>(use.getUser());
      return user != nullptr && use.getOperandNo() == 0 && is_harmless_to_thread(called(*user));
    });
  if (what.function == "begin" || what.function == "end")
    return all_of(call.users(), [](const User* user) { return isa<StoreInst>(user); });
  return true;
}

// Iterators over threads go nowhere but forward.
bool is_harmless_to_iterator(const CallBase& call, const Called& what) {
  if (!call.getCalledFunction()->getName().contains("__normal_iterator")) return true;
  return StringSwitch<bool>(what.function)
      .Cases("operator*", "operator->", "operator++", "operator==", "operator!=", true)
      .Default(false);
}

}  // namespace

bool ThreadHolders::is_holder(const AllocaInst& variable) const {
  const auto* type = dyn_cast<StructType>(variable.getAllocatedType());
  if (type == nullptr || !type->hasName()) return false;
  const StringRef name = type->getName();
  bool is_thread = name == "class.std::thread" || name.starts_with("class.std::thread.") ||
                   name == "class.std::jthread" || name.starts_with("class.std::jthread.");
  for (const Use& use : variable.uses()) {
    const auto* const call = dyn_cast<CallBase>(use.getUser());
    if (call == nullptr) return false;
    if (isa<IntrinsicInst>(call) && call->isLifetimeStartOrEnd()) continue;
    if (call->getCalledFunction() == nullptr || use.getOperandNo() != 0) return false;
    const Called what = called(*call);
    if (!is_harmless_to_holder(what)) return false;
    is_thread |= what.is_constructor() && is_container_of_threads(*type, *call);
  }
  return is_thread;
}

// `threads.push_back(std::thread(f))`, `threads[i] = std::thread(f)`.
void ThreadHolders::find_temporaries(const Function& function) {
  for (const Instruction& instruction : instructions(function)) {
    const auto* const variable = dyn_cast<AllocaInst>(&instruction);
    if (variable == nullptr || holders_.contains(variable)) continue;
    const AllocaInst* keeper = nullptr;
    bool is_temporary = true;
    for (const Use& use : variable->uses()) {
      const auto* const call = dyn_cast<CallBase>(use.getUser());
      if (call != nullptr && call->isLifetimeStartOrEnd()) continue;
      const Called what = call == nullptr ? Called() : called(*call);
      if (is_thread_class(what.class_name) && use.getOperandNo() == 0 &&
          (what.is_constructor() || what.is_destructor()))
        continue;
      const bool moves =
          use.getOperandNo() == 1 && (what.function == "push_back" || what.function == "emplace_back" ||
                                      (is_thread_class(what.class_name) && what.function == "operator="));
      const Value* into = moves ? call->getArgOperand(0) : nullptr;
      if (const auto* element = dyn_cast_or_null<CallBase>(into);
          element != nullptr && element->arg_size() > 0)
        into = element->getArgOperand(0);
      const auto* const holder = dyn_cast_or_null<AllocaInst>(into);
      is_temporary &= holder != nullptr && holders_.contains(holder) && keeper == nullptr;
      keeper = holder;
    }
    if (is_temporary && keeper != nullptr) moved_to_[variable] = keeper;
  }
}

namespace {

// The variable that an iterator was set to the beginning or end of, once; null: something else was done.
const AllocaInst* walked_over(const Value* iterator, StringRef which) {
  const auto* const variable = dyn_cast<AllocaInst>(iterator);
  if (variable == nullptr) return nullptr;
  const AllocaInst* holder = nullptr;
  for (const User* user : variable->users()) {
    const auto* part = dyn_cast<GetElementPtrInst>(user);
    if (part == nullptr) continue;
    for (const User* inner : part->users()) {
      const auto* store = dyn_cast<StoreInst>(inner);
      const auto* call = store == nullptr ? nullptr : dyn_cast<CallBase>(store->getValueOperand());
      if (call == nullptr || holder != nullptr || called(*call).function != which) return nullptr;
      holder = dyn_cast<AllocaInst>(call->getArgOperand(0));
      if (holder == nullptr) return nullptr;
    }
  }
  return holder;
}

// Where control goes when nothing is thrown; null: to several places.
const BasicBlock* next_of(const BasicBlock& block) {
  if (const auto* invoke = dyn_cast<InvokeInst>(block.getTerminator())) return invoke->getNormalDest();
  return block.getSingleSuccessor();
}

}  // namespace

// for (std::thread& thread : threads) thread.join();
void ThreadHolders::find_joining_loop(const CallBase& join) {
  const auto* const reference = dyn_cast<CallBase>(join.getArgOperand(0));
  if (reference == nullptr || reference->arg_empty() || called(*reference).function != "operator*") return;
  const Value* const iterator = reference->getArgOperand(0);
  const AllocaInst* const holder = walked_over(iterator, "begin");
  if (holder == nullptr || !holders_.contains(holder)) return;
  for (const User* user : iterator->users()) {
    const auto* const comparison = dyn_cast<CallBase>(user);
    if (comparison == nullptr || comparison->arg_size() != 2 || comparison->getArgOperand(0) != iterator)
      continue;
    const std::string function = called(*comparison).function;
    if ((function != "operator==" && function != "operator!=") ||
        walked_over(comparison->getArgOperand(1), "end") != holder)
      continue;
    const BasicBlock& head = *comparison->getParent();
    if (succ_size(&head) != 2) continue;
    // One way leads straight over the join back to the comparison; the other is taken when all are joined.
    for (unsigned way = 0; way < 2; ++way) {
      const BasicBlock* at = head.getTerminator()->getSuccessor(way);
      const BasicBlock* const other = head.getTerminator()->getSuccessor(1 - way);
      bool joins = false;
      unsigned steps = 0;
      for (unsigned length = 0; at != nullptr && at != &head && length < 16; ++length) {
        for (const Instruction& instruction : *at) {
          joins |= &instruction == &join;
          const auto* call = dyn_cast<CallBase>(&instruction);
          steps += call != nullptr && called(*call).function == "operator++" && !call->arg_empty() &&
                   call->getArgOperand(0) == iterator;
        }
        at = next_of(*at);
      }
      if (at == &head && joins && steps == 1 && other->getSinglePredecessor() == &head)
        ended_before_[other] = holder;
    }
  }
}

ThreadHolders::ThreadHolders(const Function& function) {
  bool is_kept = true;
  for (const Instruction& instruction : instructions(function)) {
    const auto* const call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || call->getCalledFunction() == nullptr) continue;
    if (!names_threads(call->getCalledFunction()->getName())) continue;
    const Called what = called(*call);
    is_kept &= are_references_harmless(*call, what) && is_harmless_to_iterator(*call, what);
  }
  if (!is_kept) return;
  for (const Instruction& instruction : instructions(function))
    if (const auto* variable = dyn_cast<AllocaInst>(&instruction);
        variable != nullptr && is_holder(*variable))
      holders_.insert(variable);
  if (holders_.empty()) return;
  find_temporaries(function);
  for (const Instruction& instruction : instructions(function)) {
    const auto* const call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || call->arg_empty()) continue;
    const Called what = called(*call);
    if (is_thread_class(what.class_name) && what.function == "join") find_joining_loop(*call);
  }
}

const AllocaInst* ThreadHolders::keeper_of(const CallBase& call) const {
  if (call.arg_empty()) return nullptr;
  const auto* const variable = dyn_cast<AllocaInst>(call.getArgOperand(0));
  if (variable == nullptr) return nullptr;
  if (holders_.contains(variable)) return variable;
  return moved_to_.lookup(variable);
}

const AllocaInst* ThreadHolders::ended_by(const CallBase& call) const {
  if (call.arg_empty()) return nullptr;
  const auto* const variable = dyn_cast<AllocaInst>(call.getArgOperand(0));
  if (variable == nullptr || !holders_.contains(variable)) return nullptr;
  const Called what = called(call);
  const bool joins = is_thread_class(what.class_name) && what.function == "join";
  return joins || what.is_destructor() ? variable : nullptr;
}

const AllocaInst* ThreadHolders::ended_before(const BasicBlock& block) const {
  return ended_before_.lookup(&block);
}

}  // namespace heddle
