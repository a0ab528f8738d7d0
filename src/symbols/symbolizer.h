// Turns addresses of a checked program into words, offline, from the files that it was loaded from.
//
// Nothing here throws and nothing is an error: what a file does not tell, or one that is gone, is answered
// with less. A code address is a return address, so what is looked up is the call in front of it, at pc - 1.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle {

class ObjectFile;

// A loaded object of the program: which file it is and where it lies.
struct Module {
  std::string path;
  uint64_t bias = 0;   // load address minus link address
  uint64_t begin = 0;  // run-time addresses [begin, end)
  uint64_t end = 0;
};

class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Later ones win where ranges overlap, as after dlclose and dlopen. What frames() returned for addresses in
  // the range is gone.
  void add(Module module);

  // The frames of the code address, innermost first, inlined ones included; at least one. With debug
  // information "bank.cpp:31:5 in Account::withdraw", else "in Account::withdraw (libbank.so)", without
  // symbols "libbank.so+0x1234" (what addr2line takes), and "0x7f0012345678" outside of all modules.
  const std::vector<std::string>& frames(uint64_t pc);

  // What lies at a data address, down to the scalar or the standard library's type: "counter",
  // "table[3].next", "bank::account.mu_"; with symbols only "counter+8". Empty when nothing is known.
  std::string data_name(uint64_t address);
  // Whether some of the addresses are a module's; of others there is no data_name().
  bool any_module_in(uint64_t begin, uint64_t end) const;

  // The class that the function at the code address is a member of. Of functions inlined into each other the
  // innermost member of a class outside the standard library counts.
  struct Class {
    std::string name;   // "bank::Account"; empty: a member of none
    uint64_t size = 0;  // in bytes; 0: not known
  };
  Class class_at(uint64_t pc);

  // The member at this offset of that class: "balance_", "inner.x"; empty when not known.
  std::string field_name(uint64_t pc, uint64_t offset);

  // The NUL-terminated constant at an address; empty when there is none.
  std::string text_at(uint64_t address);

 private:
  // The module at a run-time address; null: none.
  const Module* module_at(uint64_t address) const;
  ObjectFile& file_of(const Module& module);

  std::vector<Module> modules_;                                    // in the order of add()
  std::map<std::string, std::unique_ptr<ObjectFile>> files_;       // by path, opened when first asked
  std::unordered_map<uint64_t, std::vector<std::string>> frames_;  // by pc
};

}  // namespace heddle
