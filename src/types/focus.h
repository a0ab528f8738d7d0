// The focus file: what a focused build need not check (S4 §6.1), for the compiler plug-in.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "types/check.h"
#include "types/program.h"

namespace heddle::types {

enum class FocusMode : uint8_t { kField, kMethod, kCombined };

struct Focus {
  FocusMode mode = FocusMode::kCombined;
  std::map<std::string, std::string> sources;  // hashes, by path: the program this is true of
  std::set<std::string> taken;    // places whose address somebody has (types/path.h, normal_place)
  std::set<std::string> fields;   // places without races
  std::set<std::string> methods;  // symbols of typed methods
  std::set<std::string> atomic;   // names of methods that are proven atomic
  // Places that nothing but atomic operations uses, in programs where relaxed loads never order threads.
  std::set<std::string> quiet;
  std::set<AccessSpot> exempt;  // accesses that no other thread can be in the way of
  // Places that typed methods use with their lock, and others without: the lock stands for them.
  std::map<std::string, std::string> guarded;  // lock, by place
  // What those who call a typed method must hold: the lock at `lock` in the object of a parameter.
  struct Required {
    unsigned parameter = 0;
    std::string lock;
    bool is_shared = false;
    friend auto operator<=>(const Required&, const Required&) = default;
  };
  std::map<std::string, std::set<Required>> required;  // by symbol

  std::string text() const;
  // Throws InputError that names `file`, the line and what is wrong.
  static Focus parse(std::string_view text, const std::string& file);
};

Focus make_focus(const Program& program, const CheckResult& result, FocusMode mode);

}  // namespace heddle::types
