#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/lockset.h"

namespace heddle {
namespace {

constexpr bool kExclusively = false;
constexpr bool kSharedly = true;

TEST(LocksetTable, EqualSetsHaveEqualIdsWhateverTheOrder) {
  LocksetTable table;
  const LocksetId ab = table.add(table.add(kEmptyLockset, 1, kExclusively), 2, kExclusively);
  const LocksetId ba = table.add(table.add(kEmptyLockset, 2, kExclusively), 1, kExclusively);
  EXPECT_EQ(ab, ba);
  EXPECT_NE(ab, table.add(table.add(kEmptyLockset, 1, kExclusively), 2, kSharedly));
}

TEST(LocksetTable, RemoveUndoesAdd) {
  LocksetTable table;
  const LocksetId a = table.add(kEmptyLockset, 7, kSharedly);
  EXPECT_EQ(table.remove(table.add(a, 3, kExclusively), 3), a);
  EXPECT_EQ(table.remove(a, 7), kEmptyLockset);
  EXPECT_EQ(table.remove(a, 3), a);
}

TEST(LocksetTable, IntersectionIsSharedWhereEitherIs) {
  LocksetTable table;
  const LocksetId left = table.add(table.add(kEmptyLockset, 1, kExclusively), 2, kExclusively);
  const LocksetId right = table.add(table.add(kEmptyLockset, 2, kSharedly), 3, kExclusively);
  EXPECT_EQ(table.intersect(left, right), table.add(kEmptyLockset, 2, kSharedly));
  EXPECT_EQ(table.intersect(right, left), table.intersect(left, right));
  EXPECT_FALSE(table.disjoint(left, right));
  EXPECT_TRUE(table.disjoint(left, table.add(kEmptyLockset, 3, kExclusively)));
}

TEST(LocksetTable, OnlyReadersHoldALockTogether) {
  LocksetTable table;
  const LocksetId reader = table.add(kEmptyLockset, 1, kSharedly);
  const LocksetId writer = table.add(kEmptyLockset, 1, kExclusively);
  EXPECT_TRUE(table.compatible(reader, reader));
  EXPECT_FALSE(table.compatible(reader, writer));
  EXPECT_FALSE(table.compatible(writer, writer));
  EXPECT_TRUE(table.compatible(writer, kEmptyLockset));
}

TEST(LocksetTable, SeparatesModes) {
  LocksetTable table;
  const LocksetId mixed = table.add(table.add(kEmptyLockset, 1, kExclusively), 2, kSharedly);
  EXPECT_EQ(table.exclusive_part(mixed), table.add(kEmptyLockset, 1, kExclusively));
  EXPECT_EQ(table.without_modes(mixed),
            table.add(table.add(kEmptyLockset, 1, kExclusively), 2, kExclusively));
  EXPECT_EQ(table.find(mixed, 1), Hold::kExclusive);
  EXPECT_EQ(table.find(mixed, 2), Hold::kShared);
  EXPECT_EQ(table.find(mixed, 3), Hold::kNone);
}

TEST(LocksetTable, DescribesInWords) {
  Names names;
  const uint32_t mu = names.table(Space::kLock).intern("mu");
  const uint32_t lk = names.table(Space::kLock).intern("lk\x1b");
  LocksetTable table;
  EXPECT_EQ(table.describe(kEmptyLockset, names), "holding no lock");
  EXPECT_EQ(table.describe(table.add(table.add(kEmptyLockset, mu, kExclusively), lk, kSharedly), names),
            "holding mu and lk\\x1b (shared)");
}

TEST(LocksetTable, RepeatedOperationsMakeNoNewSets) {
  LocksetTable table;
  LocksetId set = kEmptyLockset;
  for (uint32_t lock = 0; lock < 50; ++lock) set = table.add(set, lock, lock % 2 == 0);
  for (uint32_t lock = 0; lock < 50; ++lock) set = table.remove(set, lock);
  const uint32_t size = table.size();
  for (int round = 0; round < 3; ++round) {
    for (uint32_t lock = 0; lock < 50; ++lock) set = table.add(set, lock, lock % 2 == 0);
    for (uint32_t lock = 0; lock < 50; ++lock) set = table.remove(set, lock);
  }
  EXPECT_EQ(set, kEmptyLockset);
  EXPECT_EQ(table.size(), size);
}

// Only the sets that occur are kept, not the ways to build them up: else this would take gigabytes.
TEST(LocksetTable, ReleasingInAnyOrderMakesOneSetPerOperation) {
  constexpr uint32_t kLocks = 1000;
  LocksetTable table;
  LocksetId set = kEmptyLockset;
  for (uint32_t lock = 0; lock < kLocks; ++lock) set = table.add(set, lock, kExclusively);
  for (uint32_t lock = 0; lock < kLocks; ++lock) set = table.remove(set, lock);
  EXPECT_EQ(set, kEmptyLockset);
  EXPECT_EQ(table.size(), 2 * kLocks);  // the empty one, 1000 growing, 999 shrinking
}

// Every operation against the same operation on std::map, over sets reached by random operations.
TEST(LocksetTable, AgreesWithMaps) {
  using Set = std::map<uint32_t, bool>;  // lock → shared
  LocksetTable table;
  std::vector<std::pair<LocksetId, Set>> known{{kEmptyLockset, {}}};
  std::mt19937 random(7);
  const auto check = [&](LocksetId id, const Set& expected) {
    Set actual;
    for (const HeldLock held : table.members(id)) actual[held.lock] = held.shared;
    ASSERT_EQ(actual, expected);
    for (const auto& [other, members] : known) ASSERT_EQ(other == id, members == expected);
    known.emplace_back(id, expected);
  };
  for (int i = 0; i < 1500; ++i) {
    const auto [id, set] = known[random() % known.size()];
    const auto [other_id, other] = known[random() % known.size()];
    const uint32_t lock = static_cast<uint32_t>(random() % 6);
    const bool shared = random() % 2 == 0;
    Set expected;
    switch (random() % 5) {
      case 0:
        expected = set;
        expected[lock] = shared;
        check(table.add(id, lock, shared), expected);
        break;
      case 1:
        expected = set;
        expected.erase(lock);
        check(table.remove(id, lock), expected);
        break;
      case 2:
        for (const auto& [common, mode] : set)
          if (other.contains(common)) expected[common] = mode || other.at(common);
        check(table.intersect(id, other_id), expected);
        break;
      case 3:
        for (const auto& [member, mode] : set)
          if (!mode) expected[member] = false;
        check(table.exclusive_part(id), expected);
        break;
      default:
        for (const auto& [member, mode] : set) expected[member] = false;
        check(table.without_modes(id), expected);
        break;
    }
    bool compatible = true;
    for (const auto& [member, mode] : set)
      compatible &= !other.contains(member) || (mode && other.at(member));
    ASSERT_EQ(table.compatible(id, other_id), compatible);
  }
}

TEST(HeldLocks, FollowsEachThread) {
  LocksetTable table;
  HeldLocks held(table);
  held.acquire(3, 1, kExclusively);
  held.acquire(0, 2, kSharedly);
  EXPECT_EQ(held.of(3), table.add(kEmptyLockset, 1, kExclusively));
  EXPECT_EQ(held.of(0), table.add(kEmptyLockset, 2, kSharedly));
  EXPECT_EQ(held.of(9), kEmptyLockset);
  held.release(3, 1);
  EXPECT_EQ(held.of(3), kEmptyLockset);
}

}  // namespace
}  // namespace heddle
