#include "import/open_trace.h"

#include "trace/text_reader.h"

namespace heddle {

std::unique_ptr<TraceSource> open_trace(const std::string& path) { return std::make_unique<TextReader>(path); }

}  // namespace heddle
