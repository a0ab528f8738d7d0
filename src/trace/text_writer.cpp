#include "trace/text_writer.h"

namespace heddle {

namespace {

void append_event(std::string& line, const Event& event, const Names& names) {
  line += names.thread(event.thread);
  line += '|';
  line += operation_text(event, names);
  line += '|';
  line += names.site_text(event.site);
}

}  // namespace

void TextWriter::write(const EventBatch& batch, const Names& names) {
  for (const Event& event : batch.events) {
    line_.clear();
    append_event(line_, event, names);
    line_ += '\n';
    file_.write(line_);
  }
}

std::string event_text(const Event& event, const Names& names) {
  std::string line;
  append_event(line, event, names);
  return line;
}

}  // namespace heddle
