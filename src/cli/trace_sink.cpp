#include "cli/trace_sink.h"

#include "trace/binary_writer.h"
#include "trace/text_writer.h"

namespace heddle {

std::unique_ptr<TraceSink> make_trace_sink(const std::string& path, const std::string& format) {
  const bool binary = format.empty() ? path.ends_with(".heddle") : format == "binary";
  if (binary) return std::make_unique<BinaryWriter>(path);
  return std::make_unique<TextWriter>(path);
}

}  // namespace heddle
