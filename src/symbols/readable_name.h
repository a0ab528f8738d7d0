// Names of functions, variables and types as people write them: "Account::withdraw" for
// _ZN7Account8withdrawEi.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// The C++ name that a linker symbol stands for, with everything the compiler knows about it; a symbol of C is
// returned without what the compiler appended (".cold", ".constprop.0").
std::string demangled(const std::string& symbol);

// A type's name without the template arguments of std:: types and without unnamed and inline namespaces:
// "Queue<std::vector>" for "Queue<std::vector<int, std::allocator<int> > >".
std::string readable_type(std::string_view type);

// The same for a demangled function: also without return type, parameters and qualifiers, and a lambda's call
// operator is called "main::{lambda#1}". A variable that is local to a function is written alike.
std::string readable_function(std::string_view demangled);

// The same for a demangled variable; "vtable for Account" stays what it is.
std::string readable_variable(std::string_view demangled);

}  // namespace heddle
