// Elements of vectors that are locked by one name and used by another: the same number, or the lower and the
// higher of two numbers. Each class has its own way, right or wrong; all of them are used by two threads.
#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// The macro makes classes, since what is proven is said of classes.
#define ELEMENT(name)       \
  struct name {             \
    std::mutex mu;          \
    long value = 0;         \
    void add() { ++value; } \
  }

ELEMENT(SameNumber);
ELEMENT(SameInt);
ELEMENT(Thrice);
ELEMENT(LowerAndHigher);
ELEMENT(OnlyLower);
ELEMENT(OtherPair);
ELEMENT(OtherNumber);
ELEMENT(NextRound);
ELEMENT(Changed);
ELEMENT(Growing);
ELEMENT(OtherVector);

struct RightRow {
  std::vector<SameNumber> same = std::vector<SameNumber>(8);
  std::vector<SameInt> same_int = std::vector<SameInt>(8);
  std::vector<Thrice> thrice = std::vector<Thrice>(8);
  std::vector<LowerAndHigher> both = std::vector<LowerAndHigher>(8);

  void add_same(std::size_t i) {
    const std::lock_guard lock(same[i].mu);
    same[i].add();
    ++same[i].value;
  }
  void add_same_int(int i) {
    const std::lock_guard lock(same_int[i].mu);
    same_int[i].add();
  }
  void add_thrice(std::size_t i) {
    std::mutex* const unused = &thrice[i].mu;
    const std::lock_guard lock(thrice[i].mu);
    if (unused != nullptr) ++thrice[i].value;
  }
  void move(std::size_t from, std::size_t to) {
    const std::lock_guard first(both[std::min(from, to)].mu);
    const std::lock_guard second(both[std::max(from, to)].mu);
    both[from].add();
    both[to].add();
  }
};

struct WrongRow {
  std::vector<OnlyLower> lower = std::vector<OnlyLower>(8);
  std::vector<OtherPair> pair = std::vector<OtherPair>(8);
  std::vector<OtherNumber> other = std::vector<OtherNumber>(8);
  std::vector<NextRound> round = std::vector<NextRound>(8);
  std::vector<Changed> changed = std::vector<Changed>(8);
  std::vector<Growing> growing = std::vector<Growing>(8);
  std::vector<OtherVector> one = std::vector<OtherVector>(8);
  std::vector<OtherVector> another = std::vector<OtherVector>(8);

  void use_lower(std::size_t from, std::size_t to) {
    const std::lock_guard first(lower[std::min(from, to)].mu);
    lower[from].add();
  }
  // The two bounds are not of the same pair.
  void use_pair(std::size_t from, std::size_t to, std::size_t third) {
    const std::lock_guard first(pair[std::min(from, to)].mu);
    const std::lock_guard second(pair[std::max(from, third)].mu);
    pair[from].add();
  }
  void use_other(std::size_t i) {
    const std::lock_guard lock(other[i].mu);
    other[i + 1].add();
  }
  // The lock of one round, the element of the next.
  void use_rounds() {
    std::unique_lock<std::mutex> lock;
    for (std::size_t i = 0; i < 8; ++i) {
      if (i > 0) round[i].add();
      lock = std::unique_lock(round[i].mu);
    }
  }
  // The number is another one by then.
  void use_changed(std::size_t i) {
    std::size_t* const number = &i;
    const std::lock_guard lock(changed[i].mu);
    ++*number;
    changed[i].add();
  }
  // The element is another one by then.
  void use_growing(std::size_t i) {
    const std::lock_guard lock(growing[i].mu);
    std::vector<Growing> larger(16);
    growing.swap(larger);
    growing[i].add();
  }
  void use_vectors(std::size_t i) {
    const std::lock_guard lock(one[i].mu);
    another[i].add();
  }
};

int main(int argc, char**) {
  RightRow right;
  WrongRow wrong;
  const auto use = [&] {
    const auto number = static_cast<std::size_t>(argc);
    right.add_same(number);
    right.add_same_int(argc);
    right.add_thrice(number);
    right.move(number, number + 1);
    right.move(number + 1, number);
    if (argc == 1) return;
    wrong.use_lower(number + 1, number);
    wrong.use_pair(number, number + 1, number + 2);
    wrong.use_other(number);
    wrong.use_rounds();
    wrong.use_changed(number);
    wrong.use_growing(number);
    wrong.use_vectors(number);
  };
  std::thread other(use);
  use();
  other.join();
}
