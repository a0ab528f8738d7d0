// Who calls whom. A call through a pointer may reach every function whose address is used and whose signature
// fits; a function that the summaries do not have is *missing*, and may do anything to what it is given.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "types/program.h"

namespace heddle::types {

class CallGraph {
 public:
  explicit CallGraph(const Program& program);

  // In some fixed order, by which analyses keep what they know of them.
  const std::vector<const Function*>& functions() const { return functions_; }
  std::size_t number_of(const Function& function) const { return numbers_.at(&function); }

  // Numbers of the functions that a kCall may reach; none: only missing ones.
  const std::vector<std::size_t>& targets(const Operation& call) const;

  // Numbers of the functions that may call it.
  const std::vector<std::size_t>& callers(std::size_t function) const { return callers_[function]; }

  // Whether somebody outside the summaries calls it, or nobody seems to.
  bool is_called_from_outside(std::size_t function) const { return from_outside_[function]; }

  // Symbols of functions that are called and have no summary; "(through a pointer)" stands for calls that fit
  // none.
  const std::set<std::string>& missing() const { return missing_; }

 private:
  std::vector<const Function*> functions_;
  std::map<const Function*, std::size_t> numbers_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_symbol_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_signature_;  // those whose address is used
  std::vector<std::vector<std::size_t>> callers_;
  std::vector<bool> from_outside_;
  std::set<std::string> missing_;
};

}  // namespace heddle::types
