// What a program says of the focus files that its objects were built with (pass/focus_pass.cpp).
#pragma once

#include <string>

namespace heddle {

// Whether any of its objects was built with --heddle-focus.
bool is_focused(const std::string& program);

// A focus file is true of a whole program that was built with it. What is wrong if some objects were built
// with another one, or with none; empty: nothing.
std::string mixed_focus(const std::string& file, const std::string& name);
// The same of a process: the program and the shared libraries that it has loaded so far.
std::string mixed_focus_of_process(int pid, const std::string& name);
// Throws InputError if anything is.
void refuse_mixed_focus(const std::string& program);

}  // namespace heddle
