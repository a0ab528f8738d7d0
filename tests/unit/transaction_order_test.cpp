// TransactionOrder against the graph it stands for: every transaction kept, every edge searched. Small traces
// (tests/oracle) never fill it up; here it collects all the time.
#include "checkers/transaction_order.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace heddle {
namespace {

using Order = TransactionOrder<Since>;

Since nothing() { return {}; }

TEST(TransactionOrder, AnEdgeBackClosesACycle) {
  Order order;
  const TransactionHandle a = order.open();
  const TransactionHandle b = order.open();
  EXPECT_FALSE(order.add(a, nothing(), b));
  EXPECT_TRUE(order.add(b, nothing(), a));
  EXPECT_FALSE(order.add(a, nothing(), b)) << "the edge that would close a cycle is left out";
}

TEST(TransactionOrder, AFinishedTransactionWithNobodyBeforeItIsForgotten) {
  Order order;
  const TransactionHandle a = order.open();
  const TransactionHandle b = order.open();
  order.close(a);
  EXPECT_FALSE(order.exists(a));
  EXPECT_FALSE(order.add(a, nothing(), b));
  EXPECT_EQ(order.size(), 1U);
}

TEST(TransactionOrder, ForgettingCascadesWhenSomebodyLooks) {
  Order order;
  const TransactionHandle a = order.open();
  const TransactionHandle b = order.open();
  const TransactionHandle c = order.open();
  order.add(a, nothing(), b);
  order.close(b);
  EXPECT_TRUE(order.exists(b)) << "a is open and comes before it";
  order.close(a);
  order.add(b, nothing(), c);
  EXPECT_FALSE(order.exists(b));
  EXPECT_EQ(order.size(), 1U);
}

TEST(TransactionOrder, TheParentsOfAFinishedParentTakeItsPlace) {
  Order order;
  const TransactionHandle a = order.open();
  const TransactionHandle b = order.open();
  const TransactionHandle c = order.open();
  order.add(b, nothing(), c);
  order.close(c);
  order.add(a, nothing(), b);  // after c has finished: a comes before c through b
  order.close(b);
  EXPECT_TRUE(order.add(c, nothing(), a));
}

TEST(TransactionOrder, TheStoryGoesBackToTheFirstTransactionOnTheWay) {
  Order order;
  const TransactionHandle a = order.open();
  const TransactionHandle b = order.open();
  const TransactionHandle c = order.open();
  order.add(a, {30}, b);
  order.add(b, {10}, c);
  order.close(b);
  const auto cycle = order.add(c, {20}, a);
  ASSERT_TRUE(cycle);
  EXPECT_EQ(cycle->first, 10U);
}

// Many readers of one long transaction: what is kept does not grow with their number.
TEST(TransactionOrder, CollectsWhatNobodyRefersTo) {
  Order order;
  const TransactionHandle session = order.open();
  TransactionHandle last;
  for (int i = 0; i < 100'000; ++i) {
    const TransactionHandle reader = order.open();
    order.add(session, nothing(), reader);
    order.add(last, nothing(), reader);
    order.close(reader);
    last = reader;
    if (order.is_full(1)) order.collect([&](auto keep) { keep(last); });
  }
  EXPECT_LT(order.size(), 20'000U);
  EXPECT_TRUE(order.add(last, nothing(), session));
}

// The whole graph, searched for every question.
class Graph {
 public:
  int add_node() {
    after_.emplace_back();
    return static_cast<int>(after_.size()) - 1;
  }
  void add_edge(int from, int to) { after_[static_cast<std::size_t>(from)].insert(to); }
  bool reaches(int from, int to) const {
    std::set<int> seen{from};
    std::vector<int> work{from};
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      if (node == to) return true;
      for (const int next : after_[static_cast<std::size_t>(node)])
        if (seen.insert(next).second) work.push_back(next);
    }
    return false;
  }

 private:
  std::vector<std::set<int>> after_;
};

// Up to the first cycle, with a few open transactions, a few variables that remember somebody, and threads
// outside any block.
void compare_with_graph(uint64_t seed, int& cycles) {
  struct Node {
    TransactionHandle handle;
    int number = -1;  // in the graph; -1: nothing
  };
  Random random(seed);
  Order order;
  Graph graph;
  std::vector<Node> open(3);       // transactions
  std::vector<Node> outside(3);    // what threads outside any block have seen
  std::vector<Node> variables(4);  // last accesses
  const auto any = [&](std::vector<Node>& nodes) -> Node& {
    return nodes[random.below(static_cast<uint32_t>(nodes.size()))];
  };
  for (int step = 0; step < 300; ++step) {
    Node& transaction = any(open);
    Node& variable = any(variables);
    switch (random.below(8)) {
      case 0:  // begins, after what a thread has seen
        if (transaction.number >= 0) break;
        transaction = {order.open(), graph.add_node()};
        if (Node& seen = any(outside); seen.number >= 0) {
          order.inherit(seen.handle, transaction.handle);
          graph.add_edge(seen.number, transaction.number);
        }
        break;
      case 1:
        if (transaction.number < 0) break;
        order.close(transaction.handle);
        transaction = {};
        break;
      case 2:
      case 3:  // writes
        if (transaction.number >= 0) variable = transaction;
        break;
      case 4:
      case 5: {  // reads
        if (transaction.number < 0 || variable.number < 0 || transaction.number == variable.number) break;
        const bool cycle = order.add(variable.handle, nothing(), transaction.handle).has_value();
        ASSERT_EQ(cycle, graph.reaches(transaction.number, variable.number))
            << "seed " << seed << ", step " << step;
        if (cycle) {
          ++cycles;
          return;
        }
        graph.add_edge(variable.number, transaction.number);
        break;
      }
      case 6: {  // a thread outside reads, and perhaps writes
        if (variable.number < 0) break;
        Node& seen = any(outside);
        bool fresh = false;
        const int number = graph.add_node();
        if (seen.number >= 0) graph.add_edge(seen.number, number);
        graph.add_edge(variable.number, number);
        seen = {order.extend(seen.handle, fresh, variable.handle, nothing()), number};
        if (random.below(2) == 0) any(variables) = seen;
        break;
      }
      case 7:
        order.collect([&](auto keep) {
          for (const std::vector<Node>* nodes : {&open, &outside, &variables})
            for (const Node& node : *nodes) keep(node.handle);
        });
        break;
      default: break;
    }
  }
}

TEST(TransactionOrder, EqualsTheGraphItStandsFor) {
  int cycles = 0;
  for (uint64_t seed = 0; seed < 3000 && !HasFatalFailure(); ++seed) compare_with_graph(seed, cycles);
  EXPECT_GT(cycles, 1000) << "too few of the random graphs have a cycle to prove much";
}

}  // namespace
}  // namespace heddle
