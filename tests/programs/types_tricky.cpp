// Locks that are not held where they seem to be, objects that others have though it does not seem so, threads
// that still run. None of the fields x… may be proven, nor the elements of e…; `right` holds what differs by
// a word from the wrong ones.
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
// 1 lock through a reference that may be another object's
struct ByReference {
  std::mutex mu;
  int x1 = 0;
  void set(std::mutex& other) {
    std::lock_guard l(other);
    ++x1;
  }
};
// 2 lock of another instance
struct Other {
  std::mutex mu;
  int x2 = 0;
  void from(Other& o) {
    std::lock_guard l(o.mu);
    ++x2;
  }
};
// 3 callback stored
struct Callback {
  std::mutex mu;
  int x3 = 0;
  std::function<void()> f;
  void arm() {
    std::lock_guard l(mu);
    f = [this] { ++x3; };
  }
  void fire() { f(); }
};
// 4 given back early
struct Early {
  std::mutex mu;
  int x4 = 0;
  void go() {
    std::unique_lock l(mu);
    l.unlock();
    ++x4;
  }
};
// 5 moved unique_lock: lock leaves the scope
struct Moved {
  std::mutex mu;
  int x5 = 0;
  void go() {
    std::unique_lock l(mu);
    {
      std::unique_lock m(std::move(l));
    }
    ++x5;
  }
};
// 6 shared_mutex: reader writes
struct Reader {
  std::shared_mutex mu;
  int x6 = 0;
  void go() {
    std::shared_lock l(mu);
    ++x6;
  }
};
// 7 recursive: inner unlock by hand
struct Recursive {
  std::recursive_mutex mu;
  int x7 = 0;
  void go() {
    std::lock_guard l(mu);
    mu.lock();
    mu.unlock();
    mu.unlock();
    ++x7;
    mu.lock();
  }
};
// 8 exception unlocks
struct Throws {
  std::mutex mu;
  int x8 = 0;
  void go(int n) {
    try {
      std::lock_guard l(mu);
      if (n > 0) throw 1;
    } catch (int) {
      ++x8;
    }
  }
};
// 9 virtual
struct Base {
  virtual ~Base() = default;
  virtual void go() = 0;
  std::mutex mu;
  int x9 = 0;
};
struct Locked : Base {
  void go() override {
    std::lock_guard l(mu);
    ++x9;
  }
};
struct Not : Base {
  void go() override { ++x9; }
};
// 10 alias of a member
struct Alias {
  std::mutex mu;
  int x10 = 0;
  int& ref() { return x10; }
  void go() {
    std::lock_guard l(mu);
    ++x10;
  }
};
// 11 elements by reference, sorted without lock
struct Item {
  int x11 = 0;
  bool operator<(const Item& o) const { return x11 < o.x11; }
};
struct Items {
  std::mutex mu;
  std::vector<Item> all{8};
  std::vector<double> raw = std::vector<double>(8);
  void go(int i) {
    std::lock_guard l(mu);
    ++all[static_cast<std::size_t>(i)].x11;
    raw[0] += 1;
  }
  void sort() { std::sort(all.begin(), all.end()); }
  double& at(std::size_t i) { return raw[i]; }
};
void bump(double& d) { d += 1; }
// 12 a thread that outlives its variable's join: detached in a helper
struct Late {
  int x12 = 0;
};
void detach_all(std::vector<std::thread>& v) {
  for (auto& t : v) t.detach();
}
// 13 moved to a static
std::vector<std::thread> graveyard;
struct Late2 {
  int x13 = 0;
};
// 14 handed on: object published then written
struct Pub {
  int x14 = 0;
};
std::mutex pm;
Pub* shared = nullptr;
// 15 try_lock
struct Try {
  std::mutex mu;
  int x15 = 0;
  void go() {
    std::unique_lock l(mu, std::try_to_lock);
    ++x15;
  }
};
// 16 defer_lock
struct Defer {
  std::mutex mu;
  int x16 = 0;
  void go() {
    std::unique_lock l(mu, std::defer_lock);
    ++x16;
  }
};
// 17-19 ways into the elements that get out of sight: a pointer that is kept, an iterator that is returned, a
// pointer that may lead into either of two
struct Elements {
  std::mutex mu;
  std::vector<int> e17 = std::vector<int>(8);
  std::vector<int> e18 = std::vector<int>(8);
  std::vector<int> e19 = std::vector<int>(8);
  std::vector<int> unlocked = std::vector<int>(8);
  int* kept = nullptr;
  void keep() {
    std::lock_guard l(mu);
    kept = e17.data();
    ++e17[0];
  }
  void use() { ++*kept; }
  std::vector<int>::iterator first() {
    std::lock_guard l(mu);
    ++e18[0];
    return e18.begin();
  }
  void either(bool which) {
    {
      std::lock_guard l(mu);
      ++e19[0];
    }
    int* p = which ? e19.data() : unlocked.data();
    ++*p;
  }
};
// 20 looking up a key makes it
struct Lookup {
  std::shared_mutex mu;
  std::map<int, int> x20;
  int look(int key) {
    std::shared_lock l(mu);
    return x20[key];
  }
};
// 21 growing moves elements that others use by a lock of their own
struct Grown {
  std::mutex own;
  int x21 = 0;
  Grown() = default;
  Grown(const Grown& other) : x21(other.x21) {}
};
struct Growing {
  std::mutex mu;
  std::vector<Grown> e21 = std::vector<Grown>(1);
  Grown& first() {
    std::lock_guard l(mu);
    return e21[0];
  }
  void grow() {
    std::lock_guard l(mu);
    e21.push_back(Grown());
  }
};
// 22 elements that move into a member, while somebody still has a pointer to them
struct Moving {
  std::mutex mu;
  std::vector<int> e22;
  void take() {
    std::vector<int> made(8);
    int* p = made.data();
    {
      std::lock_guard l(mu);
      e22 = std::move(made);
      ++e22[0];
    }
    ++*p;
  }
};

