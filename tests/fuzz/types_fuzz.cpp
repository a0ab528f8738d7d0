// The readers of summaries, types, logs and focus files on any bytes; what is read is analysed, too, since a
// program that was tampered with must not stop the tool.
#include <cstdlib>

#include "base/error.h"
#include "target.h"
#include "types/check.h"
#include "types/discovery_log.h"
#include "types/focus.h"
#include "types/inference.h"
#include "types/summary_text.h"

namespace {

using namespace heddle::types;

void read_program(std::string_view text) {
  Program program;
  read_summaries(text, "input", program);
  check_text(check_types(program, infer_types(program, {})), true);
}

// What we write is no bad input: an exception that leaves this is a bug.
void read_types(std::string_view text) {
  const Types types = Types::parse(text, "input");
  if (Types::parse(types.text(), "written").owners.size() != types.owners.size()) std::abort();
}

void read_log(std::string_view text) {
  DiscoveryLog::parse(DiscoveryLog::parse(text, "input").text(), "written");
}
void read_focus(std::string_view text) { Focus::parse(Focus::parse(text, "input").text(), "written"); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (void (*const read)(std::string_view) : {read_program, read_types, read_log, read_focus}) {
    try {
      read(text);
    } catch (const heddle::InputError&) {
      // the right answer to a bad input
    }
  }
  return 0;
}

namespace heddle::fuzz {

std::vector<std::string> seeds() {
  return {
      "heddle-summary 5\nsource\tab12\t/a.cpp\nlock\tg:m\ta.cpp:1\nglobal\tg:z\ta.cpp:2\nclass\tA\t48\n"
      "member\tA::mu\t0\t40\tlock\t\ta.cpp:3\nmember\tA::x\t40\t4\tdata\t\ta.cpp:4\n"
      "function\tmain\tmain\ta.cpp:5\ti32()\t0\te\nblock\t1\ncall\ta.cpp:6\tf\t\tl1\nfork\ta.cpp:7\t-"
      "\nblock\t1\n"
      "acquire\ta.cpp:8\tg:m\nwrite\ta.cpp:9\tg:z\nrelease\ta.cpp:9\tg:m\n"
      "function\tf\tf\ta.cpp:9\tvoid(ptr)\t1\tct\nblock\nacquire\t\tp0/A::mu\nread\t\tp0/A::x\ndrop\t\tp0/"
      "A::mu\n"
      "leak\t\tp0\nread-whole\t\tA\tp0\ncall\t\t\tvoid(ptr)\tp0\npass\t\tg\tA\n",
      "# heddle types 1\nfield A::x: guarded by A::mu  # 100 %: because\nfield g:z: guarded by global m\n"
      "field A::y: readonly\nmethod f: requires p0/A::mu, g:m\n",
      "# heddle discovery 1\nruns\t2\nfield\tA::x\t1\t2\t3\t4\t5\t6\nlock\t-40\t7\n",
      "heddle-focus "
      "2\nmode\tfield\nexempt\tf\ta.cpp:1:2\tp0\nsource\tab\t/"
      "a.cpp\ntaken\tA::p\nfield\tA::x\nmethod\tf\natomic\tf\n"
      "guarded\tA::x\tA::mu\nrequired\tf\t0\tA::mu\talone\n",
  };
}

std::vector<std::string> tokens() {
  return {"\t",
          "\n",
          std::string(1, '\0'),
          "/*",
          "/[]",
          "/",
          "p0",
          "p99999999999",
          "v1",
          "l1",
          "n1",
          "g:",
          "?",
          "::",
          "#",
          "block\t0",
          "call\t\t\t",
          "define\t\tv1",
          "share\t\t",
          "A::x",
          "guarded by ",
          "unknown",
          ": ",
          "18446744073709551616",
          "fences",
          "order\t\tafter",
          "quiet\tA::x"};
}

void repair(std::string&, uint64_t) {}

}  // namespace heddle::fuzz
