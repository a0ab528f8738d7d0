#include "trace/text_writer.h"

namespace heddle {

namespace {

void append_event(std::string& line, const Event& event, const Names& names) {
  line += names.thread(event.thread);
  line += '|';
  append_operation_text(line, event, names);
  line += '|';
  names.append_site_text(line, event.site);
}

}  // namespace

void TextWriter::write(const EventBatch& batch, const Names& names) {
  constexpr std::size_t kEnough = std::size_t{64} * 1024;
  for (const Event& event : batch.events) {
    append_event(lines_, event, names);
    lines_ += '\n';
    if (lines_.size() < kEnough) continue;
    file_.write(lines_);
    lines_.clear();
  }
  file_.write(lines_);
  lines_.clear();
}

std::string event_text(const Event& event, const Names& names) {
  std::string line;
  append_event(line, event, names);
  return line;
}

}  // namespace heddle