// The twins that are right.
struct Right {
  std::mutex mu;
  std::shared_mutex readers;
  std::vector<int> right7 = std::vector<int>(8);
  std::vector<int> right8 = std::vector<int>(8);
  std::map<int, int> right9;
  std::vector<int> right10;
  void take() {
    std::vector<int> made(8);
    std::lock_guard l(mu);
    right10 = std::move(made);
    ++right10[0];
  }
  int sums() {
    std::lock_guard l(mu);
    int sum = right9[1];
    for (const int value : right7) sum += value;
    for (const int *p = right8.data(), *end = p + right8.size(); p != end; ++p) sum += *p;
    ++right7[0];
    ++right8[0];
    return sum;
  }
  int right1 = 0, right2 = 0, right3 = 0, right4 = 0;
  void locks_later() {
    std::unique_lock l(mu, std::defer_lock);
    l.lock();
    ++right1;
  }
  void adopts() {
    mu.lock();
    std::lock_guard l(mu, std::adopt_lock);
    ++right2;
  }
  int reads() {
    std::shared_lock l(readers);
    return right3;
  }
  void writes() {
    std::unique_lock l(readers);
    ++right3;
  }
  void catches(int n) {
    std::lock_guard l(mu);
    try {
      if (n > 0) throw 1;
    } catch (int) {
      ++right4;
    }
  }
};
struct Joined {
  int right6 = 0;
};

int main() {
  Right right;
  ByReference r;
  Other a, b;
  Callback c;
  Early e;
  Moved m;
  Reader rd;
  Recursive rec;
  Throws th;
  Locked lo;
  Not no;
  Alias al;
  Items it;
  Try tr;
  Defer de;
  Elements el;
  Lookup lu;
  Growing gr;
  Moving mo;
  Base* bases[2] = {&lo, &no};
  c.arm();
  auto body = [&](int n) {
    r.set(n != 0 ? r.mu : a.mu);
    a.from(n != 0 ? a : b);
    c.fire();
    e.go();
    m.go();
    rd.go();
    th.go(n);
    bases[n]->go();
    bases[1]->go();
    bases[0]->go();
    al.go();
    ++al.ref();
    it.go(n);
    it.sort();
    bump(it.at(0));
    tr.go();
    de.go();
    el.keep();
    el.use();
    ++*el.first();
    el.either(n == 0);
    lu.look(n);
    Grown& first = gr.first();
    {
      std::lock_guard l(first.own);
      ++first.x21;
    }
    gr.grow();
    mo.take();
    right.take();
    right.sums();
    if (n == 0) rec.go();
    right.locks_later();
    right.adopts();
    right.writes();
    right.catches(n + right.reads());
  };
  {
    std::thread t(body, 0), u(body, 1);
    t.join();
    u.join();
  }
  rec.go();
  {
    auto* late = new Late;
    std::vector<std::thread> v;
    v.emplace_back([late] { ++late->x12; });
    detach_all(v);
    ++late->x12;
  }
  {
    auto* late = new Late2;
    {
      std::thread t([late] { ++late->x13; });
      graveyard.push_back(std::move(t));
    }
    ++late->x13;
  }
  {
    Pub* p = new Pub;
    {
      std::lock_guard l(pm);
      shared = p;
    }
    std::thread t([] {
      std::lock_guard l(pm);
      ++shared->x14;
    });
    ++p->x14;
    t.join();
  }
  {
    auto* joined = new Joined;
    std::mutex jm;
    {
      std::vector<std::thread> v;
      v.emplace_back([&] { std::lock_guard l(jm); });
      for (auto& t : v) t.join();
      ++joined->right6;
    }
  }
  for (auto& t : graveyard) t.join();
}
