// The suppression reader on any bytes, and what it read on a finding.
#include "report/suppressions.h"

#include "base/error.h"
#include "target.h"

namespace {

constexpr heddle::Rule kRace{"HD1001", "data-race", "data race", "Two accesses without order"};
constexpr const heddle::Rule* kRules[] = {&kRace};
constexpr std::chrono::year_month_day kToday{std::chrono::year(2026), std::chrono::month(6),
                                             std::chrono::day(15)};

heddle::Finding sample_finding() {
  heddle::Finding finding;
  finding.rule = &kRace;
  for (const char* operation : {"r(balance)", "w(balance)", "acq(mu)"}) {
    heddle::Step step;
    step.operation = operation;
    step.frames = {"src/bank.cpp:29:5 in Account::withdraw", "src/main.cpp:7 in main"};
    step.block = "Account::withdraw";
    finding.steps.push_back(step);
  }
  return finding;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const heddle::Finding finding = sample_finding();
  try {
    heddle::Suppressions suppressions(kRules, kToday);
    suppressions.parse(std::string_view(reinterpret_cast<const char*>(data), size), "input");
    suppressions.find(finding);
    const heddle::RuleHelp checked[] = {{&kRace, ""}};
    suppressions.notices(checked);
  } catch (const heddle::InputError&) {
    // the right answer to a bad input
  }
  return 0;
}

namespace heddle::fuzz {

std::vector<std::string> seeds() {
  return {
      "[[suppress]]\nrule = \"HD1001\"\nreason = \"known\"\n",
      "[[suppress]]\nrule = \"data-race\"\nframes = [\"bank.cpp:*\", \"?ain\"]\nvariable = \"bal*\"\n"
      "object = \"*\"\nreason = \"known\"\nexpires = 2027-01-31\n",
      generate_suppressions({sample_finding()}),
      "suppress = [{rule = 'HD1001', reason = '''a\nb''', frames = ['*a*b*c*d*e*']}]\n",
  };
}

std::vector<std::string> tokens() {
  return {"[[suppress]]\n",
          "[",
          "]",
          "{",
          "}",
          "\"",
          "'",
          "'''",
          "=",
          "*",
          "?",
          "\\u00e9",
          "\\",
          "\n",
          "#",
          "rule",
          "frames",
          "variable",
          "object",
          "reason",
          "expires",
          "HD1001",
          "true",
          "2027-01-31",
          "1979-02-30",
          "07:32:00",
          "0x7f",
          "1e400",
          "inf",
          "\xff",
          "\xC3\xA9",
          ".",
          ","};
}

void repair(std::string&, uint64_t) {}

}  // namespace heddle::fuzz
