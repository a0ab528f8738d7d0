// Two threads poll an atomic variable and take turns. Most of their loads find nothing new, and take no lock
// of the runtime's (runtime/atomics.cpp): the one that finds the other's store must be ordered after it, the
// others must not.
#include <atomic>
#include <thread>

#include "twins.h"

namespace {

constexpr int kTurns = 20'000;  // of each

std::atomic<int> turn{0};
std::atomic<int> looked_at{0};
long shared_sum;

// A look at another variable is no look at the turn.
template <std::memory_order kLooks>
void take_turns(int own) {
  for (int i = 0; i < kTurns; ++i) {
    while (turn.load(kLooks) != own) std::this_thread::yield();
    if (looked_at.load(std::memory_order_acquire) == 0) ++shared_sum;  // here: add
    turn.store(1 - own, std::memory_order_release);
  }
}

template <std::memory_order kLooks>
void both() {
  std::thread other([] { take_turns<kLooks>(1); });
  take_turns<kLooks>(0);
  other.join();
}

// The last load comes from a place where the same was loaded before.
volatile int message;
std::atomic<bool> is_ready{false};

[[gnu::noinline]] bool look(std::memory_order order) {
  return order == std::memory_order_acquire ? is_ready.load(std::memory_order_acquire)
                                            : is_ready.load(std::memory_order_relaxed);
}
void receive(std::memory_order order) {
  std::thread sender([] {
    schedule::at(1, [] {
      message = 1;  // here: send
      is_ready.store(true, std::memory_order_release);
    });
  });
  for (int i = 0; i < 10; ++i) look(std::memory_order_acquire);
  schedule::end_turn();
  schedule::wait_for(2);
  if (look(order)) message = 2;  // here: receive
  sender.join();
}

const twins::Cases kCases = {
    {"acquires", both<std::memory_order_acquire>},
    {"relaxed", both<std::memory_order_relaxed>},
    {"acquires_last", [] { receive(std::memory_order_acquire); }},
    {"relaxed_last", [] { receive(std::memory_order_relaxed); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
