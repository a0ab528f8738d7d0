// A spec file while programs run: which of their blocks are left out, and which functions of objects that the
// plug-in has not seen, those compiled with -fsanitize=thread, are blocks.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "live/channel_reader.h"
#include "report/spec_file.h"

namespace heddle {

class RunSpec {
 public:
  // Empty: no spec, nothing is left out. Throws InputError.
  explicit RunSpec(const std::string& path);

  // Those of the program that has this process.
  std::vector<ChannelReader::SpecBlock> blocks_of(pid_t pid) const;
  // Can be called from several threads.
  bool is_ignored(std::string_view block);
  // What fits no block of the programs that ran nor of the file `program`, a sentence each.
  std::vector<std::string> notices(const std::string& program);

 private:
  SpecFile spec_;
  std::mutex mutex_;
  std::vector<std::string> seen_;  // blocks
};

}  // namespace heddle
