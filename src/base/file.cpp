#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace heddle {

namespace {

constexpr std::size_t kWriteBuffer = std::size_t{256} * 1024;

std::string reason() { return std::strerror(errno); }

// Where a file written as `path` ends up: the target of the link, of the link behind it, and so on.
std::string past_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  std::filesystem::path place = path;
  std::error_code none;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(place, none);
    if (none) break;
    place = place.parent_path() / target;  // an absolute target stays what it is
  }
  return place.string();
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

InputFile::InputFile(const std::string& path) : path_(input_name(path)) {
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw InputError(fmt::format("{}: cannot open: {}", path_, reason()));
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0)
    throw InputError(fmt::format("{}: cannot look at the file: {}", path_, reason()));
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw InputError(fmt::format("{}: is a directory, not a file", path_));
  }
  regular_ = S_ISREG(status.st_mode);
  size_ = regular_ ? static_cast<uint64_t>(status.st_size) : 0;
}

InputFile::~InputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

std::size_t InputFile::read(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor_, to + done, size - done);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(fmt::format("{}: cannot read: {}", path_, reason()));
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t InputFile::read_at(uint64_t offset, char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor_, to + done, size - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw InputError(fmt::format("{}: cannot read at offset {}: {}", path_, offset + done, reason()));
    done += static_cast<std::size_t>(got);
  }
  return done;
}

OutputFile::OutputFile(const std::string& path) : path_(path), final_(path) {
  struct stat status{};
  if (path.empty()) throw InputError("the name of the output file is empty; '-' is standard output");
  errno = 0;
  const bool exists = path != "-" && ::stat(path.c_str(), &status) == 0;
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
  } else if (exists && !S_ISREG(status.st_mode)) {
    // A device or a pipe keeps its name: there is nothing to rename over.
    if (S_ISDIR(status.st_mode)) throw InputError(fmt::format("{}: cannot write: is a directory", path));
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else if (!exists && errno == ELOOP) {
    descriptor_ = -1;
  } else {
    final_ = past_links(path);
    temporary_ = fmt::format("{}.{}.partial", final_, ::getpid());
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    throw InputError(fmt::format("{}: cannot write: {}", path, reason()));
  }
  // A file system without permissions refuses; the file is then as good as it can be there.
  if (exists && !temporary_.empty()) static_cast<void>(::fchmod(descriptor_, status.st_mode & 07777));
  buffer_.reserve(kWriteBuffer);
}

OutputFile::~OutputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  written_ += bytes.size();
  if (buffer_.size() + bytes.size() > kWriteBuffer) flush();
  if (bytes.size() >= kWriteBuffer) {
    write_all(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void OutputFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void OutputFile::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw SystemError(fmt::format("{}: cannot write: {}", path_, reason()));
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void OutputFile::commit() {
  flush();
  if (temporary_.empty()) return;
  if (::close(descriptor_) != 0) throw SystemError(fmt::format("{}: cannot write: {}", path_, reason()));
  descriptor_ = -1;
  if (::rename(temporary_.c_str(), final_.c_str()) != 0)
    throw SystemError(fmt::format("{}: cannot rename the finished file: {}", path_, reason()));
  temporary_.clear();
}

std::string read_whole_file(const std::string& path) {
  InputFile file(path);
  std::string content;
  constexpr std::size_t kStep = std::size_t{64} * 1024;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + kStep);
    const std::size_t got = file.read(content.data() + before, kStep);
    content.resize(before + got);
    if (got < kStep) return content;
  }
}

std::string numbered_path(const std::string& path, std::size_t number) {
  if (number == 1) return path;
  std::filesystem::path result = path;
  const std::string extension = result.extension();
  result.replace_extension(fmt::format(".{}{}", number, extension));
  return result;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return std::filesystem::is_regular_file(a, none) && std::filesystem::equivalent(a, b, none);
}

}  // namespace heddle
