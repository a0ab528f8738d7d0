// The function that a function of ours stands in front of.
#pragma once

#include <dlfcn.h>

#include "runtime/message.h"

// Where in the program a function of ours was called.
#define HEDDLE_HERE __builtin_return_address(0)

#define HEDDLE_INTERPOSE extern "C" __attribute__((visibility("default")))

// REAL(pthread_create)(…) calls the one that the program would have called without Heddle.
#define REAL(name)                                                            \
  ([] {                                                                       \
    static decltype(::name)* found = nullptr;                                 \
    if (found == nullptr) {                                                   \
      found = reinterpret_cast<decltype(::name)*>(::dlsym(RTLD_NEXT, #name)); \
      if (found == nullptr) ::heddle::runtime::fail("there is no " #name);    \
    }                                                                         \
    return found;                                                             \
  }())
