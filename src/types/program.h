// A program as the compiler plug-in tells it (pass/summary_pass.h): its classes, and of every function the
// operations that matter to threads, in its flow of control. What the analyses of this folder work on.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::types {

enum class OperationKind : uint8_t {
  kRead,  // of `path`
  kWrite,
  kAtomic,   // a std::atomic: never in a race with another one
  kAcquire,  // the lock at `path`
  kAcquireShared,
  kRelease,
  kDrop,  // a guard gives back the lock at `path` if it still has it: it took it in this function
  kWait,  // for a condition, with the lock at `path`: given back and taken again
  kCall,  // of `callee` with `arguments`; an empty callee: through a pointer, of the signature `path`;
          // else `path` is the local variable that keeps the threads it starts, if that is known
  kAddressTaken,  // of the memory at `path`, which anybody may access from now on
  kLeak,          // the pointer `path` goes to memory or to somebody who may keep it
  kDefine,        // the root `path` gets a value: what was known of it is void
  kFork,          // a thread begins; kKeeper: the caller's variable keeps it, as `path` of the call says
  kJoin,          // all threads that the local variable `path` keeps have ended
  kPass,          // an object of the class `path` is given to `callee`, which this file does not have
  kWholeRead,     // the whole object at `path`, of the class `callee`, is read, as in a copy
  kWholeWrite,
  kElement,  // the root `path` is an element of the container at `callee`: one of `arguments`, earlier ones,
             // if there are any and the container has not changed meanwhile
  kOrder,    // threads are ordered by what is neither a lock nor an atomic; how is said by `path`
};

// Whether anybody sees there that other threads have to do with what comes before or after.
bool orders_threads(OperationKind kind);

// The path of a kOrder: what others did comes before from now on (a join, an attempt to lock); both ways;
// somebody is woken up, which by itself orders nothing.
inline constexpr const char* kOrdersAfter = "after";
inline constexpr const char* kOrders = "both";
inline constexpr const char* kNotifies = "wakes";

// The path of a fork in the library's functions that start threads for an object.
inline constexpr const char* kKeeper = "h";

// Callees of a kPass that are no functions: bytes are copied, and of what class is not known.
inline constexpr const char* kCopyFrom = "a copy from memory of unknown type";
inline constexpr const char* kCopyTo = "a copy to memory of unknown type";

// The same for an access by way of a pointer to a member.
inline constexpr const char* kMemberPointer = "a pointer to a member";
// The same where an object is used of which only the beginning is known, as of a union.
inline constexpr const char* kSomePart = "whoever knows only where it begins";

// The name of functions that run before main.
inline constexpr const char* kInitializer = "(initializer)";

struct Operation {
  OperationKind kind = OperationKind::kRead;
  std::string path;
  std::string callee;                  // symbol
  std::vector<std::string> arguments;  // paths of what each points to
  std::string site;                    // "bank.cpp:12:3"
  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Block {
  std::vector<Operation> operations;
  std::vector<uint32_t> next;
  friend bool operator==(const Block&, const Block&) = default;
};

struct Function {
  std::string symbol;
  std::string name;  // "Account::deposit"
  std::string site;
  std::string signature;    // functions called through a pointer are told by it
  uint32_t parameters = 0;  // that are pointers or not
  bool is_constructor = false;
  bool is_destructor = false;
  bool makes_result = false;  // the first parameter is where the object that it returns is made
  bool is_library = false;    // of the standard library: what it does is told by who calls it
  bool is_entry = false;      // called from outside: main, initializers, overriders of foreign functions
  bool is_taken = false;      // its address is used
  std::vector<Block> blocks;  // the first is the entry
  friend bool operator==(const Function&, const Function&) = default;
};

struct Member {
  std::string name;  // "Account::balance_"
  uint64_t offset = 0;
  uint64_t size = 0;
  bool is_lock = false;
  bool is_atomic = false;
  std::string type;  // the class it is of, or points to; empty: none of the program's
  std::string site;  // "bank.h:9": where it is declared; empty: not known
  friend bool operator==(const Member&, const Member&) = default;
};

struct Class {
  std::string name;
  uint64_t size = 0;
  std::vector<Member> members;
  friend bool operator==(const Class&, const Class&) = default;
};

struct Program {
  std::map<std::string, Function> functions;   // by symbol
  std::map<std::string, Class> classes;        // by name
  std::map<std::string, std::string> globals;  // "g:counter": where it is declared
  std::set<std::string> global_locks;          // "g:mutex"
  std::map<std::string, std::string> sources;  // hashes, by path
  std::set<std::string> opaque_classes;        // used by code without debug information
  std::vector<std::string> opaque_files;       // that code
  bool has_acquire_fences = false;             // so relaxed loads may order threads
  // Programs that have parts without summaries that nobody may call by name: they may do anything.
  std::vector<std::string> foreign_parts;

  const Member* member(const std::string& name) const;
  // Whether the member is itself an object of one of the program's classes, with members of its own.
  bool is_object(const Member& member) const;
  // The class of a member: "Account" of "Account::balance_".
  const Class* class_of(const std::string& member) const;
};

}  // namespace heddle::types
