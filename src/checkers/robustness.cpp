#include "checkers/robustness.h"

#include "checkers/store_buffer/checker.h"

namespace heddle {

std::unique_ptr<Checker> make_robustness_checker(const CheckerContext& context) {
  return store_buffer::make_checker(context, kRobustnessChecker.name, kRobustnessRules.front(),
                                    store_buffer::Question::kOperations);
}

}  // namespace heddle
