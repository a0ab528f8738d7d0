// Checking programs while they run.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cli/report_builder.h"
#include "core/checker.h"
#include "live/channel_reader.h"
#include "live/listener.h"

namespace heddle {

class LiveTrace;

class LiveCheck {
 public:
  struct Settings {
    std::vector<const CheckerEntry*> checkers;
    CheckerOptions options;
    std::size_t kept_per_checker = 0;
    uint32_t told_per_stretch = 32;                            // accesses
    std::function<void(const Finding&)> on_finding;            // when it is found; one at a time
    std::function<void(const std::string&)> on_question;       // with the answer; one at a time
    std::function<bool(std::string_view name)> ignores_block;  // from several threads; empty: none
    // Functions of a process that are blocks though the plug-in has not seen them; empty: none.
    std::function<std::vector<ChannelReader::SpecBlock>(pid_t pid)> blocks_of;
  };
  explicit LiveCheck(Settings settings);

  // Checks a program until it ends. Can be called for several at once, from as many threads. The result is
  // how many findings it had.
  uint32_t check(Connection& connection, const std::string& program);

  RunReport finish();
  // What all threads of a program waited for at its end, if they did.
  const std::vector<std::string>& standstills() const { return standstills_; }

 private:
  // What is found in one program.
  struct Found {
    std::vector<Findings> by_checker;
    Findings* races = nullptr;      // of the checker; null: it does not run
    Findings* deadlocks = nullptr;  // the same
  };
  std::vector<Coverage> coverage(std::span<const std::unique_ptr<Checker>> checkers,
                                 const LiveTrace& trace) const;
  static void add_told(LiveTrace& trace, Found& found);
  void tell_new(const Found& found, const std::string& program);

  Settings settings_;
  std::mutex mutex_;                      // for all below
  std::map<std::string, Strength> told_;  // findings, by fingerprint
  ReportBuilder report_;
  std::vector<std::string> notices_;
  std::vector<std::string> standstills_;
};

}  // namespace heddle
