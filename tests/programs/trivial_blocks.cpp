// A class whose functions do nothing, one access, or more.
#include <mutex>
#include <thread>

class Pair {
 public:
  std::mutex& mutex() { return mutex_; }
  long first() const { return first_; }
  void set_first(long value) { first_ = value; }
  long sum() const { return first_ + second_; }
  void add(long value) { first_ += value; }
  std::mutex& counted_mutex() {
    ++first_;
    return mutex();
  }

 private:
  std::mutex mutex_;
  long first_ = 1;
  long second_ = 2;
};

int main() {
  Pair pair;
  std::thread other([&] {
    const std::lock_guard lock(pair.mutex());
    pair.set_first(pair.first() + 4);
  });
  other.join();
  std::thread last([&] {
    const std::lock_guard lock(pair.counted_mutex());
    pair.add(pair.sum());
  });
  last.join();
  return pair.sum() == 16 ? 0 : 1;
}
