// Opens a trace of any format Heddle reads. The content decides, not the file's name.
// A new format is a reader (a TraceSource) in this folder and a line in open_trace.cpp.
#pragma once

#include <memory>
#include <string>

#include "trace/source.h"

namespace heddle {

// "-" reads standard input. Throws InputError when the file cannot be opened or is not a trace.
std::unique_ptr<TraceSource> open_trace(const std::string& path);

}  // namespace heddle
