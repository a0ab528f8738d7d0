// Writes the text trace format.
#pragma once

#include <string>

#include "base/file.h"
#include "trace/source.h"

namespace heddle {

class TextWriter : public TraceSink {
 public:
  explicit TextWriter(const std::string& path) : file_(path) {}

  void write(const EventBatch& batch, const Names& names) override;
  void finish() override { file_.commit(); }

 private:
  OutputFile file_;
  std::string lines_;  // not handed to the file yet; empty between calls, kept for its room
};

// One event as a line, without the newline.
std::string event_text(const Event& event, const Names& names);

}  // namespace heddle
