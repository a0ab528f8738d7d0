// Objects that a std::unique_ptr has, which others know of though it does not seem so: none of the fields x…
// may be proven. `right…` are those that differ by a word.
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

std::mutex list_mutex;

// 1 a pointer is kept beside the owner
struct Kept {
  int x1 = 0;
};
Kept* kept = nullptr;
void keep() {
  auto owner = std::make_unique<Kept>();
  {
    std::lock_guard lock(list_mutex);
    kept = owner.get();
  }
  ++owner->x1;
}
// 2 the owner gets what somebody knows already
struct Known {
  int x2 = 0;
};
Known known;
void adopt() {
  std::unique_ptr<Known> owner;
  owner.reset(&known);
  ++owner->x2;
  owner.release();
}
struct Known2 {
  int x3 = 0;
};
Known2 known2;
void adopt_at_once() {
  std::unique_ptr<Known2> owner(&known2);
  ++owner->x3;
  owner.release();
}
// 4 its constructor tells
struct Telling {
  int x4 = 0;
  Telling() {
    std::lock_guard lock(list_mutex);
    last = this;
  }
  static Telling* last;
};
Telling* Telling::last = nullptr;
void tell() {
  auto owner = std::make_unique<Telling>();
  ++owner->x4;
}
// 5 taken from where others found it before
struct Taken {
  int x5 = 0;
};
struct Shelf {
  std::mutex mu;
  std::unique_ptr<Taken> taken = std::make_unique<Taken>();
  Taken* look() {
    std::lock_guard lock(mu);
    return taken.get();
  }
  std::unique_ptr<Taken> take() {
    std::lock_guard lock(mu);
    return std::move(taken);
  }
};
void take(Shelf& shelf) {
  Taken* const seen = shelf.look();
  std::unique_ptr<Taken> owner = shelf.take();
  if (owner != nullptr) ++owner->x5;
  if (seen != nullptr) ++seen->x5;
}
// 6 who returns it has kept a pointer
struct Listed {
  int x6 = 0;
};
Listed* listed = nullptr;
std::unique_ptr<Listed> make_listed() {
  auto made = std::make_unique<Listed>();
  std::lock_guard lock(list_mutex);
  listed = made.get();
  return made;
}
void use_listed() {
  auto owner = make_listed();
  ++owner->x6;
}
// 7 the lock is another object's by now
struct Locked {
  std::mutex mu;
  int x7 = 0;
};
Locked both[2];
void lock_other(int n) {
  std::unique_ptr<Locked> owner(&both[n]);
  owner->mu.lock();
  owner.release();
  owner.reset(&both[1 - n]);
  ++owner->x7;
  owner.release();
  both[n].mu.unlock();
}
// 8 a thread has the owner
struct Lent {
  int x8 = 0;
};
void lend() {
  auto owner = std::make_unique<Lent>();
  std::thread other([&] { ++owner->x8; });
  ++owner->x8;
  other.join();
}
// 9 exchanged with an owner that all have
struct Swapped {
  int x9 = 0;
};
std::unique_ptr<Swapped> of_all = std::make_unique<Swapped>();
Swapped* seen_by_all = of_all.get();
void exchange() {
  auto owner = std::make_unique<Swapped>();
  {
    std::lock_guard lock(list_mutex);
    std::swap(owner, of_all);
  }
  ++owner->x9;
}
// 10 the parameter is everybody's
struct Given {
  int x10 = 0;
};
std::unique_ptr<Given> given = std::make_unique<Given>();
void use(std::unique_ptr<Given>& owner) { ++owner->x10; }
// 11 a thread's own variable, and somebody has its address
struct Own {
  int x11 = 0;
};
static thread_local Own own;
Own* somebodys = nullptr;
void show() {
  std::lock_guard lock(list_mutex);
  somebodys = &own;
}
void use_own() { ++own.x11; }
// 12 a way to what a thread's own owner has
struct Behind {
  int x12 = 0;
};
static thread_local std::unique_ptr<Behind> behind = std::make_unique<Behind>();
Behind* way = nullptr;
void show_behind() {
  std::lock_guard lock(list_mutex);
  way = behind.get();
}
void use_behind() { ++behind->x12; }

// 13 one of several
struct Several {
  int x13 = 0;
};
Several* one_of_them = nullptr;
void show_one() {
  auto owner = std::make_unique<Several[]>(4);
  {
    std::lock_guard lock(list_mutex);
    one_of_them = &owner[0];
  }
  ++owner.get()->x13;
  owner.release();
}
// 14 by a pointer to the member
struct Pointed {
  std::mutex mu;
  int x14 = 0;
  void add() {
    std::lock_guard lock(mu);
    ++x14;
  }
  void add_by(int Pointed::* member) { ++(this->*member); }
};
// 15 what an optional keeps lies within it
struct Perhaps {
  std::mutex mu;
  std::optional<int> e15 = 1;
  int& get() {
    std::lock_guard lock(mu);
    return *e15;
  }
  void set() {
    std::lock_guard lock(mu);
    e15 = 2;
  }
};
// 16 elements are copied with what has them
struct Row {
  std::mutex mu;
  std::array<int, 4> e16{};
  void set(const std::array<int, 4>& given) {
    std::lock_guard lock(mu);
    e16 = given;
  }
  void add() { ++e16[0]; }
};
struct Cells {
  std::array<int, 4> x17{};
};
struct Table {
  std::mutex mu;
  Cells cells;
  void set(const Cells& given) {
    std::lock_guard lock(mu);
    cells = given;
  }
  void add() { ++cells.x17[0]; }
};

// Nobody else ever knows them.
struct Task {
  int right1 = 0;
  int right2 = 0;
};
std::unique_ptr<Task> make_task(int n) {
  auto made = std::make_unique<Task>();
  made->right1 = n;
  return made;
}
void work(Task& task) { ++task.right1; }
void do_task(int n) {
  auto task = make_task(n);
  work(*task);
  task->right2 = task->right1;
}
static thread_local int right3 = 0;

int main() {
  Shelf shelf;
  Pointed pointed;
  Perhaps perhaps;
  Row row;
  Table table;
  const auto body = [&](int n) {
    keep();
    adopt();
    adopt_at_once();
    tell();
    take(shelf);
    use_listed();
    lock_other(n);
    lend();
    exchange();
    use(given);
    show();
    use_own();
    show_behind();
    use_behind();
    do_task(n);
    show_one();
    pointed.add();
    pointed.add_by(&Pointed::x14);
    ++perhaps.get();
    perhaps.set();
    row.set({1, 2, 3, n});
    row.add();
    table.set({});
    table.add();
    ++right3;
    std::lock_guard lock(list_mutex);
    ++kept->x1;
    ++Telling::last->x4;
    ++listed->x6;
    ++seen_by_all->x9;
    ++somebodys->x11;
    ++way->x12;
    ++one_of_them->x13;
  };
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
}
