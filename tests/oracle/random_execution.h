// Random traces as S2 has them, and random executions of a trace: commits put in by choice.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "store_buffer_oracle.h"
#include "support/random_trace.h"
#include "support/read_events.h"

namespace heddle::test {

// Reads, writes, fences and blocks.
inline constexpr TraceShape kPaperShape = {.threads = 3,
                                           .variables = 3,
                                           .locks = 0,
                                           .barriers = 0,
                                           .semaphores = 0,
                                           .atomics = false,
                                           .fork_join = false,
                                           .lives = false,
                                           .block_weight = 4,
                                           .deepest_block = 1,
                                           .fence_weight = 1};

// The trace with commits put in where `choices` say, and before what drains.
inline std::string with_commits(const std::string& trace, const std::vector<Choice>& choices) {
  const std::vector<Event> events = read_events(trace);
  std::map<std::string, std::vector<std::string>> buffers;  // by thread: variables
  std::string result;
  const auto commit = [&](const std::string& thread) {
    std::vector<std::string>& buffer = buffers[thread];
    if (buffer.empty()) return false;
    result += fmt::format("{}|commit({})|\n", thread, buffer.front());
    buffer.erase(buffer.begin());
    return true;
  };
  std::size_t i = 0;
  for (const std::string_view line : split(trace, "\n")) {
    if (line.empty()) continue;
    const Event& event = events[i++];
    const std::string thread(line.substr(0, line.find('|')));
    if (oracle::drains(event))
      while (commit(thread)) {
      }
    if (event.operation == Operation::kJoin)
      while (commit(std::string(line.substr(line.find('(') + 1, 2)))) {
      }
    result += std::string(line) + "\n";
    const std::size_t open = line.find('(');
    if (oracle::is_buffered_write(event))
      buffers[thread].emplace_back(line.substr(open + 1, line.find_first_of(",)") - open - 1));
    for (std::size_t k = 0; k < 2 && !choices.empty(); ++k) {
      const Choice& choice = choices[(2 * i + k) % choices.size()];
      if (choice[1] < 128) commit(fmt::format("T{}", choice[0] % 4));
    }
  }
  return result;
}

}  // namespace heddle::test
