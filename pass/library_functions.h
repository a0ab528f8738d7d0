// What functions of the standard library and of the C library do to what they are given. Names are qualified
// (pass/source_names.h).
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>

namespace heddle {

// Whether the function is the standard library's, by its name.
bool is_library_function(const llvm::Function& function);
// Whether a function that the program only declares does nothing to the program's own objects but what its
// arguments say, and keeps none of them: the C library's, the C++ runtime's.
bool is_harmless(const llvm::Function& function);

bool starts_thread(llvm::StringRef symbol);
bool is_atomic_function(llvm::StringRef name);
// `name` is qualified.
bool is_constructor(llvm::StringRef name);
// How a function orders threads that is neither a lock's nor an atomic's: types::kOrdersAfter and its kin;
// empty: it does not.
llvm::StringRef ordering_of(llvm::StringRef name);

// Members of what threads wait at: it keeps no elements.
bool is_synchronization(llvm::StringRef name);
// Functions that take over what a container has, by their symbol: parameters that are rvalues are an O there.
bool may_move_elements(llvm::StringRef symbol);
// Members of containers that return an iterator or a pointer to elements.
bool gives_iterator(llvm::StringRef name);
// Members of containers that only look, and give no way into the elements but the reference they return.
bool only_looks(llvm::StringRef name);
// Members that change the container and let nobody keep a way into its elements.
bool keeps_elements(llvm::StringRef name);
// Constructors of objects that get the value of what they are given, moved or copied, and forget where that
// was: from one of the same class, of an optional from its element, of a std::function from anything.
bool takes_value(const llvm::Function& function);
// Functions that take a std::function or make one. It has no elements that anybody could have a way to.
bool moves_functions(const llvm::Function& function);
// Functions that use what they are given by reference and forget it.
bool keeps_nothing(llvm::StringRef name);

// Members of std::unique_ptr.
bool is_of_owner(llvm::StringRef name);
// Makes an object that nobody but the std::unique_ptr it returns knows, unless its constructor tells: by its
// symbol.
bool makes_owner(llvm::StringRef symbol);

}  // namespace heddle
