// Owners of fields (S4 §3.1 in C++): what makes it safe that threads use a member of a class, or a global.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace heddle::types {

enum class OwnerKind : uint8_t {
  kUnknown,
  kSelf,      // guarded by a mutex of the same object
  kPath,      // by a mutex reached from the object through pointers
  kGlobal,    // by a global mutex
  kThread,    // one thread only has the object
  kReadonly,  // never written once others can see it
  kUnique,    // handed over from thread to thread, never shared
};

struct Owner {
  OwnerKind kind = OwnerKind::kUnknown;
  std::string lock;  // kSelf: "Account::mu_"; kPath: "Node::list_/*/List::mu_"; kGlobal: "g:table_mutex"
  bool is_lock() const {
    return kind == OwnerKind::kSelf || kind == OwnerKind::kPath || kind == OwnerKind::kGlobal;
  }
  friend bool operator==(const Owner&, const Owner&) = default;
};

// "guarded by Account::mu_", "guarded by global table_mutex", "readonly", …
std::string owner_text(const Owner& owner);

struct DeclaredOwner {
  Owner owner;
  std::string evidence;  // why; for people
  unsigned percent = 0;  // how sure the inference is
};

// What `heddle types infer` writes and people may change: the owner of each place, what methods require.
struct Types {
  std::map<std::string, DeclaredOwner> owners;             // by place (types/path.h)
  std::map<std::string, std::set<std::string>> requires_;  // locks, by a function's name
  std::string text() const;
  // Throws InputError that names `file`, the line and what is wrong.
  static Types parse(std::string_view text, const std::string& file);
};

// The path of the lock that guards the access at `path`; empty: no lock does. The place is one that the path
// may end with, since parts of objects that are passed around go by their own class.
std::string guard_of(const Owner& owner, std::string_view path, std::string_view place);

}  // namespace heddle::types
