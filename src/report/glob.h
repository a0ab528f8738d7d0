// Patterns with * (any text, also none) and ? (one character), as suppressions use them.
#pragma once

#include <string_view>

namespace heddle {

// Whether the pattern describes the whole text. Takes at most size of pattern × size of text steps, whatever
// the pattern: only the last * is ever reconsidered.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace heddle
