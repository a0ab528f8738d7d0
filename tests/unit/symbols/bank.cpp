// What symbols_test.cpp looks up: built as a shared library by both compilers, with and without debug
// information. The test expects these line numbers.
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "teller.h"

#define NOINLINE [[gnu::noinline]]
#define INLINE [[gnu::always_inline]] inline

std::map<std::string, const void*> marks;
// Notes the place it is called from under a name: a return address, as the runtime has them.
extern "C" NOINLINE void mark(const char* name) { marks[name] = __builtin_return_address(0); }
extern "C" const void* place_of(const char* name) { return marks[name]; }
std::map<std::string, const volatile void*> data;
extern "C" const volatile void* data_of(const char* name) { return data[name]; }

namespace bank {

struct Limits {
  int daily;
  int monthly;
};

struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
};

class Account : NotCopied {
 public:
  virtual ~Account() = default;
  NOINLINE int withdraw(int amount);
  INLINE int check(int amount) {
    mark("check");
    return amount < balance_;
  }
  void note();

  static int total;

 private:
  std::mutex mu_;
  int balance_ = 1;
  Limits limits_ = {2, 3};
  std::array<Limits, 4> history_ = {};
  union {
    int as_int_;
    float as_float_;
  };
};

int Account::total = 7;
Account account;

int Account::withdraw(int amount) {
  const std::lock_guard<std::mutex> guard(mu_);
  const int fine = check(amount);
  auto take = [&](int part) __attribute__((noinline)) {
    mark("lambda");
    balance_ -= part;
  };
  take(fine);
  mark("withdraw");
  return balance_;
}

void Account::note() {
  data["vptr"] = this;
  data["mu_"] = reinterpret_cast<const char*>(&mu_) + 4;
  data["balance_"] = &balance_;
  data["limits_.monthly"] = &limits_.monthly;
  data["history_[2].daily"] = &history_[2].daily;
  data["union"] = &as_float_;
  data["total"] = &total;
}

template <typename T>
struct Stack {
  NOINLINE void push(T item) {
    items.push_back(item);
    mark("template");
  }
  std::vector<T> items;
};

namespace {
Stack<std::vector<int>> stack;
struct Node {
  long key;
  Node* next;
};
Node table[5][3];

NOINLINE int count_calls() {
  static int calls;
  data["calls"] = &calls;
  mark("unnamed namespace");
  return ++calls;
}
}  // namespace

}  // namespace bank

std::atomic<long> ticks;
extern const char greeting[] = "good morning";

INLINE void inner() { mark("inlined"); }
INLINE void middle() { inner(); }

extern "C" NOINLINE void outer() {
  middle();
  mark("outer");
}

NOINLINE void Teller::serve() {
  served_ += waiting_;
  mark("serve");
}

struct Flags {
  unsigned char before;
  unsigned ready : 1;
  unsigned failed : 3;
  unsigned retries : 9;
  int between;
  unsigned apart : 2;
};
Flags flags;

extern "C" void run() {
  bank::account.withdraw(1);
  bank::account.note();
  bank::stack.push({1});
  bank::count_calls();
  outer();
  teller.serve();
  data["waiting_"] = &teller.waiting_;
  data["stack"] = &bank::stack.items;
  data["table[3][1].next"] = &bank::table[3][1].next;
  data["ticks"] = &ticks;
  data["bit-fields"] = &flags.before + 1;
  data["another bit-field"] = &flags.between + 1;
  flags.ready = flags.failed = flags.retries = flags.apart = 1;
  data["greeting"] = greeting;
}
