#include "pass/lock_calls.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

using Kind = LockCall::Kind;

constexpr StringRef kAdopts = "12adopt_lock_t";

// Members of the classes that are locks.
std::optional<Kind> member_of_mutex(StringRef name) {
  const std::size_t colons = name.rfind("::");
  if (colons == StringRef::npos) return std::nullopt;
  const bool is_mutex =
      StringSwitch<bool>(name.take_front(colons))
          .Cases("std::mutex", "std::recursive_mutex", "std::timed_mutex", true)
          .Cases("std::recursive_timed_mutex", "std::shared_mutex", "std::shared_timed_mutex", true)
          .Cases("heddle::Mutex", "heddle::SharedMutex", true)
          .Default(false);
  if (!is_mutex) return std::nullopt;
  return StringSwitch<std::optional<Kind>>(name.drop_front(colons + 2))
      .Case("lock", Kind::kAcquire)
      .Case("lock_shared", Kind::kAcquireShared)
      .Cases("unlock", "unlock_shared", Kind::kRelease)
      .Default(Kind::kNone);
}

std::optional<Kind> function_of_c(StringRef name) {
  return StringSwitch<std::optional<Kind>>(name)
      .Cases("pthread_mutex_lock", "pthread_rwlock_wrlock", "pthread_spin_lock", "mtx_lock", Kind::kAcquire)
      .Case("pthread_rwlock_rdlock", Kind::kAcquireShared)
      .Cases("pthread_mutex_unlock", "pthread_rwlock_unlock", "pthread_spin_unlock", "mtx_unlock",
             Kind::kRelease)
      .Cases("pthread_mutex_trylock", "pthread_rwlock_trywrlock", "pthread_rwlock_tryrdlock", Kind::kNone)
      .Cases("pthread_mutex_init", "pthread_mutex_destroy", "pthread_rwlock_init", "pthread_rwlock_destroy",
             Kind::kNone)
      .Default(std::nullopt);
}

// "std::unique_lock" of its constructor, destructor or another member.
StringRef guard_class(StringRef name) {
  for (const StringRef guard : {"std::lock_guard", "std::unique_lock", "std::scoped_lock", "std::shared_lock",
                                "heddle::MutexLock", "heddle::SharedMutexLock"})
    if (name.starts_with(guard) && name.drop_front(guard.size()).starts_with("::")) return guard;
  return "";
}

bool waits_for_condition(StringRef name) {
  return (name.consume_front("std::condition_variable::") ||
          name.consume_front("std::_V2::condition_variable_any::")) &&
         (name == "wait" || name == "wait_for" || name == "wait_until" ||
          name.starts_with("__wait_until_impl"));
}

}  // namespace

LockCalls::LockCalls(const Function& function) {
  for (const Instruction& instruction : instructions(function))
    if (const auto* call = dyn_cast<CallBase>(&instruction))
      if (const Function* callee = call->getCalledFunction();
          callee != nullptr && callee->getName().starts_with("_Z"))
        if (StringRef symbol = callee->getName(); symbol.contains("lock") || symbol.contains("Lock"))
          learn(*call, name_of(*callee).qualified);
}

void LockCalls::learn(const CallBase& call, StringRef name) {
  const StringRef of = guard_class(name);
  if (of.empty()) return;
  const StringRef member = name.drop_front(of.size() + 2);
  if (of.substr(of.rfind("::") + 2) != member) return;  // no constructor
  const StringRef symbol = call.getCalledFunction()->getName();
  Guard& guard = guards_[call.getArgOperand(0)->stripPointerCasts()];
  guard.is_ambiguous |= !guard.mutexes.empty() || symbol.contains("EOS") || call.arg_size() < 2;
  guard.is_shared = of == "std::shared_lock" || of == "heddle::SharedMutexLock";
  guard.is_adopted = symbol.contains(kAdopts);
  for (unsigned i = 1; i < call.arg_size(); ++i)
    if (call.getArgOperand(i)->getType()->isPointerTy()) guard.mutexes.push_back(call.getArgOperand(i));
}

std::optional<LockCall> LockCalls::of(const CallBase& call, StringRef name) const {
  if (call.arg_empty()) return std::nullopt;
  const Value* const first = call.getArgOperand(0);
  if (const std::optional<Kind> kind = function_of_c(name)) return LockCall{*kind, {first}};
  if (name == "pthread_cond_wait" || name == "pthread_cond_timedwait")
    return LockCall{Kind::kWait, {call.getArgOperand(1)}};
  if (const std::optional<Kind> kind = member_of_mutex(name)) return LockCall{*kind, {first}};
  if (name == "std::lock") {
    LockCall all{Kind::kAcquire, {}};
    for (const Use& argument : call.args()) all.mutexes.push_back(argument.get());
    return all;
  }
  const auto guard_at = [&](const Value* value) -> const Guard* {
    const auto found = guards_.find(value->stripPointerCasts());
    return found == guards_.end() || found->second.is_ambiguous ? nullptr : &found->second;
  };
  if (waits_for_condition(name)) {
    const Guard* const guard = call.arg_size() > 1 ? guard_at(call.getArgOperand(1)) : nullptr;
    return LockCall{Kind::kWait, guard == nullptr ? std::vector<const Value*>() : guard->mutexes};
  }
  const StringRef of = guard_class(name);
  if (of.empty()) return std::nullopt;
  const Guard* const guard = guard_at(first);
  // A guard of unknown origin, or one that was moved, may give back anything.
  if (guard == nullptr) return LockCall{Kind::kRelease, {nullptr}};
  const StringRef member = name.drop_front(of.size() + 2);
  const Kind takes = guard->is_shared ? Kind::kAcquireShared : Kind::kAcquire;
  if (member == of.substr(of.rfind("::") + 2)) {
    const StringRef symbol = call.getCalledFunction()->getName();
    const bool is_unsure = symbol.contains("12defer_lock_t") || symbol.contains("13try_to_lock_t") ||
                           symbol.contains(kAdopts) || symbol.contains("chrono");
    return LockCall{is_unsure ? Kind::kNone : takes, guard->mutexes};
  }
  if (member.starts_with("~") || member == "unlock")
    return LockCall{guard->is_adopted ? Kind::kRelease : Kind::kDrop, guard->mutexes};
  if (member == "lock") return LockCall{takes, guard->mutexes};
  if (member == "owns_lock" || member == "operator bool" || member == "mutex" ||
      member.starts_with("try_lock"))
    return LockCall{Kind::kNone, guard->mutexes};
  return LockCall{Kind::kRelease, {nullptr}};  // released, moved, swapped: it is not known any more
}

}  // namespace heddle
