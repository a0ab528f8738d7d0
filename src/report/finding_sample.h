// Which of very many findings a page shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heddle {

// Indices of at most `most` of the items with these kinds, ascending. Every kind has its share: one of each
// in turn, from the first on, as long as there is room.
std::vector<std::size_t> sample(const std::vector<std::string>& kinds, std::size_t most);

}  // namespace heddle
