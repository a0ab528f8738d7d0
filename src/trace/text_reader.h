// Reads the text trace format: `thread|operation|site` a line, a superset of RAPID's STD format.
// Checks the form of each line; whether the events make sense together is WellFormed's task.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "trace/source.h"

namespace heddle {

class TextReader : public TraceSource {
 public:
  explicit TextReader(const std::string& path);
  // Reads on from `file`, of which `start` has been read to find out what it is (a pipe cannot be read
  // twice).
  TextReader(std::unique_ptr<InputFile> file, std::string start);
  // Reads from memory; `name` stands for the file in messages.
  TextReader(std::string name, std::string content);

  EventBatch next() override;
  const Names& names() const override { return names_; }
  std::string where(EventIndex index) const override;
  double progress() const override;

 private:
  bool refill();
  void parse_line(std::string_view line);
  // What follows the second '|' of a line, given the line from its operation on.
  std::string_view find_site(std::string_view rest, std::size_t bar) const;
  void parse_operation(std::string_view text, Event& event);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;                 // the file, for messages
  std::unique_ptr<InputFile> file_;  // null when reading from memory
  std::string buffer_;               // bytes read and not parsed yet start at position_
  std::size_t position_ = 0;
  bool ended_ = false;  // no more bytes to come
  uint64_t bytes_read_ = 0;
  uint64_t line_ = 0;            // number of the line being parsed, from 1
  EventIndex next_index_ = 0;    // index of the next event
  std::vector<Event> events_;    // the latest batch
  std::vector<uint64_t> lines_;  // line numbers of events_
  Names names_;
};

}  // namespace heddle
