#include "base/string_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle {
namespace {

// Texts of every size around the border between short and long, that differ in one byte, its place, or only
// in size.
std::vector<std::string> near_texts() {
  std::vector<std::string> texts;
  for (std::size_t size = 0; size <= 40; ++size) {
    texts.emplace_back(size, '\0');
    for (std::size_t place = 0; place < size; ++place) {
      texts.emplace_back(size, '\0');
      texts.back()[place] = 'x';
    }
  }
  return texts;
}

TEST(StringTable, DifferentTextsGetDifferentIdsInOrderOfAppearance) {
  StringTable table;
  uint32_t expected = 0;
  for (const std::string& text : near_texts()) EXPECT_EQ(table.intern(text), expected++);
  EXPECT_EQ(table.size(), expected);
}

TEST(StringTable, EqualTextsGetEqualIds) {
  StringTable table;
  for (const std::string& text : near_texts()) table.intern(text);
  const uint32_t size = table.size();
  uint32_t expected = 0;
  for (const std::string& text : near_texts()) EXPECT_EQ(table.intern(std::string(text)), expected++);
  EXPECT_EQ(table.size(), size);
}

TEST(StringTable, ViewsStayValidWhileTheTableGrows) {
  StringTable table;
  table.intern("first");
  const std::string_view first = table[0];
  for (int i = 0; i < 100'000; ++i) table.intern(std::to_string(i));
  EXPECT_EQ(first, "first");
  EXPECT_EQ(first.data(), table[0].data());
}

TEST(StringTable, AppendTakesAKnownTextAgainAndInternFindsTheFirst) {
  StringTable table;
  for (const std::string text : {"short", "a text that is longer than fifteen bytes"}) {
    const uint32_t first = table.append(text);
    EXPECT_EQ(table.append(text), first + 1);
    EXPECT_EQ(table.intern(text), first);
    EXPECT_EQ(table[first + 1], text);
  }
}

TEST(StringTable, LooksOnlyAtTheTextItIsGiven) {
  StringTable table;
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 0; size <= text.size(); ++size)
    EXPECT_EQ(table.intern(std::string_view(text).substr(0, size)), size);
  for (std::size_t size = 0; size <= text.size(); ++size) EXPECT_EQ(table.intern(text.substr(0, size)), size);
}

TEST(StringTable, NumberedTextsAreLikeOthers) {
  StringTable numbered;
  StringTable plain;
  const auto append = [&](const std::string& text) { EXPECT_EQ(numbered.append(text), plain.append(text)); };
  const auto append_run = [&](const std::string& before, uint32_t number, uint32_t count) {
    EXPECT_EQ(numbered.append_numbered(before, number, count), plain.size());
    for (uint32_t i = 0; i < count; ++i) plain.append(before + std::to_string(number + i));
  };
  append("x");
  append_run("x#", 2, 300);
  append_run("x#", 302, 5);  // goes on
  append_run("x#", 308, 1);  // leaves one out
  append("y");
  append_run("y#", 2, 3);
  append_run("x#", 309, 3);
  append_run("long name of something#", 4294967290, 5);
  append("z");
  ASSERT_EQ(numbered.size(), plain.size());
  for (uint32_t id = plain.size(); id-- > 0;) EXPECT_EQ(numbered[id], plain[id]);
  const std::string_view kept = numbered[7];
  for (uint32_t id = 0; id < plain.size(); ++id) EXPECT_EQ(numbered[id], plain[id]);
  EXPECT_EQ(kept.data(), numbered[7].data());
  EXPECT_EQ(numbered.numbered_from(0).count, 0);
  EXPECT_EQ(numbered.numbered_from(1).count, 305);
  EXPECT_EQ(numbered.numbered_from(300).count, 6);
  EXPECT_EQ(numbered.numbered_from(300).number, 301);
  for (uint32_t id = 0; id < plain.size(); ++id)
    EXPECT_EQ(numbered.intern(std::string(plain[id])), plain.intern(plain[id]));
  EXPECT_EQ(numbered.intern("x#17"), 16);
  EXPECT_EQ(numbered.intern("new"), plain.size());
}

}  // namespace
}  // namespace heddle
