#include "trace/text_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "trace/text_writer.h"

namespace heddle {
namespace {

std::string round_trip(const std::string& text) {
  TextReader reader("t", text);
  std::string result;
  for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
    for (const Event& event : batch.events) result += event_text(event, reader.names()) + "\n";
  return result;
}

std::string error_of(const std::string& text) {
  try {
    round_trip(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(TextReader, EveryOperationSurvivesTheRoundTrip) {
  const std::string all =
      "T0|r(x)|1\nT0|r(x,5)|1\nT0|r(x)>l|1\nT0|r(x,5)>l|\nT0|w(x)|a.cpp:3\nT0|w(x,-1)|\nT0|w(x)<l|\n"
      "T0|ar(x,relaxed)|\nT0|aw(x,release)|\nT0|armw(x,acq_rel)|\nT0|acasfail(x,acquire)|\nT0|aw(x,seq_cst)|"
      "\n"
      "T0|ar(x,relaxed)>l|\nT0|aw(x,release)<l|\nT0|armw(x,acq_rel)>l|\nT0|acasfail(x,acquire)>l|\n"
      "T0|acq(m)|\nT0|rel(m)|\nT0|acq_sh(m)|\nT0|rel_sh(m)|\nT0|acq(m,try)|\nT0|rel(m)|\nT0|acq(m,together)|"
      "\nT0|rel(m)|\nT0|fork(T1)|\nT0|"
      "join(T1)|\nT0|start|\nT0|stop|"
      "\n"
      "T0|begin|\nT0|begin(Account::withdraw)|\nT0|begin(f,deterministic)|\nT0|end|\nT0|end(f)|\n"
      "T0|arrive(b)|\nT0|leave(b)|\nT0|post(s)|\nT0|wait(s)|\nT0|sync(s)|\nT0|sync(s,release)|\nT0|sync(s,"
      "acquire)|\nT0|notify(c)|\nT0|wake(c)|\n"
      "T0|fence|\nT0|fence(release)|\nT0|commit(x)|\nT0|alloc(x)|\nT0|free(x)|\nT0|task(k)|\nT0|endtask|\n"
      "T0|nd|\nT0|endnd|\nT0|set(l)|\nT0|set(l,a,b)|\nT0|br(l)|\nT0|focus(x)|\n"
      "main thread|w(y)|bank.cpp:3 in f < bank.cpp:9 in main\n";
  EXPECT_EQ(round_trip(all), all);
}

TEST(TextReader, SkipsCommentsAndBlankLinesAndCarriageReturns) {
  EXPECT_EQ(round_trip("# a comment|with bars\n\n  \t\r\nT1|r(x)|4\r\n"), "T1|r(x)|4\n");
}

TEST(TextReader, SkipsAByteOrderMarkAtTheStartOnly) {
  EXPECT_EQ(round_trip("\xEF\xBB\xBFT|r(x)|\nT|w(x)|\n"), "T|r(x)|\nT|w(x)|\n");
  EXPECT_EQ(round_trip("\xEF\xBB\xBF# a comment\nT|r(x)|\n"), "T|r(x)|\n");
  EXPECT_EQ(round_trip("\xEF\xBB\xBF"), "");
  EXPECT_EQ(round_trip("T|r(x)|\n\xEF\xBB\xBFT|r(x)|\n"), "T|r(x)|\n\xEF\xBB\xBFT|r(x)|\n");
}

TEST(TextReader, AZeroByteIsPartOfTheOperation) {
  using namespace std::string_literals;
  EXPECT_EQ(error_of("T|\0w(x)|1\n"s), "t:1: unknown operation '\\x00w'; did you mean 'w'?");
  EXPECT_EQ(error_of("T|\0\0\0stop|1\n"s).substr(0, 24), "t:1: unknown operation '");
  EXPECT_EQ(error_of("T|w\0(x)|1\n"s).substr(0, 24), "t:1: unknown operation '");
}

TEST(TextReader, DefaultKindIsAtomic) { EXPECT_EQ(round_trip("T|begin(f,atomic)|\n"), "T|begin(f)|\n"); }

TEST(TextReader, LastLineNeedsNoNewline) { EXPECT_EQ(round_trip("T|r(x)|"), "T|r(x)|\n"); }

TEST(TextReader, NamesTheLineOfAnError) {
  EXPECT_EQ(error_of("# c\nT|r(x)|\n\nT|rr(x)|\n").substr(0, 31), "t:4: unknown operation 'rr'; di");
  EXPECT_EQ(
      error_of("T|r(x)"),
      "t:1: expected thread|operation|site: the second '|' is missing (the site after it may be empty)");
  EXPECT_EQ(error_of("T r(x)"), "t:1: expected thread|operation|site, found 'T r(x)'");
  EXPECT_EQ(error_of("|r(x)|"), "t:1: the thread's name before the first '|' is missing");
  EXPECT_EQ(error_of("T||"), "t:1: the operation between the two '|' is missing");
  EXPECT_EQ(error_of("T|r(x)|a|b"), "t:1: more than two '|'; a site cannot contain one");
  EXPECT_EQ(error_of("T|r(x|"), "t:1: 'r(x' has no closing ')'");
  EXPECT_EQ(error_of("T|acq|"), "t:1: 'acq' is not of the form acq(m), acq(m,try) or acq(m,together)");
  EXPECT_EQ(error_of("T|acq(a,b)|"),
            "t:1: 'acq(a,b)' is not of the form acq(m), acq(m,try) or acq(m,together)");
  EXPECT_EQ(error_of("T|free(a,b)|"), "t:1: 'free(a,b)' is not of the form free(x) or free(x,checked)");
  EXPECT_EQ(error_of("T|sync(s,seq_cst)|"),
            "t:1: 'sync(s,seq_cst)' is not of the form sync(s), sync(s,release) or sync(s,acquire)");
  EXPECT_EQ(error_of("T|begin(f,fast)|").substr(0, 42), "t:1: 'begin(f,fast)' is not of the form be");
  EXPECT_EQ(
      error_of("T|ar(x,weak)|"),
      "t:1: 'ar(x,weak)': 'weak' is not a memory order; use relaxed, acquire, release, acq_rel or seq_cst");
  EXPECT_EQ(error_of("T|r()|").substr(0, 28), "t:1: 'r()': '' is not a name");
  EXPECT_EQ(error_of("T|r(a b)|").substr(0, 34), "t:1: 'r(a b)': 'a b' is not a name");
  EXPECT_EQ(error_of("T|ar(x,acquire)<l|"),
            "t:1: 'ar(x,acquire)<l' is not of the form ar(x,ORDER) or ar(x,ORDER)>local");
  EXPECT_EQ(error_of("T|aw(x,release)>l|"),
            "t:1: 'aw(x,release)>l' is not of the form aw(x,ORDER) or aw(x,ORDER)<local");
  EXPECT_EQ(error_of("T|nd(x)|"), "t:1: 'nd(x)' is not of the form nd, without operands");
}

TEST(TextReader, ShowsControlBytesInErrors) {
  EXPECT_EQ(error_of("T|\x1b[31m|"), "t:1: unknown operation '\\x1b[31m'");
}

TEST(TextReader, AnErrorLineStaysReadable) {
  const std::string long_word(4 << 20, 'w');
  EXPECT_EQ(error_of("T|" + long_word + "(x)|"), "t:1: unknown operation '" + std::string(40, 'w') + "…'");
  for (const std::string& line :
       {"T|r(x" + long_word + "|", "T|r(x y" + long_word + ")|", "T|ar(x," + long_word + ")|",
        "T|r" + long_word, long_word, fmt::format("T|acq({0},{0})|", long_word)}) {
    EXPECT_LT(error_of(line).size(), 400u);
    EXPECT_NE(error_of(line), "(accepted)");
  }
}

TEST(TextReader, StacksShareTheirCallers) {
  TextReader reader("t", "T|r(x)|a < main\nT|r(x)|b < main\nT|r(x)|main\n");
  reader.next();
  EXPECT_EQ(reader.names().sites().size(), 3u);
}

// A hostile site must cost no more than its length.
TEST(TextReader, DeepStacksTakeLinearMemory) {
  std::string stack = "f";
  for (int i = 0; i < 200'000; ++i) stack += " < f";
  const std::string line = "T|r(x)|" + stack + "\n";
  EXPECT_EQ(round_trip(line), line);
}

}  // namespace
}  // namespace heddle
