// Memory that several names lead to: the beginning of a global object, elements of a global array, parts that
// are copied as a whole or in one piece, pointers in an array. In each case two threads get there by
// different ways and nothing orders them; `right` holds what is proven all the same.
//
//   types_globals CASE   0: none
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

// 1 one element by a constant, another by a number
int x1[16];
void write_1(int i) { x1[i] = 1; }
int read_1() { return x1[0]; }

// 2 the first member of a global object, and of whatever object it is
struct Pair {
  int first = 0;
  int second = 0;
  int rest[4] = {};
};
Pair pair_2;
void write_2() { pair_2.first = 1; }
int read_2(const Pair& pair) { return pair.first; }

// 3 an array that the object begins with
struct Row {
  int x3[4] = {};
  int length = 0;
};
Row row_3;
void write_3(int i) { row_3.x3[i] = 1; }
int read_3(const Row& row, int i) { return row.x3[i]; }

// 4 by a pointer that walks
char x4[32];
void write_4(int i) {
  char* p = x4;
  p[i] = 1;
}
char read_4() { return x4[0]; }

// 5 the first member of the first member
struct Outer {
  Pair inner;
  int own = 0;
};
Outer outer_5;
void write_5() { outer_5.inner.first = 1; }
int read_5(const Outer& outer) { return outer.inner.first; }

// 6 a member of the base class that the object begins with; its initial value has a type of its own
struct Base {
  int x6 = 0;
};
struct Derived : Base {
  int own = 0;
};
Derived derived_6;
void write_6() { derived_6.x6 = 1; }
int read_6(const Base& base) { return base.x6; }

// 7 a union
union Either {
  int x7;
  int all[4];
};
Either either_7;
void write_7(int i) { either_7.all[i] = 1; }
int read_7() { return either_7.x7; }

// 8 elements that are objects
struct Element {
  int x8 = 0;
  int own = 0;
};
Element elements_8[3];
void write_8(int i) { elements_8[i].x8 = 1; }
int read_8() { return elements_8[0].x8; }

// 9 the address of the object is that of its first member
struct Counted {
  int x9 = 0;
};
Counted counted_9;
void set(int& number) { number = 1; }
void write_9() { set(counted_9.x9); }
int read_9(const Counted& counted) { return counted.x9; }

// 10 a container that the object begins with
struct List {
  std::vector<int> x10{1, 2, 3};
  int own = 0;
};
List list_10;
void write_10() { list_10.x10.push_back(1); }
std::size_t read_10(const List& list) { return list.x10.size(); }

// 11 a function of the first member
struct Part {
  void change() { x11 = 1; }
  int x11 = 0;
};
struct Whole {
  Part part;
  int own = 0;
};
Whole whole_11;
void write_11() { whole_11.part.change(); }
int read_11(const Whole& whole) { return whole.part.x11; }

// 12 a part that is passed by value without the lock, in one piece or as bytes
struct Small {
  int first = 0;
  int x12 = 0;
};
struct Large {
  long first = 0;
  long x13 = 0;
};
struct Guarded {
  std::mutex mu;
  Small small;
  Large large;
  void change() {
    const std::lock_guard lock(mu);
    small.x12 = 1;
    large.x13 = 1;
  }
};
Guarded guarded_12;
int sum(Small small) { return small.first + small.x12; }
long sum(Large large) { return large.first + large.x13; }
int read_12(const Guarded& guarded) { return sum(guarded.small); }
long read_13(const Guarded& guarded) { return sum(guarded.large); }

// 14 the address stands in the initial value of another variable
int x14;
int* to_14 = &x14;
void write_14() { *to_14 = 1; }
int read_14() { return x14; }

// 15 the lock of one object that an array points to, and a member of another
struct Account {
  std::mutex mu;
  long x15 = 0;
};
class Bank {
 public:
  Bank() {
    for (Account*& account : accounts_) account = new Account;
  }
  ~Bank() {
    for (Account* account : accounts_) delete account;
  }
  void add(int locked, int changed) {
    const std::lock_guard lock(accounts_[locked]->mu);
    ++accounts_[changed]->x15;
  }

 private:
  Account* accounts_[2];
};

