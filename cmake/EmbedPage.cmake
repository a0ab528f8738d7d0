# Writes a C++ source with a page of web/dist in it (src/report/report_page.h reads it). Run by the build:
#   cmake -DPAGE=file -DOUTPUT=file -P EmbedPage.cmake
#
# The page comes in pieces: compilers need not take string literals past 64 KiB.
file(READ "${PAGE}" text)
string(LENGTH "${text}" length)
set(source "// Made from web/dist by cmake/EmbedPage.cmake.\n#include \"report/report_page.h\"\n\nnamespace heddle {\n\n")
string(APPEND source "ReportPage report_page() {\n  std::string page;\n")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 16000 piece)
  string(APPEND source "  page += R\"heddle(${piece})heddle\";\n")
  math(EXPR at "${at} + 16000")
endwhile()
string(APPEND source "  const std::string mark = \"<!--heddle-data-->\";\n  const std::size_t at = page.find(mark);\n")
string(APPEND source "  return {page.substr(0, at), page.substr(at + mark.size())};\n}\n\n}  // namespace heddle\n")
file(WRITE "${OUTPUT}" "${source}")
