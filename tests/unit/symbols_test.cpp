// Addresses of real libraries in this process, turned into words.
#include "symbols/symbolizer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "report/location.h"
#include "symbols/executable.h"
#include "symbols/readable_name.h"

namespace heddle {
namespace {

const std::string kPrograms = SYMBOLS_PROGRAMS;

std::string library_path(const std::string& variant) { return kPrograms + "/libbank_" + variant + ".so"; }

// Everything that is loaded into this process.
std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        Module module{.path = info->dlpi_name, .bias = info->dlpi_addr, .begin = UINT64_MAX, .end = 0};
        if (module.path.empty()) module.path = std::filesystem::read_symlink("/proc/self/exe");
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          module.begin = std::min<uint64_t>(module.begin, module.bias + segment.p_vaddr);
          module.end = std::max<uint64_t>(module.end, module.bias + segment.p_vaddr + segment.p_memsz);
        }
        static_cast<std::vector<Module>*>(to)->push_back(module);
        return 0;
      },
      &modules);
  return modules;
}

uint64_t address_of(const volatile void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// One variant of the library (symbols/bank.cpp), loaded and run.
class Bank {
 public:
  explicit Bank(const std::string& variant) {
    // Local: each variant keeps its own variables.
    handle_ = dlopen(library_path(variant).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
    for (Module& module : loaded_modules()) symbolizer.add(module);
    call<void()>("run")();
  }
  ~Bank() { dlclose(handle_); }
  Bank(const Bank&) = delete;
  Bank& operator=(const Bank&) = delete;

  // Where the library called mark(name): a return address.
  uint64_t place(const char* name) { return address_of(call<const void*(const char*)>("place_of")(name)); }
  uint64_t data(const char* name) {
    return address_of(call<const volatile void*(const char*)>("data_of")(name));
  }
  const std::vector<std::string>& frames(const char* name) { return symbolizer.frames(place(name)); }
  std::string data_name(const char* name) { return symbolizer.data_name(data(name)); }

  Symbolizer symbolizer;

 private:
  template <typename Function>
  Function* call(const char* name) {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

  void* handle_;
};

// "bank.cpp:62 in f" of a frame that also tells a column.
std::string without_column(const std::string& frame) {
  const Location location = parse_location(frame);
  EXPECT_GT(location.column, 0) << frame;
  return location.file + ":" + std::to_string(location.line) + " in " + location.function;
}

void expect_frames(const std::vector<std::string>& frames, const std::vector<std::string>& expected) {
  std::vector<std::string> seen;
  for (const std::string& frame : frames) seen.push_back(without_column(frame));
  EXPECT_EQ(seen, expected);
}

// Every compiler and every version of DWARF.
class EveryFormat : public testing::TestWithParam<const char*> {
 protected:
  Bank bank_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Symbols, EveryFormat,
                         testing::Values("clang_4", "clang_5", "gcc_4", "gcc_5", "separate"),
                         [](const auto& variant) { return std::string(variant.param); });

TEST_P(EveryFormat, InlinedFramesInnermostFirst) {
  expect_frames(bank_.frames("inlined"),
                {"bank.cpp:112 in inner", "bank.cpp:113 in middle", "bank.cpp:116 in outer"});
  expect_frames(bank_.frames("check"),
                {"bank.cpp:39 in bank::Account::check", "bank.cpp:62 in bank::Account::withdraw"});
}

TEST_P(EveryFormat, AReturnAddressIsTheCallBeforeIt) {
  expect_frames(bank_.frames("outer"), {"bank.cpp:117 in outer"});
  expect_frames(bank_.frames("withdraw"), {"bank.cpp:68 in bank::Account::withdraw"});
}

TEST_P(EveryFormat, FunctionsAreNamedAsPeopleWriteThem) {
  expect_frames(bank_.frames("lambda"), {"bank.cpp:64 in bank::Account::withdraw::{lambda#1}"});
  expect_frames(bank_.frames("template"), {"bank.cpp:86 in bank::Stack<std::vector>::push"});
  expect_frames(bank_.frames("unnamed namespace"), {"bank.cpp:102 in bank::count_calls"});
}

TEST_P(EveryFormat, CodeMadeOfSeveralLinesHasThatOfItsFunction) {
  Symbolizer symbolizer;
  symbolizer.add({.path = library_path(GetParam()), .bias = 0, .begin = 0, .end = 1 << 20});
  std::size_t seen = 0;
  for (uint64_t address = 1; address < 0x8000; address += 3) {
    for (const std::string& frame : symbolizer.frames(address)) {
      const Location location = parse_location(frame);
      if (location.function != "run" && !location.function.starts_with("bank::Account::note")) continue;
      ++seen;
      EXPECT_GE(location.line, 72) << frame;  // where the first of the two is defined
    }
  }
  EXPECT_GT(seen, 0);
}

TEST_P(EveryFormat, DataDownToTheScalar) {
  EXPECT_EQ(bank_.data_name("balance_"), "bank::account.balance_");
  EXPECT_EQ(bank_.data_name("limits_.monthly"), "bank::account.limits_.monthly");
  EXPECT_EQ(bank_.data_name("table[3][1].next"), "bank::table[3][1].next");
  EXPECT_EQ(bank_.data_name("total"), "bank::Account::total");
  EXPECT_EQ(bank_.data_name("calls"), "bank::count_calls::calls");
  EXPECT_EQ(bank_.data_name("vptr"), "bank::account.vptr");  // past the empty base
}

TEST_P(EveryFormat, BitFieldsThatShareBytesShareAName) {
  EXPECT_EQ(bank_.data_name("bit-fields"), "flags.ready/failed/retries");
  EXPECT_EQ(bank_.data_name("another bit-field"), "flags.apart");
}

TEST_P(EveryFormat, DataOfTheStandardLibraryIsAWhole) {
  EXPECT_EQ(bank_.data_name("mu_"), "bank::account.mu_");
  EXPECT_EQ(bank_.data_name("ticks"), "ticks");
  EXPECT_EQ(bank_.data_name("stack"), "bank::stack.items");
  EXPECT_EQ(bank_.data_name("history_[2].daily"), "bank::account.history_[2].daily");
}

TEST_P(EveryFormat, AUnionIsNotGuessed) { EXPECT_EQ(bank_.data_name("union"), "bank::account"); }

TEST_P(EveryFormat, FieldsOfTheFunctionsClass) {
  const uint64_t object = bank_.data("vptr");
  for (const char* place : {"withdraw", "check"}) {
    for (const char* field : {"balance_", "limits_.monthly", "history_[2].daily", "mu_", "vptr"})
      EXPECT_EQ(bank_.symbolizer.field_name(bank_.place(place), bank_.data(field) - object), field);
    EXPECT_EQ(bank_.symbolizer.class_at(bank_.place(place)).name, "bank::Account");
    EXPECT_EQ(bank_.symbolizer.field_name(bank_.place(place), 1 << 20), "");
  }
  EXPECT_GT(bank_.symbolizer.class_at(bank_.place("withdraw")).size, bank_.data("union") - object);
  EXPECT_EQ(bank_.symbolizer.class_at(bank_.place("template")).name, "bank::Stack<std::vector>");
  EXPECT_EQ(bank_.symbolizer.field_name(bank_.place("template"), 8), "items");
}

TEST_P(EveryFormat, AClassDescribedInAnotherUnit) {
  EXPECT_EQ(bank_.symbolizer.class_at(bank_.place("serve")).name, "Teller");
  EXPECT_EQ(bank_.symbolizer.class_at(bank_.place("serve")).size, 8);
  EXPECT_EQ(bank_.symbolizer.field_name(bank_.place("serve"), 4), "waiting_");
  EXPECT_EQ(bank_.data_name("waiting_"), "teller.waiting_");
}

TEST_P(EveryFormat, AFreeFunctionHasNoClass) {
  EXPECT_EQ(bank_.symbolizer.class_at(bank_.place("outer")).name, "");
  EXPECT_EQ(bank_.symbolizer.class_at(bank_.place("outer")).size, 0);
  EXPECT_EQ(bank_.symbolizer.field_name(bank_.place("outer"), 0), "");
}

TEST_P(EveryFormat, ConstantTextsAreReadFromTheFile) {
  EXPECT_EQ(bank_.symbolizer.text_at(bank_.data("greeting")), "good morning");
  EXPECT_EQ(bank_.symbolizer.text_at(bank_.data("greeting") + 5), "morning");
  EXPECT_EQ(bank_.symbolizer.text_at(bank_.data("total")), "");  // the program can write to it
}

TEST(Symbols, LineTablesOnlyNameTheFunctionByItsSymbol) {
  Bank bank("clang_lines");
  const Location location = parse_location(bank.frames("withdraw").front());
  EXPECT_EQ(location.file, "bank.cpp");
  EXPECT_EQ(location.line, 68);
  EXPECT_EQ(location.function, "bank::Account::withdraw");
  expect_frames(bank.frames("inlined"),
                {"bank.cpp:112 in inner", "bank.cpp:113 in middle", "bank.cpp:116 in outer"});
}

TEST(Symbols, WithoutDebugInformationTheSymbolIsKnown) {
  Bank bank("no_debug");
  EXPECT_EQ(bank.frames("inlined"), std::vector<std::string>{"in outer (libbank_no_debug.so)"});
  EXPECT_EQ(bank.frames("lambda"),
            std::vector<std::string>{"in bank::Account::withdraw::{lambda#1} (libbank_no_debug.so)"});
  EXPECT_EQ(parse_location(bank.frames("inlined").front()).function, "outer");
  EXPECT_EQ(bank.data_name("total"), "bank::Account::total");
  EXPECT_EQ(bank.data_name("calls"), "bank::count_calls::calls");
  EXPECT_EQ(bank.data_name("vptr"), "bank::account");
  EXPECT_EQ(bank.symbolizer.data_name(bank.data("vptr") + 8), "bank::account+8");
  EXPECT_EQ(bank.symbolizer.class_at(bank.place("withdraw")).name, "");
  EXPECT_EQ(bank.symbolizer.text_at(bank.data("greeting")), "good morning");
}

TEST(Symbols, AStrippedLibraryHasWhatItExports) {
  Bank bank("stripped");
  EXPECT_EQ(bank.frames("outer"), std::vector<std::string>{"in outer (libbank_stripped.so)"});
  const std::string unknown = bank.frames("unnamed namespace").front();
  EXPECT_EQ(unknown.substr(0, 21), "libbank_stripped.so+0");
  EXPECT_EQ(parse_location(unknown).place, unknown);
  EXPECT_EQ(bank.data_name("calls"), "");
}

TEST(Symbols, ALaterModuleTakesThePlaceOfAnEarlierOne) {
  Bank bank("gcc_5");
  const uint64_t place = bank.place("outer");
  expect_frames(bank.symbolizer.frames(place), {"bank.cpp:117 in outer"});
  bank.symbolizer.add(
      {.path = "/gone/libother.so", .bias = place - 0x43, .begin = place - 0x10, .end = place + 0x10});
  EXPECT_EQ(bank.symbolizer.frames(place), std::vector<std::string>{"libother.so+0x42"});
}

TEST(Symbols, OutsideOfAllModulesTheAddressIsLeft) {
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.frames(0x1234), std::vector<std::string>{"0x1234"});
  EXPECT_EQ(symbolizer.frames(0), std::vector<std::string>{"0x0"});
  EXPECT_EQ(symbolizer.data_name(0x1234), "");
  EXPECT_EQ(symbolizer.text_at(0x1234), "");
  EXPECT_EQ(symbolizer.field_name(0x1234, 8), "");
  EXPECT_EQ(symbolizer.class_at(0x1234).name, "");
}

[[gnu::noinline]] uint64_t my_own_place() { return address_of(__builtin_return_address(0)); }

TEST(Symbols, ThisProgramItself) {
  Symbolizer symbolizer;
  for (Module& module : loaded_modules()) symbolizer.add(module);
  const uint64_t place = my_own_place();
  const int line = __LINE__ - 1;
  const Location location = parse_location(symbolizer.frames(place).front());
  EXPECT_EQ(std::filesystem::path(location.file).filename(), "symbols_test.cpp");
  EXPECT_EQ(location.line, line);
  EXPECT_EQ(location.function, "heddle::Symbols_ThisProgramItself_Test::TestBody");
}

// Asks everything about addresses all over a file that is not what it should be.
void ask_everywhere(const std::string& path) {
  Symbolizer symbolizer;
  symbolizer.add({.path = path, .bias = 0, .begin = 0, .end = 1 << 20});
  for (uint64_t address = 0; address < 0x8000; address += 61) {
    EXPECT_FALSE(symbolizer.frames(address + 1).empty());
    symbolizer.data_name(address);
    symbolizer.class_at(address);
    symbolizer.field_name(address, 16);
    symbolizer.text_at(address);
  }
  has_debug_info(path);
  needs_library(path, "libc.so.6");
  noted_blocks(path);
}

class DamagedFile : public testing::Test {
 protected:
  ~DamagedFile() override { std::filesystem::remove(path_); }
  void write(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("symbols_test_" + std::to_string(getpid()));
};

TEST_F(DamagedFile, GoneOrNoElfFile) {
  ask_everywhere("/gone/libbank.so");
  ask_everywhere("/");
  ask_everywhere("/dev/zero");
  write("int main() {}");
  ask_everywhere(path_);
  write("");
  ask_everywhere(path_);
  EXPECT_FALSE(has_debug_info(path_));
}

TEST_F(DamagedFile, CutOffAnywhere) {
  const std::string whole = read_whole_file(library_path("clang_5"));
  for (std::size_t part = 0; part < 40; ++part) {
    write(std::string_view(whole).substr(0, whole.size() * part / 40));
    ask_everywhere(path_);
  }
}

TEST_F(DamagedFile, BytesChanged) {
  const std::string whole = read_whole_file(library_path("gcc_5"));
  for (std::size_t seed = 1; seed <= 20; ++seed) {
    std::string damaged = whole;
    // The header stays, so that there is something to look at.
    for (std::size_t at = 4096 + seed; at < damaged.size(); at += 97 * seed)
      damaged[at] = static_cast<char>(at * seed);
    write(damaged);
    ask_everywhere(path_);
  }
}

// Whether any code of the file has a line in the source.
bool tells_lines(const std::string& path) {
  Symbolizer symbolizer;
  symbolizer.add({.path = path, .bias = 0, .begin = 0, .end = 1 << 20});
  for (uint64_t address = 1; address < 0x8000; address += 61)
    if (parse_location(symbolizer.frames(address).front()).line != 0) return true;
  return false;
}

TEST_F(DamagedFile, ATextWithoutEndIsNotRead) {
  std::string bytes = read_whole_file(library_path("clang_4"));
  write(bytes);
  EXPECT_TRUE(tells_lines(path_));
  // The last text of the debug information is the name of the last unit's last function.
  const std::string last = "_ZN6TellerC2Ev";
  for (std::size_t at = 0; (at = bytes.find(last + '\0', at)) != std::string::npos;)
    bytes[at + last.size()] = 'x';
  write(bytes);
  EXPECT_FALSE(tells_lines(path_));
}

TEST(Executable, DebugInformation) {
  EXPECT_TRUE(has_debug_info(library_path("clang_5")));
  EXPECT_TRUE(has_debug_info(library_path("gcc_4")));
  EXPECT_TRUE(has_debug_info(library_path("clang_lines")));
  EXPECT_TRUE(has_debug_info(library_path("separate")));
  EXPECT_FALSE(has_debug_info(library_path("no_debug")));
  EXPECT_FALSE(has_debug_info("/gone"));
}

TEST(Executable, NeededLibraries) {
  EXPECT_TRUE(needs_library(library_path("clang_5"), "libstdc++.so.6"));
  EXPECT_FALSE(needs_library(library_path("clang_5"), "libheddle_runtime.so"));
  EXPECT_FALSE(needs_library("/gone", "libstdc++.so.6"));
}

TEST(Executable, NotedBlocksHoweverTheirNamesAreRelocated) {
  const std::vector<NotedBlock> blocks = {{.name = "Account::withdraw", .kind = 0, .origin = 1},
                                          {.name = "main", .kind = 1, .origin = 3}};
  for (const char* variant : {"pie", "packed", "fixed"})
    EXPECT_EQ(noted_blocks(kPrograms + "/blocks_" + variant), blocks) << variant;
  EXPECT_TRUE(noted_blocks(library_path("clang_5")).empty());
}

TEST(ReadableName, Functions) {
  const auto expect = [](std::string_view demangled, std::string_view readable) {
    EXPECT_EQ(readable_function(demangled), readable) << demangled;
  };
  expect("main", "main");
  expect("Account::withdraw(int) const &", "Account::withdraw");
  expect("void apply<int>(int)", "apply<int>");
  expect("unsigned long bank::sum<char const*>(char const*)", "bank::sum<char const*>");
  expect("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back");
  expect("Queue<std::vector<int, std::allocator<int> > >::push(int)", "Queue<std::vector>::push");
  expect("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::size() const",
         "std::string::size");
  expect("(anonymous namespace)::f(int)", "f");
  expect("main::{lambda(int)#2}::operator()(int) const", "main::{lambda#2}");
  expect("auto main::{lambda(auto:1)#1}::operator()<int>(int) const", "main::{lambda#1}");
  expect("Account::withdraw(int)::$_1::operator()(int) const", "Account::withdraw::{lambda#2}");
  expect("f(int)::Local::g() const::{lambda()#1}::operator()() const", "f::Local::g::{lambda#1}");
  expect("Less::operator()(int, int) const", "Less::operator()");
  expect("bool operator< <int>(Box<int> const&, Box<int> const&)", "operator<<int>");
  expect("std::ostream& operator<<(std::ostream&, Box const&)", "operator<<");
  expect("Box::operator->() const", "Box::operator->");
  expect("Box::operator unsigned long() const", "Box::operator unsigned long");
  expect("operator new[](unsigned long)", "operator new[]");
  expect("decltype (f(a)) call<int>(int)", "call<int>");
  expect("Filter<(5 > 3)>::run()", "Filter<(5 > 3)>::run");
  expect("non-virtual thunk to Account::withdraw(int)", "Account::withdraw");
  expect("f(int) [clone .cold]", "f");
  expect("operators::run(int)", "operators::run");
  expect("f[abi:cxx11](int)", "f");
  expect("", "");
  expect("(", "(");
  expect("a<b", "a<b");
}

TEST(ReadableName, Variables) {
  EXPECT_EQ(readable_variable("bank::use()::calls"), "bank::use::calls");
  EXPECT_EQ(readable_variable("guard variable for f(int)::x"), "guard variable for f::x");
  EXPECT_EQ(readable_variable("vtable for std::vector<int>"), "vtable for std::vector");
}

TEST(ReadableName, Symbols) {
  EXPECT_EQ(demangled("_ZN7Account8withdrawEi"), "Account::withdraw(int)");
  EXPECT_EQ(demangled("main.cold"), "main");
  EXPECT_EQ(demangled("_Zsomething"), "_Zsomething");
}

}  // namespace
}  // namespace heddle
