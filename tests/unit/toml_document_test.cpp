// TOML from outside: nesting is measured where it is, and dots elsewhere do not count.
#include "report/toml_document.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace heddle {
namespace {

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

// "read", or the refusal.
std::string outcome(const std::string& text) {
  try {
    parse_toml(text, "f.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

std::string too_deep(int line) {
  return "f.toml:" + std::to_string(line) +
         ": tables or arrays lie more than 100 levels deep inside each other";
}

TEST(TomlDocument, RefusesDeepNestingWithItsLine) {
  const std::string key = repeated("a.", 200) + "a";
  EXPECT_EQ(outcome("x = 1\n" + key + " = 1\n"), too_deep(2));
  EXPECT_EQ(outcome("\n\n[" + key + "]\n"), too_deep(3));
  EXPECT_EQ(outcome("[[" + key + "]]\n"), too_deep(1));
  EXPECT_EQ(outcome("x = [{" + key + " = 1}]\n"), too_deep(1));
  EXPECT_EQ(outcome("x = " + repeated("[", 200)), too_deep(1));
  EXPECT_EQ(outcome("x = " + repeated("{a=", 200)), too_deep(1));
  EXPECT_EQ(outcome(repeated("\"a\" . ", 200) + "a = 1\n"), too_deep(1));
}

TEST(TomlDocument, LevelsOfHeaderKeyAndValueAddUp) {
  const std::string parts = repeated("a.", 40) + "a";
  EXPECT_EQ(outcome("[" + parts + "]\n" + parts + " = 1\n"), "read");
  EXPECT_EQ(outcome("[" + parts + "]\n" + parts + " = {" + parts + " = 1}\n"), too_deep(2));
  EXPECT_EQ(outcome("[" + parts + "]\n[b." + parts + "]\n" + parts + " = 1\n"), "read");  // not those before
  EXPECT_EQ(outcome("[[" + parts + "]]\n" + parts + " = 1\n[[" + parts + "]]\n"), "read");
}

TEST(TomlDocument, DotsThatNestNothingDoNotCount) {
  const std::string dots(1000, '.');
  EXPECT_EQ(outcome("x = '" + dots + "' # " + dots + "\n" + "y = \"\\\"" + dots + "\"\n"), "read");
  EXPECT_EQ(outcome("x = '''\n" + dots + "''\n'''\ny = \"\"\"" + dots + "\\\"\"\"\"\"\"\nz = 1\n"), "read");
  EXPECT_EQ(outcome("'" + dots + "'.\"" + dots + "\" = 1\n"), "read");
  EXPECT_EQ(outcome("x = [" + repeated("1.5, ", 1000) + "]\n"), "read");
  EXPECT_EQ(outcome("x = [\n" + repeated("{a.b = 1},\n", 1000) + "]\n"), "read");
  EXPECT_EQ(outcome("x = [" + repeated("[[1]], ", 1000) + "]\n"), "read");
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "[[a.b]]\nc.d = 1.5\n";
  EXPECT_EQ(outcome(lines), "read");
}

TEST(TomlDocument, SaysWhereTheSyntaxIsWrong) {
  EXPECT_TRUE(outcome("x = 1\ny = \n").starts_with("f.toml:2:")) << outcome("x = 1\ny = \n");
}

}  // namespace
}  // namespace heddle
