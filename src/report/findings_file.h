// Findings read back from a file that `--format json` has written.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "report/run_report.h"

namespace heddle {

// A report from a file. What it says is taken as it stands; pages of rules are not in such files.
class FindingsFile {
 public:
  // "-" is standard input. Of a file that was cut off, what is before the cut is read, and of one in a newer
  // format what can be understood; `incomplete` tells so. Throws InputError with the place in the file for
  // anything else that is no whole report, and where nothing is left to show. Fields it does not know are
  // passed over.
  static FindingsFile load(const std::string& path);
  // The same for text; `name` stands for the file in messages.
  static FindingsFile parse(std::string_view text, const std::string& name);

  RunReport report;
  std::string
      incomplete;  // why `report` may not be all that was written, a clause with the file; empty: it is

  // The elements of both keep their addresses when the file is moved.
  std::map<std::string, Rule> rules;  // that the findings point to, by id
  std::set<std::string> texts;        // that rules and findings have views of
};

}  // namespace heddle
