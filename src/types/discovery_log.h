// What monitored runs saw of each field: how many objects, shared or not, written or not once shared, which
// locks were held. Logs of several runs add up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heddle::types {

struct FieldLog {
  uint64_t objects = 0;          // sampled
  uint64_t shared = 0;           // of them: a second thread came
  uint64_t handed_over = 0;      // of them: all that each thread did was over when the next one came, once
  uint64_t written_shared = 0;   // of them: written after a second thread came
  uint64_t accesses = 0;         // by any thread
  uint64_t shared_accesses = 0;  // from the second thread's first on
  // How often a lock was held at a shared access: by its distance in bytes from the field, "+40", "-8", when
  // it lies near; by its name, "g:table_mutex", when it is a global.
  std::map<std::string, uint64_t> locks;

  void add(const FieldLog& other);
};

struct DiscoveryLog {
  uint64_t runs = 0;
  std::map<std::string, FieldLog> fields;  // by what the plug-in calls the memory

  void add(const DiscoveryLog& other);
  std::string text() const;
  // Throws InputError that names `file`, the line and what is wrong.
  static DiscoveryLog parse(std::string_view text, const std::string& file);
};

}  // namespace heddle::types
