// π from random points in a square. Each iteration counts for itself and adds its count under a lock.
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>
#include <mutex>

namespace {

constexpr int kBatches = 16;
constexpr int kPoints = 500;
std::mutex mutex;
long inside = 0;

double uniform(uint64_t& state) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

}  // namespace

int main() {
  heddle::parallel_for(0, kBatches, [](int batch) {
    uint64_t state = static_cast<uint64_t>(batch) * 0x9E3779B97F4A7C15;
    long hits = 0;
    for (int i = 0; i < kPoints; ++i) {
      const double x = uniform(state);
      const double y = uniform(state);
      if (x * x + y * y < 1) ++hits;
    }
    const std::lock_guard<std::mutex> locked(mutex);
    inside += hits;
  });
  heddle::focus(inside);
  const double pi = 4.0 * static_cast<double>(inside) / (kBatches * kPoints);
  std::printf("pi is about %.2f\n", pi);
  return pi > 3.1 && pi < 3.2 ? 0 : 1;
}
