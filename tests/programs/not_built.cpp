// Two locks in opposite orders. The second thread begins when the first is done, known by a flag that orders
// nothing, so that the program always ends.
#include <atomic>
#include <mutex>
#include <thread>

std::mutex first;
std::mutex second;
std::atomic<bool> is_done = false;

int main() {
  std::thread one([] {
    {
      const std::lock_guard outer(first);
      const std::lock_guard inner(second);
    }
    is_done.store(true, std::memory_order_relaxed);
  });
  std::thread other([] {
    while (!is_done.load(std::memory_order_relaxed)) std::this_thread::yield();
    const std::lock_guard outer(second);
    const std::lock_guard inner(first);
  });
  one.join();
  other.join();
}
