#include "checkers/atomicity.h"

#include "checkers/serializability_checker.h"

namespace heddle {

std::unique_ptr<Checker> make_atomicity_checker(const CheckerContext& context) {
  return make_serializability_checker(context, kAtomicityChecker.name, false);
}

}  // namespace heddle
