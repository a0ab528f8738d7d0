// S1's own way to decide a pair of transactions, blocks and patterns, derived and compared.
//
// The table of two-variable cases that the paper only samples is derived here by trying all interleavings of
// four events against both serial orders. One rule says it all: an interleaving is unserializable iff both
// variables have a conflict and the two conflicts go in opposite directions. With that table, the
// one-variable blocks B1 to B3 and any test of feasibility, Thm 5.2 and 5.4 hold as iff: a pair is atomic iff
// no schedule shows a pattern. `blocks` works by the rule and not by the table, over all variables at once
// (checkers/predictive/pair_check.h); the last law holds it against the table.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "interleaving_oracle.h"
#include "support/read_events.h"
#include "support/table.h"

namespace heddle::test {
namespace {

// An access of transaction 0 or 1.
struct Access {
  int transaction = 0;
  char variable = 'x';
  bool writes = false;
  bool is_final = false;  // the final write of its variable in its transaction
  std::size_t place = 0;  // in its transaction

  friend bool operator==(const Access&, const Access&) = default;
};
using Order = std::vector<Access>;

// What a serial order must preserve of an order: whom each read sees, and who is last, where both that write
// are known to be final.
struct Seen {
  std::map<std::pair<int, std::size_t>, std::pair<int, std::size_t>> reads;
  std::map<char, int> last;

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen_in(const Order& order) {
  Seen seen;
  std::map<char, std::pair<int, std::size_t>> written;
  std::map<char, std::set<int>> finals;
  for (const Access& access : order) {
    if (access.writes) {
      written[access.variable] = {access.transaction, access.place};
      if (access.is_final) finals[access.variable].insert(access.transaction);
      if (access.is_final) seen.last[access.variable] = access.transaction;
    } else {
      const auto from = written.find(access.variable);
      seen.reads[{access.transaction, access.place}] =
          from == written.end() ? std::pair<int, std::size_t>(-1, 0) : from->second;
    }
  }
  std::erase_if(seen.last, [&](const auto& entry) { return finals[entry.first].size() < 2; });
  return seen;
}

bool is_serializable(const Order& order) {
  for (const int first : {0, 1}) {
    Order serial;
    for (const int transaction : {first, 1 - first})
      std::copy_if(order.begin(), order.end(), std::back_inserter(serial),
                   [&](const Access& access) { return access.transaction == transaction; });
    if (seen_in(serial) == seen_in(order)) return true;
  }
  return false;
}

// The rule behind the table.
bool conflicts_are_opposed(const Order& order) {
  std::set<int> directions;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j)
      if (order[i].transaction != order[j].transaction && order[i].variable == order[j].variable &&
          (order[i].writes || order[j].writes))
        directions.insert(order[i].transaction);
  return directions.size() == 2;
}

// All 32 pairs of 2-blocks over x and y, and the 6 interleavings of each.
TEST(BlockPatterns, TheTwoVariableTableIsOneRule) {
  std::size_t unserializable_pairs = 0;
  std::size_t unserializable = 0;
  for (unsigned kinds = 0; kinds < 16; ++kinds) {
    for (const bool crossed : {false, true}) {
      const auto access = [&](int transaction, unsigned place) {
        const bool second_is_y = (place == 1) != (transaction == 1 && crossed);
        return Access{transaction, second_is_y ? 'y' : 'x',
                      (kinds >> (2 * transaction + static_cast<int>(place)) & 1U) != 0, true, place};
      };
      bool any = false;
      for (unsigned pattern = 0; pattern < 16; ++pattern) {
        Order order;
        std::array<unsigned, 2> done{};
        for (unsigned i = 0; i < 4; ++i) {
          const int transaction = static_cast<int>(pattern >> i & 1U);
          order.push_back(access(transaction, done[static_cast<std::size_t>(transaction)]++));
        }
        if (done[0] != 2) continue;
        const bool bad = !is_serializable(order);
        EXPECT_EQ(bad, conflicts_are_opposed(order)) << "kinds " << kinds << ", interleaving " << pattern;
        unserializable += bad ? 1 : 0;
        any |= bad;
      }
      unserializable_pairs += any ? 1 : 0;
    }
  }
  // Both variables conflict in 9 of the 16 choices of kinds; crossed or not, each has such an interleaving.
  EXPECT_EQ(unserializable_pairs, 18U);
  EXPECT_EQ(unserializable, 54U);
}

using Transaction = std::vector<Access>;
using Block = std::vector<Access>;  // one or two accesses

Transaction with_finals(Transaction transaction) {
  std::set<char> known;
  for (auto access = transaction.rbegin(); access != transaction.rend(); ++access)
    if (access->writes) access->is_final = known.insert(access->variable).second;
  return transaction;
}

// B1 to B3, after projection to one variable, so that a variable accessed once has its block of one.
std::vector<Block> one_variable_blocks(const Transaction& transaction, char variable) {
  Transaction of;
  std::copy_if(transaction.begin(), transaction.end(), std::back_inserter(of),
               [&](const Access& access) { return access.variable == variable; });
  if (of.size() == 1) return {{of[0]}};
  std::vector<Block> blocks;
  const auto add = [&](const Access& first, const Access& second) {
    if (std::find(blocks.begin(), blocks.end(), Block{first, second}) == blocks.end())
      blocks.push_back({first, second});
  };
  for (std::size_t second = 1; second < of.size(); ++second) {
    std::size_t first = second;
    for (std::size_t i = 0; i < second; ++i)
      if (of[i].writes) first = i;
    if (first == second) first = second - 1;  // B1(a): no write before it, so the last read
    add(of[first], of[second]);
    for (std::size_t i = 0; i < second && !of[i].writes; ++i)
      if (of[second].is_final) add(of[i], of[second]);  // B1(b)
  }
  return blocks;
}

// Uninitialized reads and final writes of different variables, two at a time.
std::vector<Block> two_variable_blocks(const Transaction& transaction) {
  Transaction ends;
  std::set<char> written;
  for (const Access& access : transaction) {
    if (access.writes ? access.is_final : !written.contains(access.variable)) ends.push_back(access);
    if (access.writes) written.insert(access.variable);
  }
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (std::size_t j = i + 1; j < ends.size(); ++j)
      if (ends[i].variable != ends[j].variable) blocks.push_back({ends[i], ends[j]});
  return blocks;
}

// The schedule restricted to the accesses of two blocks.
Order restricted(const Order& order, const Block& a, const Block& b) {
  Order result;
  for (const Access& access : order)
    if (std::count(a.begin(), a.end(), access) + std::count(b.begin(), b.end(), access) > 0)
      result.push_back(access);
  return result;
}

bool shows_pattern(const Order& order, const Transaction& first, const Transaction& second) {
  for (const char variable : {'x', 'y', 'z'})
    for (const Block& a : one_variable_blocks(first, variable))
      for (const Block& b : one_variable_blocks(second, variable))
        if (!is_serializable(restricted(order, a, b))) return true;
  for (const Block& a : two_variable_blocks(first))
    for (const Block& b : two_variable_blocks(second))
      if (conflicts_are_opposed(restricted(order, a, b))) return true;
  return false;
}

// (11) and (12)
TEST(BlockPatterns, BlocksOfExample11) {
  const Transaction transaction =
      with_finals({{0, 'x', false, false, 0}, {0, 'x', true, false, 1}, {0, 'x', false, false, 2}});
  const std::vector<Block> blocks = one_variable_blocks(transaction, 'x');
  const std::vector<Block> expected = {{transaction[0], transaction[1]}, {transaction[1], transaction[2]}};
  EXPECT_EQ(blocks, expected);
  EXPECT_TRUE(transaction[1].is_final);
}

// (14): alike but for their places, which the tuples of the paper leave out.
TEST(BlockPatterns, BlocksOfExample14) {
  Transaction transaction;
  for (std::size_t i = 0; i < 6; ++i) transaction.push_back({0, 'x', false, false, i});
  std::set<std::pair<bool, bool>> kinds;
  for (const Block& block : one_variable_blocks(transaction, 'x'))
    kinds.insert({block[0].writes, block[1].writes});
  EXPECT_EQ(kinds.size(), 1U);
}

// (13): without B1(b) the lost update would be missed.
TEST(BlockPatterns, Example13NeedsTheEndToEndBlock) {
  const Transaction first =
      with_finals({{0, 'x', false, false, 0}, {0, 'x', true, false, 1}, {0, 'x', true, false, 2}});
  const Transaction second = with_finals({{1, 'x', true, false, 0}});
  EXPECT_TRUE(shows_pattern({first[0], first[1], second[0], first[2]}, first, second));
}

// (15): no three of the four events may be taken alone.
TEST(BlockPatterns, Example15IsSerializable) {
  const Transaction first =
      with_finals({{0, 'x', true, false, 0}, {0, 'x', false, false, 1}, {0, 'x', false, false, 2}});
  const Transaction second = with_finals({{1, 'x', true, false, 0}, {1, 'x', true, false, 1}});
  EXPECT_FALSE(shows_pattern({second[0], first[0], first[1], first[2], second[1]}, first, second));
}

std::string random_block(int thread, bool locks) {
  const auto pick = [](int count) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, count)); };
  std::string text = fmt::format("T{0}|begin(b{0})|\n", thread);
  bool held = false;
  for (int i = pick(5) + 1; i > 0; --i) {
    const int kind = pick(locks ? 6 : 4);
    if (kind >= 4) {
      text += fmt::format("T{}|{}(m)|\n", thread, held ? "rel" : "acq");
      held = !held;
    } else {
      text += fmt::format("T{}|{}({})|\n", thread, kind % 2 == 0 ? "r" : "w", "xyz"[pick(3)]);
    }
  }
  if (held) text += fmt::format("T{}|rel(m)|\n", thread);
  return text + fmt::format("T{}|end|\n", thread);
}

