// The default specification: the public member functions of monitor classes should be atomic. A monitor class
// owns a mutex or an atomic as a direct member. Debug information tells.
#pragma once

#include <llvm/IR/Function.h>

namespace heddle {

// Whether it is a public function of a monitor class that works on an object that exists: no constructor, no
// destructor, no static function, no assignment of a whole object.
bool is_public_in_monitor_class(llvm::Function& function);

// The size of the objects that it constructs, if it is a constructor of a monitor class or of a lock; else 0.
uint64_t constructed_size(llvm::Function& function);

}  // namespace heddle
