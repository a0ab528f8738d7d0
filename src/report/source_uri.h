// Names of source files as URI references (RFC 3986), relative to the root of the source tree where possible.
#pragma once

#include <string>

namespace heddle {

struct SourceUri {
  std::string uri;          // percent-encoded; bytes of the file name that are no ASCII included
  bool below_root = false;  // relative to the source root
};

// `root` is an absolute path, or empty when it is not known. A relative name is taken as relative to the
// root.
SourceUri source_uri(const std::string& file, const std::string& root);

// The root itself as a base for such references: "file:///home/me/bank/".
std::string root_uri(const std::string& root);

}  // namespace heddle