// 16 the same, by way of a function
struct Safe {
  std::mutex mu;
  long x16 = 0;
};
class Office {
 public:
  Office() {
    for (Safe*& safe : safes_) safe = new Safe;
  }
  ~Office() {
    for (Safe* safe : safes_) delete safe;
  }
  Safe*& at(int i) { return safes_[i]; }

 private:
  Safe* safes_[2];
};
void add(Office& office, int locked, int changed) {
  const std::lock_guard lock(office.at(locked)->mu);
  ++office.at(changed)->x16;
}

// 17 given back by the variable's name, taken by another
struct Named {
  std::mutex mu;
  int x17 = 0;
};
Named named_17;
void write_17(Named& named) {
  named.mu.lock();
  named_17.mu.unlock();
  named.x17++;
}

// 18, 19 filled by the C library
char x18[32];
void write_18() { std::snprintf(x18, sizeof x18, "%d", 18); }
char read_18(int i) { return x18[i]; }
struct Record {
  int first = 0;
  int x19 = 0;
};
Record record_19;
void write_19(Record& record, std::FILE* from) {
  if (std::fread(&record, sizeof record, 1, from) != 1) std::abort();
}
int read_19(const Record& record) { return record.x19; }

// 20 bits that the object begins with
struct Bits {
  unsigned x20 : 4;
  unsigned own : 4;
  int length;
};
Bits bits_20;
void write_20(Bits& bits) { bits.x20 = 1; }
unsigned read_20() { return bits_20.x20; }

struct Right {
  std::mutex mu;
  Small part;
  long right1 = 0;
  void add() {
    const std::lock_guard lock(mu);
    ++right1;
  }
  int copy() {
    const std::lock_guard lock(mu);
    return sum(part);
  }
};
Right right;
int right2[4] = {1, 4, 9, 16};
void add_to_right() {
  const std::lock_guard lock(right.mu);
  ++right.right1;
  ++right.part.x12;
}
int look_at_right(int i) {
  right.add();
  return right.copy() + right2[i];
}

namespace {

template <class One, class Other>
void at_once(One one, Other other) {
  std::thread first(one);
  std::thread second(other);
  first.join();
  second.join();
}

}  // namespace

int main(int, char** argv) {
  volatile long seen = 0;
  Bank bank;
  Office office;
  at_once(add_to_right, [&] { seen = look_at_right(1); });
  switch (std::atoi(argv[1])) {
    case 0: break;
    case 1: at_once([] { write_1(0); }, [&] { seen = read_1(); }); break;
    case 2: at_once(write_2, [&] { seen = read_2(pair_2); }); break;
    case 3: at_once([] { write_3(1); }, [&] { seen = read_3(row_3, 1); }); break;
    case 4: at_once([] { write_4(0); }, [&] { seen = read_4(); }); break;
    case 5: at_once(write_5, [&] { seen = read_5(outer_5); }); break;
    case 6: at_once(write_6, [&] { seen = read_6(derived_6); }); break;
    case 7: at_once([] { write_7(0); }, [&] { seen = read_7(); }); break;
    case 8: at_once([] { write_8(0); }, [&] { seen = read_8(); }); break;
    case 9: at_once(write_9, [&] { seen = read_9(counted_9); }); break;
    case 10: at_once(write_10, [&] { seen = static_cast<long>(read_10(list_10)); }); break;
    case 11: at_once(write_11, [&] { seen = read_11(whole_11); }); break;
    case 12: at_once([] { guarded_12.change(); }, [&] { seen = read_12(guarded_12); }); break;
    case 13: at_once([] { guarded_12.change(); }, [&] { seen = read_13(guarded_12); }); break;
    case 14: at_once(write_14, [&] { seen = read_14(); }); break;
    case 15: at_once([&] { bank.add(0, 1); }, [&] { bank.add(1, 1); }); break;
    case 16: at_once([&] { add(office, 0, 1); }, [&] { add(office, 1, 1); }); break;
    case 18: at_once(write_18, [&] { seen = read_18(1); }); break;
    case 19: {
      std::FILE* const zeros = std::fopen("/dev/zero", "rb");
      at_once([&] { write_19(record_19, zeros); }, [&] { seen = read_19(record_19); });
      std::fclose(zeros);
      break;
    }
    case 20: at_once([] { write_20(bits_20); }, [&] { seen = read_20(); }); break;
    default: write_17(named_17);
  }
  std::printf("%ld\n", seen);
  return 0;
}
