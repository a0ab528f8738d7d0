// Prints what the compiler plug-in tells the runtime, instead of the runtime's own functions.
#pragma once

#include <cstdio>

#include "runtime/blocks.h"

inline const void* expected_object = nullptr;

extern "C" inline __attribute__((used)) void heddle_begin_block(const HeddleBlock* block,
                                                                const void* object) {
  static const char* const kinds[] = {"atomic", "deterministic"};
  static const char* const origins[] = {"default", "annotation", "scope", "spec"};
  std::printf("begin %s %s %s%s\n", block->name, kinds[block->kind], origins[block->origin],
              object == nullptr           ? ""
              : object == expected_object ? " of the object"
                                          : " of another object");
}
extern "C" inline __attribute__((used)) void heddle_end_block(const HeddleBlock* block) {
  std::printf("end %s\n", block->name);
}

extern "C" inline __attribute__((used)) void heddle_begin_object(const void*, uint64_t) {}

inline const char* operation_name(HeddleLibraryOperation operation) {
  static const char* const names[] = {"barrier arrive",    "barrier wait",      "barrier arrive and wait",
                                      "latch count down",  "latch wait",        "latch arrive and wait",
                                      "semaphore release", "semaphore acquire", "reference count",
                                      "future set",        "future wait",       "barrier completion",
                                      "latch try",         "semaphore try",     "future try",
                                      "condition mutex",   "condition wait",    "condition notify",
                                      "pointer lock",      "pointer read",      "pointer update",
                                      "pointer wait",      "disposal",          "reference copy",
                                      "reference drop",    "reference lock",    "reference look",
                                      "reference ended",   "reference again"};
  return names[operation];
}
inline int library_depth = 0;
extern "C" inline __attribute__((used)) void heddle_enter_library(HeddleLibraryOperation operation,
                                                                  const void*) {
  std::printf("%*s%s {\n", library_depth++ * 2, "", operation_name(operation));
}
extern "C" inline __attribute__((used)) void heddle_leave_library(HeddleLibraryOperation operation,
                                                                  const void*, uint32_t succeeded) {
  std::printf("%*s} %s%s\n", --library_depth * 2, "", operation_name(operation),
              succeeded != 0 ? "" : ", orders nothing");
}
extern "C" inline __attribute__((used)) void heddle_set_at_thread_end(const void*) {
  std::puts("set at thread end");
}
extern "C" inline __attribute__((used)) void heddle_begin_condition_loop() { std::puts("condition loop"); }
