// A thread that waits for an atomic variable to change looks at it very often.
#include <atomic>
#include <thread>

int main() {
  std::atomic<int> flag{0};
  int data = 0;
  std::thread writer([&] {
    data = 1;
    flag.store(1, std::memory_order_release);
  });
  while (flag.load(std::memory_order_acquire) == 0) {
  }
  const int seen = data;
  writer.join();
  return seen == 1 ? 0 : 1;
}
