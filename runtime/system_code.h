// Code of the system's libraries: the C library, the C++ library and the dynamic linker.
#pragma once

namespace heddle::runtime {

bool is_system_code(const void* pc);
bool is_code_of_cxx_library(const void* pc);

// Where in the program's own code that was called which led to a call of ours at `pc`: std::thread::join()
// calls pthread_join() from inside the C++ library. `pc` itself when it is no system code, or nobody knows.
// Takes microseconds: for what takes longer itself.
const void* outside_system_code(const void* pc);

}  // namespace heddle::runtime
