#include "checkers/tso.h"

#include "checkers/store_buffer/checker.h"

namespace heddle {

std::unique_ptr<Checker> make_tso_checker(const CheckerContext& context) {
  return store_buffer::make_checker(context, kTsoChecker.name, kTsoRules.front(),
                                    store_buffer::Question::kTransactions);
}

}  // namespace heddle
