// The small language of S3 §3 (Fig. 4) and an interpreter for it: in parallel by a random schedule, which
// writes what it does as a trace, and sequentially as the nondeterministic sequential specification, with
// given choices.
//
// A program is made from a list of bytes, so that rapidcheck can shrink it. Values are small numbers.
// Children of a cobegin begin with a copy of their parent's locals; what they do to it is their own. cobegin
// may have phases, with a barrier between: the specification runs all bodies of a phase before the next one's
// (S3 §6.2).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace heddle::oracle {

inline constexpr unsigned kGlobals = 3;
inline constexpr unsigned kLocals = 4;

struct Statement;
using Body = std::vector<Statement>;

struct Statement {
  enum Kind {
    kConstant,     // a = value
    kCompute,      // a = b op c
    kRead,         // a = g
    kWrite,        // g = a
    kCompareSwap,  // a = CAS(g, b, c)
    kFetchAdd,     // a = g; g = g + a
    kCount,        // g = g + value, and nobody knows what it was
    kLock,         // a = a pointer to the object, if one is left, and bodies[0] while this is kept
    kKeep,         // the same, and it is put to those in the store
    kGiveUp,       // a = one of the store, which is dropped, if there is one
    kExpired,      // a = none is left
    kUseCount,     // a = how many there are
    kIf,           // if (a) bodies[0] else bodies[1]
    kLoop,         // while (a), at most `value` times, bodies[0]
    kMaybe,        // if (true*) bodies[0]
    kAtomic,       // atomic bodies[0]
    kCobegin,      // bodies[child + phase * children] in parallel
  };
  Kind kind = kConstant;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned g = 0;
  int value = 0;
  unsigned children = 0;
  std::vector<Body> bodies;
};

struct Program {
  Body body;
  std::array<bool, kGlobals> focus{};
};

// What a program is made of.
struct LanguageShape {
  unsigned globals = kGlobals;
  unsigned children = 3;
  unsigned deepest = 3;
  unsigned length = 5;  // of a body, at most
  bool phases = true;
  bool patterns = true;  // S3's own: retries, redundant and irrelevant work
  bool pointers = false;
};

Program make_program(const std::vector<uint8_t>& bytes, const LanguageShape& shape);
std::string to_text(const Program& program);

using Globals = std::array<int, kGlobals>;

struct ParallelRun {
  std::string trace;
  Globals globals{};
};
// `schedule`: who acts next, byte by byte; when it is used up, whoever comes first. true* is true.
ParallelRun run_in_parallel(const Program& program, const std::vector<uint8_t>& schedule);

// The specification: tasks of one cobegin in the order of `order` (names as in the trace; of a later phase
// with " (part n)"), and the if (true*) in `skipped` (by the sites of their nd events) left out.
Globals run_sequentially(const Program& program, const std::map<std::string, std::size_t>& order,
                         const std::set<std::string>& skipped);

// Whether some sequential execution ends with these values in the focus variables: all orders, all choices of
// true*. Gives up, with `true`, after so many executions.
bool some_sequential_run_ends_with(const Program& program, const Globals& wanted, std::size_t most);

}  // namespace heddle::oracle
