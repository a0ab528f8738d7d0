// Two threads hand over what is no atomic variable by one that is, while the program becomes calm
// (runtime/calm.h): whoever does not tell of the one must not tell of the other.
#include <atomic>
#include <thread>

namespace {

constexpr int kRounds = 300;

std::atomic<int> turn{0};
long handed_over[4];

void take_turns(int own) {
  for (int i = 0; i < kRounds; ++i) {
    while (turn.load(std::memory_order_acquire) != own) std::this_thread::yield();
    for (long& one : handed_over) ++one;
    turn.store(1 - own, std::memory_order_release);
  }
}

}  // namespace

int main() {
  std::thread other([] { take_turns(1); });
  take_turns(0);
  other.join();
  return handed_over[0] == 2 * kRounds ? 0 : 1;
}
