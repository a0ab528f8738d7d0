#include "checkers/determinism.h"

#include "checkers/serializability_checker.h"

namespace heddle {

std::unique_ptr<Checker> make_determinism_checker(const CheckerContext& context) {
  return make_serializability_checker(context, kDeterminismChecker.name, true);
}

}  // namespace heddle
