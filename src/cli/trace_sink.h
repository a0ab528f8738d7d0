// Opens a trace file for writing in the format the user wants.
#pragma once

#include <memory>
#include <string>

#include "trace/source.h"

namespace heddle {

inline constexpr const char* kTraceFormats = "text|binary";

// `format` is one of kTraceFormats; empty: binary for a name that ends in .heddle, else text. Throws
// InputError when the file cannot be created.
std::unique_ptr<TraceSink> make_trace_sink(const std::string& path, const std::string& format);

}  // namespace heddle
