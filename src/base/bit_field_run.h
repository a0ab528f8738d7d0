// Bit-fields that lie side by side. To the language and to the machine they are one piece of memory: whoever
// writes one of them writes all. So they have one name: "ready/failed/retries".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

class BitFieldRun {
 public:
  // In the order of their bits. False: it lies apart from those before.
  bool add(std::string_view name, uint64_t first_bit, uint64_t bits) {
    if (end_ != 0 && first_bit >= end_ + kBitsOfByte) return false;
    if (end_ == 0) begin_ = first_bit;
    end_ = first_bit + bits;
    if (!name.empty()) names_.emplace_back(name);
    return true;
  }
  bool has_byte(uint64_t offset) const {
    return end_ != 0 && begin_ / kBitsOfByte <= offset && offset * kBitsOfByte < end_;
  }
  // Of many only the first and the last.
  std::string name() const {
    constexpr std::size_t kMostNames = 4;
    if (names_.size() > kMostNames) return names_.front() + "/…/" + names_.back();
    std::string text;
    for (const std::string& name : names_) text += (text.empty() ? "" : "/") + name;
    return text;
  }

 private:
  static constexpr uint64_t kBitsOfByte = 8;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;  // 0: there is none yet
  std::vector<std::string> names_;
};

}  // namespace heddle
