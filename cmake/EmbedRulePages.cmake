# Writes a C++ source with the pages of docs/rules in it (src/cli/rule_pages.h reads it). Run by the build:
#   cmake -DPAGES=directory -DOUTPUT=file -P EmbedRulePages.cmake
file(GLOB pages "${PAGES}/*.md")
list(SORT pages)
set(source "// Made from docs/rules by cmake/EmbedRulePages.cmake.\n#include \"cli/rule_pages.h\"\n\n")
string(APPEND source "namespace heddle {\n\nstd::string_view rule_page([[maybe_unused]] std::string_view id) {\n")
foreach(page IN LISTS pages)
  get_filename_component(id "${page}" NAME_WE)
  file(READ "${page}" text)
  string(APPEND source "  if (id == \"${id}\") return R\"heddle(${text})heddle\";\n")
endforeach()
string(APPEND source "  return {};\n}\n\n}  // namespace heddle\n")
file(WRITE "${OUTPUT}" "${source}")
