// A report being put together from what checkers found in several inputs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/checker.h"
#include "report/run_report.h"

namespace heddle {

class ReportBuilder {
 public:
  explicit ReportBuilder(std::vector<const CheckerEntry*> checkers);

  // What the checkers found in one input and what they covered, in the order of the constructor's. The same
  // found by two checkers is one finding. The result is in order of occurrence, to be completed and given to
  // add_findings().
  std::vector<Finding> add_input(const InputSummary& input, std::span<const Coverage> covered,
                                 std::span<Findings> found);
  // The same defect in several inputs is one finding, named for the first.
  void add_findings(std::vector<Finding> findings, const std::string& input);

  RunReport finish();

 private:
  // What the checkers could not say, and of which inputs. The same is said once, however many inputs it is
  // true of.
  class Notes {
   public:
    void add(const std::string& note, const std::string& input);
    // With the names of the inputs, where that is not all of them.
    std::string text(std::size_t inputs) const;

   private:
    struct Entry {
      std::string note;
      std::vector<std::string> inputs;  // in the order given
    };
    std::vector<Entry> entries_;
  };

  RunReport report_;
  std::vector<Notes> notes_;  // by checker
  Findings merged_;
};

}  // namespace heddle
