// The function that a function of ours stands in front of.
#pragma once

#include <dlfcn.h>

#include "runtime/message.h"

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
