// Frames as traces write them, taken apart.
#include "report/location.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

void expect_source(std::string_view frame, std::string_view place, std::string_view file, uint32_t line,
                   uint32_t column, std::string_view function) {
  const Location location = parse_location(frame);
  EXPECT_EQ(location.place, place) << frame;
  EXPECT_EQ(location.file, file) << frame;
  EXPECT_EQ(location.line, line) << frame;
  EXPECT_EQ(location.column, column) << frame;
  EXPECT_EQ(location.function, function) << frame;
}

void expect_plain(std::string_view frame) { expect_source(frame, frame, "", 0, 0, ""); }

TEST(Location, FileAndLine) { expect_source("bank.cpp:31", "bank.cpp:31", "bank.cpp", 31, 0, ""); }

TEST(Location, FileLineAndColumn) { expect_source("a/b.cpp:31:7", "a/b.cpp:31:7", "a/b.cpp", 31, 7, ""); }

TEST(Location, Function) {
  expect_source("bank.cpp:31 in Account::withdraw(int)", "bank.cpp:31", "bank.cpp", 31, 0,
                "Account::withdraw(int)");
  expect_source("bank.cpp:31:7 in f", "bank.cpp:31:7", "bank.cpp", 31, 7, "f");
}

TEST(Location, InMayStandInFileAndFunction) {
  expect_source("what is in here.cpp:3 in f", "what is in here.cpp:3", "what is in here.cpp", 3, 0, "f");
  expect_source("a.cpp:3 in f in g:4", "a.cpp:3", "a.cpp", 3, 0, "f in g:4");
}

TEST(Location, FunctionOfALibrary) {
  expect_source("in bank::f (libbank.so)", "libbank.so", "", 0, 0, "bank::f");
  expect_source("in operator() (a.out)", "a.out", "", 0, 0, "operator()");
  expect_plain("in f");
  expect_plain("in f ()");
  expect_plain("in  (libbank.so)");
  expect_plain("in (libbank.so)");
  expect_plain("f (libbank.so)");
}

TEST(Location, ColonsInTheFileNameBelongToIt) {
  expect_source("C:\\x.cpp:12", "C:\\x.cpp:12", "C:\\x.cpp", 12, 0, "");
  expect_source("a:1:2:3", "a:1:2:3", "a:1", 2, 3, "");
}

TEST(Location, AnythingElseIsKeptAsItIs) {
  expect_plain("");
  expect_plain("42");
  expect_plain("row 2");
  expect_plain(":42");
  expect_plain("bank.cpp");
  expect_plain("bank.cpp:");
  expect_plain("bank.cpp:x");
  expect_plain("libc.so+0x12 in memcpy");
  expect_plain("bank.cpp:1234567890123");  // no line number of any file
}

TEST(Location, ALineOfZeroIsUnknown) {
  expect_source("bank.cpp:0 in f", "bank.cpp:0", "bank.cpp", 0, 0, "f");
}

TEST(Location, ALongTextOfSeparatorsIsTakenApartInLinearTime) {
  std::string frame;
  for (int i = 0; i < 200'000; ++i) frame += " in ";
  expect_plain(frame);
}

}  // namespace
}  // namespace heddle