// Thm 5.2 and 5.4, as iff, over every schedule of two blocks.
RC_GTEST_PROP(BlockPatternsLaw, APairIsAtomicIffNoScheduleShowsAPattern, ()) {
  const bool locks = *rc::gen::arbitrary<bool>();
  const std::string trace = random_block(0, locks) + random_block(1, locks);
  RC_LOG() << trace;
  const std::vector<Event> events = read_events(trace);
  const oracle::Interleavings all(events);
  RC_PRE(all.transactions().size() == 2U);
  std::map<std::size_t, Access> access_of;
  std::array<Transaction, 2> transactions;
  TextReader names("trace", trace);
  while (!names.next().empty()) {
  }
  for (int t = 0; t < 2; ++t) {
    Transaction& transaction = transactions[static_cast<std::size_t>(t)];
    std::vector<std::size_t> places;
    for (const std::size_t i : all.transactions()[static_cast<std::size_t>(t)].events) {
      const Operation operation = events[i].operation;
      if (operation != Operation::kRead && operation != Operation::kWrite) continue;
      transaction.push_back({t, names.names().variable(events[i].object)[0], operation == Operation::kWrite,
                             false, transaction.size()});
      places.push_back(i);
    }
    transaction = with_finals(transaction);
    for (std::size_t k = 0; k < places.size(); ++k) access_of[places[k]] = transaction[k];
  }
  bool pattern = false;
  all.for_each_schedule({0, 1}, [&](const std::vector<std::size_t>& schedule) {
    Order order;
    for (const std::size_t i : schedule)
      if (access_of.contains(i)) order.push_back(access_of[i]);
    pattern |= shows_pattern(order, transactions[0], transactions[1]);
    return !pattern;
  });
  const std::optional<bool> atomic = all.is_serializable({0, 1});
  RC_PRE(atomic.has_value());
  RC_TAG(*atomic ? "atomic" : "violation");
  RC_ASSERT(pattern == !*atomic);
  // One walk over the grid decides what all blocks against all blocks do.
  const std::vector<Finding> findings = check_text("blocks", trace);
  RC_ASSERT(std::any_of(findings.begin(), findings.end(),
                        [](const Finding& finding) { return finding.rule->id == "HD2003"; }) == pattern);
}

}  // namespace
}  // namespace heddle::test
