#include "types/call_graph.h"

namespace heddle::types {

CallGraph::CallGraph(const Program& program) {
  for (const auto& [symbol, function] : program.functions) {
    const std::size_t number = functions_.size();
    functions_.push_back(&function);
    numbers_[&function] = number;
    by_symbol_[symbol] = {number};
    if (function.is_taken) by_signature_[function.signature].push_back(number);
  }
  callers_.resize(functions_.size());
  for (const Function* function : functions_)
    for (const Block& block : function->blocks)
      for (const Operation& operation : block.operations) {
        if (operation.kind != OperationKind::kCall) continue;
        const std::vector<std::size_t>& reached = targets(operation);
        for (const std::size_t target : reached) {
          std::vector<std::size_t>& callers = callers_[target];
          const std::size_t caller = numbers_.at(function);
          if (callers.empty() || callers.back() != caller) callers.push_back(caller);
        }
        if (reached.empty())
          missing_.insert(operation.callee.empty() ? "(through a pointer)" : operation.callee);
      }
  for (std::size_t i = 0; i < functions_.size(); ++i)
    from_outside_.push_back(functions_[i]->is_entry || callers_[i].empty());
}

const std::vector<std::size_t>& CallGraph::targets(const Operation& call) const {
  static const std::vector<std::size_t> kNone;
  const auto& table = call.callee.empty() ? by_signature_ : by_symbol_;
  const auto found = table.find(call.callee.empty() ? call.path : call.callee);
  return found == table.end() ? kNone : found->second;
}

}  // namespace heddle::types
