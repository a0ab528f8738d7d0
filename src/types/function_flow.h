// What holds before each operation of a function, whatever its callers do: locks that it has surely taken,
// entry locks that it may have given back, pointers that it may have given away, threads it may have left
// running.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "types/call_graph.h"
#include "types/program.h"

namespace heddle::types {

// What a call of the function may do, seen from outside.
struct Effects {
  std::set<unsigned> captures;  // parameters whose pointer it may keep or hand on
  std::set<std::string>
      releases;                  // places of locks that it may give back without having taken them; "?": any
  bool forks = false;            // it may start a thread
  std::set<std::string> leaves;  // threads that may run when it returns: kKeeper, kSomewhere
  bool orders = false;           // it may do what orders threads, or wakes one
  friend bool operator==(const Effects&, const Effects&) = default;
};

inline constexpr std::string_view kShared = "#";  // behind the path of a lock that is held shared

inline constexpr const char* kSomewhere = "?";

// An element that a root is.
struct Element {
  std::string container;  // the path to it
  std::set<std::string>
      one_of;  // it is one of these roots, if the container keeps its elements; empty: of any
  friend bool operator==(const Element&, const Element&) = default;
};

struct State {
  bool is_reached = false;
  std::set<std::string> held;      // on every way here: paths, with kShared where only shared
  std::set<std::string> released;  // on some way here: places of locks that were not held
  std::set<std::string> leaked;    // on some way here: roots
  // Threads that were started on some way here and may still run: the local variable that keeps them,
  // kKeeper, or kSomewhere.
  std::set<std::string> threads;
  // On every way here, since the function last gave a pointer of its own or its caller's away or may have
  // started a thread: by root. So what the container's owner did alone is not forgotten when it is shared.
  std::map<std::string, Element> elements;
  // In a destructor, as it is visited: something that orders threads is done here, or may be later on.
  bool orders_later = false;
  friend bool operator==(const State&, const State&) = default;
};

// The effects of all functions: the least that fits (least fixed point).
class ProgramFlow {
 public:
  ProgramFlow(const Program& program, const CallGraph& graph);

  const Effects& effects(std::size_t function) const { return effects_[function]; }

  // Visits the function's operations that can be reached, each with what holds before it.
  using Visit = std::function<void(const Operation& operation, const State& before)>;
  void visit(std::size_t function, const Visit& visit) const;
  // The same for one block, which lets the state at its end be seen: as the analysis of phases needs it.
  void visit_block(std::size_t function, std::size_t block, const Visit& visit) const;

  // What the operation makes of the state.
  void apply(const Operation& operation, State& state) const;

 private:
  std::vector<State> entry_states(const Function& function) const;
  Effects effects_of(std::size_t function) const;
  bool orders(const Function& function, const Operation& operation) const;
  // From the beginning of each block on.
  std::vector<bool> find_orders_later(const Function& function) const;

  const CallGraph& graph_;
  std::vector<Effects> effects_;
  std::vector<std::vector<State>> states_;       // at the beginning of each function's blocks
  std::vector<std::vector<bool>> orders_later_;  // the same, of destructors
};

}  // namespace heddle::types
