#include "report/source_uri.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace heddle {

namespace {

// Percent-encodes all but what may stand in a path. ':' is encoded too: in the first segment of a relative
// reference it would end a scheme.
std::string encode_path(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@";
  std::string uri;
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return uri;
}

bool leads_up(const std::filesystem::path& path) { return !path.empty() && *path.begin() == ".."; }

}  // namespace

SourceUri source_uri(const std::string& file, const std::string& root) {
  std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  if (!path.is_absolute() && !leads_up(path)) return {encode_path(path.native()), true};
  if (root.empty()) return {(path.is_absolute() ? "file://" : "") + encode_path(path.native()), false};

  const std::filesystem::path base = (std::filesystem::path(root) / "").lexically_normal();
  path = (base / path).lexically_normal();  // an absolute path stays what it is
  const std::filesystem::path relative = path.lexically_relative(base);
  if (!relative.empty() && !leads_up(relative)) return {encode_path(relative.native()), true};
  return {"file://" + encode_path(path.native()), false};
}

std::string root_uri(const std::string& root) {
  return "file://" + encode_path((std::filesystem::path(root) / "").lexically_normal().native());
}

}  // namespace heddle
