// The page of the HTML report as web/ has built it, part of the tool.
#pragma once

#include <string>

namespace heddle {

// The page before the place where its data goes, and after it.
struct ReportPage {
  std::string before;
  std::string after;
};
ReportPage report_page();

}  // namespace heddle
