// Bytes that can be read at any offset: a file, or memory in tests and fuzzers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"

namespace heddle {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes at `offset`; fewer only at the end. The view is valid until the next call.
  virtual std::string_view read(uint64_t offset, std::size_t size) = 0;
  virtual uint64_t size() const = 0;
};

class FileBytes : public ByteSource {
 public:
  explicit FileBytes(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}

  std::string_view read(uint64_t offset, std::size_t size) override {
    if (size > capacity_) {
      buffer_ = std::make_unique_for_overwrite<char[]>(size);
      capacity_ = size;
    }
    return {buffer_.get(), file_->read_at(offset, buffer_.get(), size)};
  }
  uint64_t size() const override { return file_->size(); }

 private:
  std::unique_ptr<InputFile> file_;
  std::unique_ptr<char[]> buffer_;  // holds the latest read
  std::size_t capacity_ = 0;        // of buffer_
};

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}

  std::string_view read(uint64_t offset, std::size_t size) override {
    return offset >= bytes_.size() ? std::string_view() : bytes_.substr(offset, size);
  }
  uint64_t size() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;  // not owned
};

}  // namespace heddle
