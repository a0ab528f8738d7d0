// The cheapest trees for a few species, by branch and bound: all that cost least are kept in a list.
// `phylogeny` looks whether a tree is cheaper and adds it in two steps, so that a list of cheapest trees may
// keep dearer ones; `phylogeny fixed` does both in one.
#include <heddle/heddle.h>

#include <cstdio>
#include <mutex>
#include <vector>

#include "interleave.h"

namespace {

constexpr int kTrees = 12;
bool is_fixed = false;

std::mutex mutex;
int lowest_cost = 1000;
int best_count = 0;
int best_trees[kTrees];

int cost_of(int tree) { return tree == 1 ? 3 : tree == 0 ? 4 : 5 + tree % 3; }
int bound_of(int tree) { return cost_of(tree) - 1; }

int known_cost() {
  const std::lock_guard<std::mutex> locked(mutex);
  return lowest_cost;
}
void start_list(int tree, int cost) {
  const std::lock_guard<std::mutex> locked(mutex);
  lowest_cost = cost;
  best_trees[0] = tree;
  best_count = 1;
}
void add_to_list(int tree) {
  const std::lock_guard<std::mutex> locked(mutex);
  best_trees[best_count++] = tree;
}

void consider(int tree) {
  if (HEDDLE_MAYBE && bound_of(tree) > known_cost()) return;
  const int cost = cost_of(tree);
  if (is_fixed) {
    const std::lock_guard<std::mutex> locked(mutex);
    if (cost < lowest_cost) {
      lowest_cost = cost;
      best_trees[0] = tree;
      best_count = 1;
    } else if (cost == lowest_cost) {
      best_trees[best_count++] = tree;
    }
    return;
  }
  const int known = known_cost();
  if (tree == 0) {
    interleave::end_turn();
    interleave::wait_for(2);
  }
  if (cost < known) {
    start_list(tree, cost);
  } else if (cost == known) {
    add_to_list(tree);
  }
}

}  // namespace

int main(int count, char**) {
  is_fixed = count > 1;
  heddle::parallel_for(0, kTrees, [](int tree) {
    if (!is_fixed && tree == 1) interleave::wait_for(1);
    if (!is_fixed && tree > 1) interleave::wait_for(2);
    consider(tree);
    if (!is_fixed && tree == 1) interleave::end_turn();
  });
  heddle::focus(lowest_cost);
  heddle::focus(best_count);
  heddle::focus(best_trees);
  std::printf("%d of the cheapest trees, at cost %d\n", best_count, lowest_cost);
  const bool is_right = best_count == 1 && best_trees[0] == 1 && lowest_cost == cost_of(1);
  return is_fixed && !is_right ? 1 : 0;
}
