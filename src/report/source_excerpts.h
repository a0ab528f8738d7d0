// The lines of source files that findings speak of, for reports that are read elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/finding.h"

namespace heddle {

// A source file as far as it is shown.
struct SourceExcerpt {
  std::map<uint32_t, std::string> lines;  // by number, from 1; printable, tabs expanded
  std::string missing;                    // why there are none, a clause ("not found"); empty: they are there
};

class SourceExcerpts {
 public:
  // Relative names are looked for in each of these directories, in turn.
  explicit SourceExcerpts(std::vector<std::string> directories) : directories_(std::move(directories)) {}

  // The lines around those that the finding's frames name.
  void add(const Finding& finding);

  // By the name that frames give the file. Reads the files. At most some megabytes in all; what is beyond is
  // missing.
  std::map<std::string, SourceExcerpt> read() const;

 private:
  void add(const std::vector<Step>& steps);
  std::string find(const std::string& file) const;
  SourceExcerpt read(const std::string& file, const std::set<uint32_t>& wanted, std::size_t& room) const;

  std::vector<std::string> directories_;
  std::map<std::string, std::set<uint32_t>> wanted_;  // lines, by file
};

}  // namespace heddle
