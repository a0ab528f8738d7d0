// The cheapest of many solutions. What a solution costs takes a while to compute; a lower bound is known at
// once.
#include <heddle/heddle.h>

#include <cstdio>
#include <mutex>

constexpr int kSolutions = 40;

int lowest_cost = 1'000'000;
int best_solution = -1;
std::mutex mutex;  // for both

int lower_bound(int solution) { return 900 - 10 * solution; }

int compute_cost(int solution) {
  unsigned hash = static_cast<unsigned>(solution);
  for (int i = 0; i < 2'000'000; ++i) hash = hash * 1'664'525 + 1'013'904'223;
  return lower_bound(solution) + static_cast<int>(hash % 7);
}

int lowest_cost_so_far() {
  const std::lock_guard<std::mutex> locked(mutex);
  return lowest_cost;
}

void consider(int solution) {
  if (lower_bound(solution) >= lowest_cost_so_far()) return;
  const int cost = compute_cost(solution);
  const std::lock_guard<std::mutex> locked(mutex);
  if (cost < lowest_cost) {
    lowest_cost = cost;
    best_solution = solution;
  }
}

int main() {
  heddle::parallel_for(0, kSolutions, consider);
  heddle::focus(lowest_cost);
  heddle::focus(best_solution);
  std::printf("solution %d costs %d\n", best_solution, lowest_cost);
}
