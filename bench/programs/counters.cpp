// Requests that are counted by atomic variables: a histogram of relaxed counters, settings behind a
// shared_ptr of which every thread takes a copy now and then, a flag that asks all to stop, and a record of
// the slowest request under a spin lock.
//
// Size: requests, all threads together; the work is proportional. Small: 400000.
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 20'000'000, .small = 400'000};

constexpr std::size_t kBuckets = 64;
constexpr std::size_t kRequestsPerLook = 16;  // at the settings

struct Settings {
  uint64_t cost;   // of each unit of a request
  uint64_t units;  // the most that a request has
};

class SpinLock {
 public:
  void lock() {
    while (is_taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { is_taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag is_taken_ = ATOMIC_FLAG_INIT;
};

struct Server {
  std::shared_ptr<const Settings> settings = std::make_shared<const Settings>(Settings{3, kBuckets});
  std::array<std::atomic<uint64_t>, kBuckets> histogram = {};
  std::atomic<uint64_t> total_cost{0};
  std::atomic<bool> is_stopping{false};
  SpinLock lock;
  uint64_t slowest = 0;    // under the lock
  uint64_t slow_ones = 0;  // likewise
};

void work(Server& server, std::size_t requests, std::size_t thread) {
  kernel::Random random(thread);
  std::shared_ptr<const Settings> settings;
  for (std::size_t i = 0; i < requests && !server.is_stopping.load(std::memory_order_acquire); ++i) {
    if (i % kRequestsPerLook == 0) settings = server.settings;
    const uint64_t units = random.below(settings->units);
    const uint64_t cost = units * settings->cost;
    server.histogram[units].fetch_add(1, std::memory_order_relaxed);
    server.total_cost.fetch_add(cost, std::memory_order_relaxed);
    if (units + 1 < settings->units) continue;
    server.lock.lock();
    if (cost > server.slowest) server.slowest = cost;
    ++server.slow_ones;
    server.lock.unlock();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("counters", argc, argv, kSizes);
  Server server;
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(program.size(), program.threads(), thread);
    work(server, mine.end - mine.begin, thread);
  });

  uint64_t requests = 0;
  uint64_t cost = 0;
  for (std::size_t units = 0; units < kBuckets; ++units) {
    const uint64_t count = server.histogram[units].load(std::memory_order_relaxed);
    requests += count;
    cost += count * units * server.settings->cost;
  }
  program.check_equal("the number of requests", requests, program.size());
  program.check_equal("what they cost", server.total_cost.load(), cost);
  program.check_equal("the number of slow ones", server.slow_ones,
                      server.histogram[kBuckets - 1].load(std::memory_order_relaxed));
  std::printf("counters: %zu requests, the slowest cost %llu\n", program.size(),
              static_cast<unsigned long long>(server.slowest));
  return 0;
}
