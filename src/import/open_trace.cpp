#include "import/open_trace.h"

#include "trace/binary_reader.h"
#include "trace/text_reader.h"

namespace heddle {

std::unique_ptr<TraceSource> open_trace(const std::string& path) {
  auto file = std::make_unique<InputFile>(path);
  std::string start(kBinaryMagic.size(), '\0');
  start.resize(file->read(start.data(), start.size()));
  if (BinaryReader::recognizes(start)) return std::make_unique<BinaryReader>(std::move(file));
  return std::make_unique<TextReader>(std::move(file), std::move(start));
}

}  // namespace heddle
