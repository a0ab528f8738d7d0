// Branch and bound: a solution whose bound is no better than the best cost so far is not looked at. Whether
// that is noticed in time depends on the other iterations, and does not matter: the mark says so.
#include <heddle/heddle.h>

#include <cstdio>
#include <mutex>

#include "interleave.h"

namespace {

std::mutex mutex;
int lowest_cost = 1000;
int best_solution = -1;

int lower_bound_cost(int solution) { return 4 - solution % 2; }
int compute_cost(int solution) { return 4 + solution % 2; }

void consider(int solution) {
  const int bound = lower_bound_cost(solution);
  const int known = lowest_cost;
  if (HEDDLE_MAYBE && bound >= known) return;
  if (solution == 1) {
    interleave::end_turn();
    interleave::wait_for(2);
  }
  const int cost = compute_cost(solution);
  const std::lock_guard<std::mutex> locked(mutex);
  if (cost < lowest_cost) {
    lowest_cost = cost;
    best_solution = solution;
  }
}

}  // namespace

int main() {
  heddle::parallel_for(1, 4, [](int solution) {
    if (solution == 2) interleave::wait_for(1);
    if (solution == 3) interleave::wait_for(2);
    consider(solution);
    if (solution == 2) interleave::end_turn();
  });
  heddle::focus(lowest_cost);
  heddle::focus(best_solution);
  std::printf("solution %d costs %d\n", best_solution, lowest_cost);
}
