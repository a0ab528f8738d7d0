// The pages of docs/rules, built into the tool so that `heddle explain` needs no files.
#pragma once

#include <string_view>

namespace heddle {

// The Markdown page of a rule ("HD1001"); empty when there is none.
std::string_view rule_page(std::string_view id);

}  // namespace heddle
