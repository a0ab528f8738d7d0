// Which objects only one thread can have at a given operation, and when the whole program has one thread.
//
// An object is *unshared* where its function has made it, or got it unshared from every caller, and has given
// no pointer to it away; in its constructor and in a function that returns it, as long as that gives none
// away; and, if destructors are trusted to come after everybody else's last use, in its destructor. An
// operation is *alone* when no thread can run that was started before it. Both by greatest fixed points over
// the call graph.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "types/call_graph.h"
#include "types/function_flow.h"

namespace heddle::types {

class Sharing {
 public:
  Sharing(const CallGraph& graph, const ProgramFlow& flow, bool trusts_destructors = true);

  bool is_unshared(std::size_t function, std::string_view path, const State& before) const;
  bool is_alone(std::size_t function, const State& before) const {
    return starts_alone_[function] && before.threads.empty();
  }
  // A call made alone of a function that starts no thread: what happens in there bothers nobody.
  bool is_harmless(std::size_t function, const State& before, std::size_t target) const {
    return is_alone(function, before) && !flow_.effects(target).forks;
  }

 private:
  void narrow(std::size_t function, const std::function<void(std::size_t)>& again);

  const CallGraph& graph_;
  const ProgramFlow& flow_;
  bool trusts_destructors_;
  std::vector<std::set<unsigned>> shared_;  // parameters that some caller may give a shared object for
  std::vector<bool> starts_alone_;
};

}  // namespace heddle::types
