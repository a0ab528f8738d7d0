// What the predictive checkers' silence does not cover, in a sentence.
#pragma once

#include <string>

#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

std::string run_note(const Transactions& run);

}  // namespace heddle::predictive
