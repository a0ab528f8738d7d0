#include "base/text.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(Printable, KeepsTextAndShowsWhatWouldDriveATerminal) {
  EXPECT_EQ(printable("Konto ä € 𝄞"), "Konto ä € 𝄞");
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");           // C1 control
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(printable("\xE2\x81\xA9"), "\\xe2\\x81\\xa9");  // pop directional isolate
  EXPECT_EQ(printable("\xE2\x80\xA6"), "…");                // its harmless neighbour
}

TEST(Printable, ShowsInvalidUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xC0\xAF"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xE2\x82"), "\\xe2\\x82");                    // cut off
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("äöü", 3), "äöü");
  EXPECT_EQ(shortened("äöüß", 3), "äöü…");
  EXPECT_EQ(shortened("ab\x1b", 6), "ab\\x1b");
  EXPECT_EQ(shortened("ab\x1b", 5), "ab…");  // not half an escape
  EXPECT_EQ(shortened(std::string(1000, 'x')), std::string(80, 'x') + "…");
}

TEST(Split, GivesAllPieces) {
  EXPECT_EQ(split("a,b,,c", ","), (std::vector<std::string_view>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ","), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split("a < b", " < "), (std::vector<std::string_view>{"a", "b"}));
}

TEST(Nearest, FindsMisspellingsAndNothingElse) {
  EXPECT_EQ(nearest("raec", {"race", "lockset", "deadlock"}), "race");
  EXPECT_EQ(nearest("locksets", {"race", "lockset", "deadlock"}), "lockset");
  EXPECT_EQ(nearest("banana", {"race", "lockset", "deadlock"}), "");
}

// Comparing letter by letter would take a table of 4 GB.
TEST(Nearest, ALongWordIsNotCompared) { EXPECT_EQ(nearest(std::string(100 << 20, 'r'), {"race"}), ""); }

TEST(JoinWithAnd, ReadsLikeASentence) {
  EXPECT_EQ(join_with_and({}), "");
  EXPECT_EQ(join_with_and({"a"}), "a");
  EXPECT_EQ(join_with_and({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace heddle
