// A concurrent hash map of counters, whose locks are striped: each stripe has a part of the keys, a shared
// mutex and a table that grows. Threads look keys up (shared), count them up and take their counts away
// (exclusive).
//
// Size: operations, all threads together; the work is proportional. Small: 300000.
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 15'000'000, .small = 300'000};

constexpr std::size_t kStripes = 16;
constexpr std::size_t kKeys = 20'000;

// A chained hash table for one thread at a time, or for many that only look up.
class Table {
 public:
  Table() : buckets_(8) {}

  const uint64_t* find(uint64_t key, std::size_t hash) const {
    for (const Node* node = buckets_[hash % buckets_.size()].get(); node != nullptr; node = node->next.get())
      if (node->key == key) return &node->value;
    return nullptr;
  }

  // The key's value, which is 0 when the key is new.
  uint64_t& value(uint64_t key, std::size_t hash) {
    for (Node* node = buckets_[hash % buckets_.size()].get(); node != nullptr; node = node->next.get())
      if (node->key == key) return node->value;
    if (size_ >= buckets_.size()) grow();
    std::unique_ptr<Node>& head = buckets_[hash % buckets_.size()];
    head = std::make_unique<Node>(Node{.key = key, .hash = hash, .value = 0, .next = std::move(head)});
    ++size_;
    return head->value;
  }

  // Removes the key and returns its value.
  std::optional<uint64_t> remove(uint64_t key, std::size_t hash) {
    std::unique_ptr<Node>* link = &buckets_[hash % buckets_.size()];
    while (*link != nullptr && (*link)->key != key) link = &(*link)->next;
    if (*link == nullptr) return std::nullopt;
    const uint64_t value = (*link)->value;
    *link = std::move((*link)->next);
    --size_;
    return value;
  }

  std::size_t size() const { return size_; }

  uint64_t sum_of_values() const {
    uint64_t sum = 0;
    for (const std::unique_ptr<Node>& head : buckets_)
      for (const Node* node = head.get(); node != nullptr; node = node->next.get()) sum += node->value;
    return sum;
  }

 private:
  struct Node {
    uint64_t key;
    std::size_t hash;
    uint64_t value;
    std::unique_ptr<Node> next;
  };

  void grow() {
    std::vector<std::unique_ptr<Node>> larger(2 * buckets_.size());
    for (std::unique_ptr<Node>& head : buckets_) {
      while (head != nullptr) {
        std::unique_ptr<Node> node = std::move(head);
        head = std::move(node->next);
        std::unique_ptr<Node>& new_head = larger[node->hash % larger.size()];
        node->next = std::move(new_head);
        new_head = std::move(node);
      }
    }
    buckets_ = std::move(larger);
  }

  std::vector<std::unique_ptr<Node>> buckets_;
  std::size_t size_ = 0;
};

class CounterMap {
 public:
  CounterMap() : stripes_(kStripes) {}

  std::optional<uint64_t> find(uint64_t key) const {
    const std::size_t hash = hash_of(key);
    const Stripe& stripe = stripes_[hash % kStripes];
    const std::shared_lock lock(stripe.mutex);
    const uint64_t* value = stripe.table.find(key, hash / kStripes);
    return value != nullptr ? std::optional(*value) : std::nullopt;
  }

  void add(uint64_t key, uint64_t amount) {
    const std::size_t hash = hash_of(key);
    Stripe& stripe = stripes_[hash % kStripes];
    const std::lock_guard lock(stripe.mutex);
    stripe.table.value(key, hash / kStripes) += amount;
  }

  // Removes the key and returns what was counted for it.
  std::optional<uint64_t> take(uint64_t key) {
    const std::size_t hash = hash_of(key);
    Stripe& stripe = stripes_[hash % kStripes];
    const std::lock_guard lock(stripe.mutex);
    return stripe.table.remove(key, hash / kStripes);
  }

  // Exact only while nobody changes the map.
  std::size_t size() const {
    std::size_t sum = 0;
    for (const Stripe& stripe : stripes_) {
      const std::shared_lock lock(stripe.mutex);
      sum += stripe.table.size();
    }
    return sum;
  }

  uint64_t sum_of_values() const {
    uint64_t sum = 0;
    for (const Stripe& stripe : stripes_) {
      const std::shared_lock lock(stripe.mutex);
      sum += stripe.table.sum_of_values();
    }
    return sum;
  }

 private:
  struct Stripe {
    mutable std::shared_mutex mutex;  // guards table
    Table table;
  };

  static std::size_t hash_of(uint64_t key) { return static_cast<std::size_t>(kernel::Random(key).next()); }

  std::vector<Stripe> stripes_;
};

// What one thread did; a counter is never 0, so what is found is at least 1.
struct Tally {
  uint64_t added = 0;
  uint64_t taken = 0;
  uint64_t found_zero = 0;
};

// Of ten operations six look up, three add and one takes, on random keys.
Tally work(CounterMap& map, std::size_t operations, std::size_t thread) {
  kernel::Random random(thread);
  Tally tally;
  for (std::size_t i = 0; i < operations; ++i) {
    const uint64_t key = random.below(kKeys);
    const std::size_t choice = random.below(10);
    if (choice < 6) {
      const std::optional<uint64_t> found = map.find(key);
      if (found && *found == 0) ++tally.found_zero;
    } else if (choice < 9) {
      const uint64_t amount = 1 + random.below(100);
      map.add(key, amount);
      tally.added += amount;
    } else {
      tally.taken += map.take(key).value_or(0);
    }
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("hashmap", argc, argv, kSizes);
  CounterMap map;
  std::vector<Tally> tallies(program.threads());
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(program.size(), program.threads(), thread);
    tallies[thread] = work(map, mine.end - mine.begin, thread);
  });

  Tally sum;
  for (const Tally& tally : tallies) {
    sum.added += tally.added;
    sum.taken += tally.taken;
    sum.found_zero += tally.found_zero;
  }
  program.check_equal("what is left and what was taken", map.sum_of_values() + sum.taken, sum.added);
  program.check_equal("how often a counter was 0", sum.found_zero, 0);
  // What the map says key by key agrees with what it says as a whole.
  uint64_t values = 0;
  std::size_t keys = 0;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const std::optional<uint64_t> found = map.find(key);
    values += found.value_or(0);
    keys += found.has_value() ? 1 : 0;
  }
  program.check_equal("the sum of the values found by key", values, map.sum_of_values());
  program.check_equal("the number of keys found", keys, map.size());
  std::printf("hashmap: %zu operations, %zu keys left, %llu added, %llu taken\n", program.size(), keys,
              static_cast<unsigned long long>(sum.added), static_cast<unsigned long long>(sum.taken));
  return 0;
}
