// Locks that are surely held when a function is called (S4 §6.1.1, locks-def-held), and the places that
// accesses go to.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "types/call_graph.h"
#include "types/function_flow.h"
#include "types/owners.h"
#include "types/program.h"
#include "types/sharing.h"

namespace heddle::types {

// Places by the name that all ways to the memory share. A part of an object whose address is given to others
// is from then on a place of its own class: they do not know what it is a part of.
class Places {
 public:
  Places(const Program& program, const CallGraph& graph);

  std::string normal(std::string place) const;
  std::string of(std::string_view path) const;
  // Scalars and containers whose address somebody has: accesses to them may go unseen. Where it happens.
  const std::map<std::string, std::string>& taken() const { return taken_; }
  // The members of a class, down to those without parts, from its own and as parts of it: the steps there
  // from an object, and the places where nothing is known of what the object is a part of.
  std::vector<std::string> members_of(const std::string& class_name) const;
  std::vector<std::string> all_of(const std::string& class_name) const;

 private:
  void add(const std::string& path, const std::string& site);
  void add_members(const std::string& class_name, const std::string& prefix, unsigned depth,
                   std::vector<std::string>& members) const;

  const Program& program_;
  std::map<std::string, std::string> taken_;  // by place
};

// One access of the program to a place.
struct Access {
  std::size_t function = 0;
  const Operation* operation = nullptr;
  std::string path;  // ends with the place
  std::string place;
  bool writes = false;
  bool is_exempt = false;  // its object is unshared there, or the program has one thread
};

class HeldLocks {
 public:
  HeldLocks(const Program& program, const CallGraph& graph, const ProgramFlow& flow, const Sharing& sharing,
            const Places& places, const Types& types);

  // Locks that the function needs and does not take itself, named from its parameters.
  const std::set<std::string>& needed(std::size_t function) const { return needed_[function]; }
  // Those of them that are surely held at every call: the greatest fixed point.
  const std::set<std::string>& surely_held(std::size_t function) const { return held_[function]; }

  // With these locks held at the function's entry.
  bool is_held(const std::set<std::string>& at_entry, const State& before, const std::string& lock,
               bool alone) const;
  bool is_held(std::size_t function, const State& before, const std::string& lock, bool alone) const {
    return is_held(held_[function], before, lock, alone);
  }
  // Whether the call grants what the target needs: it is held, or nobody else can have what it guards.
  bool is_granted(std::size_t function, const State& before, const Operation& call, std::size_t target,
                  const std::string& lock) const {
    return is_granted(held_[function], function, before, call, target, lock);
  }
  bool is_granted(const std::set<std::string>& at_entry, std::size_t function, const State& before,
                  const Operation& call, std::size_t target, const std::string& lock) const;

  // Visits all accesses, whole objects member by member, each with what holds before it.
  using Visit = std::function<void(const Access& access, const State& before)>;
  void visit_accesses(std::size_t function, const Visit& visit) const;
  void visit_accesses(std::size_t function, const Operation& operation, const State& before,
                      const Visit& visit) const;

  // Pointers that keep their value once others can see them: only through such ones a path to a lock leads to
  // the same lock each time.
  bool is_final(const std::string& place) const { return !changing_.contains(place); }

 private:
  void find_changing();
  void find_needed();
  void narrow();
  bool is_usable(const std::string& lock) const;
  bool is_held_of_all(const State& before, const std::string& lock, bool alone) const;

  const CallGraph& graph_;
  const ProgramFlow& flow_;
  const Sharing& sharing_;
  const Places& places_;
  const Types& types_;
  std::set<std::string> changing_;      // places
  bool may_change_containers_ = false;  // code without summary gets objects of the program
  std::vector<std::set<std::string>> needed_;
  std::vector<std::set<std::string>> held_;
};

}  // namespace heddle::types
