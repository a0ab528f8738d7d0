// Which calls take and give back locks: the standard library's mutexes and guards, pthread's, Heddle's own.
#pragma once

#include <optional>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace heddle {

struct LockCall {
  enum class Kind {
    kAcquire,
    kAcquireShared,
    kRelease,
    kDrop,  // what a guard holds, if it holds it
    kWait,  // for a condition: given back and taken again
    kNone,  // it is about locks, and takes none for sure
  };
  Kind kind = Kind::kNone;
  std::vector<const llvm::Value*> mutexes;
};

class LockCalls {
 public:
  // Learns which mutex each guard in the function is for.
  explicit LockCalls(const llvm::Function& function);

  // Nothing: the call is not about locks. `name` is the callee's qualified one.
  std::optional<LockCall> of(const llvm::CallBase& call, llvm::StringRef name) const;

 private:
  struct Guard {
    std::vector<const llvm::Value*> mutexes;
    bool is_shared = false;
    bool is_adopted = false;  // somebody else has taken the lock
    bool is_ambiguous = false;
  };
  void learn(const llvm::CallBase& call, llvm::StringRef name);

  llvm::DenseMap<const llvm::Value*, Guard> guards_;
};

}  // namespace heddle
