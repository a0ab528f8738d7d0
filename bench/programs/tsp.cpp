// The shortest round trip by branch and bound: tours in the making on a shared heap with a mutex, the best
// length read without it to prune and checked again with it. After the tsp of S4's Table 1.
//
// Size: cities; the work grows faster than exponentially. Small: 9.
#include <algorithm>
#include <atomic>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 14, .small = 9};
constexpr int kMost = 16;

// Distances, the same for all once they are drawn.
class Map {
 public:
  Map(int cities, uint64_t seed) : cities_(cities) {
    kernel::Random random(seed);
    for (int i = 0; i < cities; ++i)
      for (int j = 0; j < i; ++j) {
        distance_[i][j] = 10 + static_cast<int>(random.below(90));
        distance_[j][i] = distance_[i][j];
      }
  }
  int cities() const { return cities_; }
  int distance(int from, int to) const { return distance_[from][to]; }

 private:
  int cities_;
  int distance_[kMost][kMost] = {};
};

struct Tour {
  int city[kMost] = {};
  int length = 1;  // cities so far
  int distance = 0;
  unsigned seen = 1;  // bit set of cities
};

// What the threads share: tours to go on with, and the best so far.
class Search {
 public:
  explicit Search(const Map& map) : map_(map) { open_.push_back(Tour()); }

  // False: nothing is left and nobody is making more.
  bool take(Tour& tour) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (open_.empty() && busy_ > 0) changed_.wait(lock);
    if (open_.empty()) return false;
    tour = open_.back();
    open_.pop_back();
    ++busy_;
    return true;
  }
  void add(const Tour& tour) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_.push_back(tour);
    changed_.notify_one();
  }
  void done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--busy_ == 0) changed_.notify_all();
  }
  void found(int distance) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++tours_;
    if (distance < best_.load(std::memory_order_relaxed)) best_.store(distance, std::memory_order_relaxed);
  }
  bool is_hopeless(int distance) const { return distance >= best_.load(std::memory_order_relaxed); }
  int best() const { return best_.load(std::memory_order_relaxed); }
  long tours() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return tours_;
  }
  const Map& map() const { return map_; }

 private:
  const Map& map_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Tour> open_;
  int busy_ = 0;
  long tours_ = 0;
  std::atomic<int> best_ = INT_MAX;
};

// One thread's way through its part of the tree.
class Solver {
 public:
  explicit Solver(Search& search) : search_(search) {}

  void run() {
    Tour tour;
    while (search_.take(tour)) {
      if (tour.length < 4)
        split(tour);
      else
        solve(tour);
      search_.done();
    }
  }
  long visited() const { return visited_; }

 private:
  bool extend(Tour& tour, int city) {
    if ((tour.seen >> city & 1U) != 0) return false;
    tour.distance += search_.map().distance(tour.city[tour.length - 1], city);
    tour.city[tour.length++] = city;
    tour.seen |= 1U << city;
    return true;
  }

  void split(const Tour& tour) {
    for (int city = 1; city < search_.map().cities(); ++city) {
      Tour longer = tour;
      if (extend(longer, city)) search_.add(longer);
    }
  }

  void solve(const Tour& tour) {
    ++visited_;
    if (search_.is_hopeless(tour.distance)) return;
    if (tour.length == search_.map().cities()) {
      search_.found(tour.distance + search_.map().distance(tour.city[tour.length - 1], 0));
      return;
    }
    for (int city = 1; city < search_.map().cities(); ++city) {
      Tour longer = tour;
      if (extend(longer, city)) solve(longer);
    }
  }

  Search& search_;
  long visited_ = 0;
};

// The same by dynamic programming: the shortest way from city 0 through a set of cities to one of them.
int shortest_round_trip(const Map& map) {
  const auto cities = static_cast<unsigned>(map.cities());
  const unsigned sets = 1U << cities;
  std::vector<int> shortest(std::size_t{sets} * cities, INT_MAX);
  const auto way = [&](unsigned set, unsigned last) -> int& {
    return shortest[std::size_t{set} * cities + last];
  };
  const auto distance = [&](unsigned from, unsigned to) {
    return map.distance(static_cast<int>(from), static_cast<int>(to));
  };
  way(1, 0) = 0;
  for (unsigned set = 1; set < sets; ++set)
    for (unsigned last = 0; last < cities; ++last) {
      if (way(set, last) == INT_MAX) continue;
      for (unsigned next = 1; next < cities; ++next)
        if ((set >> next & 1U) == 0) {
          int& longer = way(set | 1U << next, next);
          longer = std::min(longer, way(set, last) + distance(last, next));
        }
    }
  int best = INT_MAX;
  for (unsigned last = 0; last < cities; ++last)
    if (way(sets - 1, last) != INT_MAX) best = std::min(best, way(sets - 1, last) + distance(last, 0));
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("tsp", argc, argv, kSizes);
  const Map map(static_cast<int>(std::min<std::size_t>(program.size(), kMost)), 5);
  Search search(map);
  kernel::run_team(program.threads(), [&](std::size_t) {
    Solver solver(search);
    solver.run();
  });
  program.check_equal("the shortest round trip", static_cast<uint64_t>(search.best()),
                      static_cast<uint64_t>(shortest_round_trip(map)));
  std::printf("tsp: %d cities, shortest %d, %ld tours\n", map.cities(), search.best(), search.tours());
  return 0;
}
