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
  // "-" is standard input. Throws InputError with the place in the file for anything but a whole report in a
  // format that this Heddle knows. Fields it does not know are passed over.
  static FindingsFile load(const std::string& path);
  // The same for text; `name` stands for the file in messages.
  static FindingsFile parse(std::string_view text, const std::string& name);

  RunReport report;

  // The elements of both keep their addresses when the file is moved.
  std::map<std::string, Rule> rules;  // that the findings point to, by id
  std::set<std::string> texts;        // that rules and findings have views of
};

}  // namespace heddle
