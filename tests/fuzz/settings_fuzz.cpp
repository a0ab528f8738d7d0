// The config file and HEDDLE_OPTIONS, with any bytes in them.
#include "cli/settings.h"

#include "base/error.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "target.h"

namespace {

// Every command with its options, as `heddle` has them. Made once: settings only fill in what is missing, so
// the options are emptied before each use.
struct CommandLine {
  CommandLine() {
    heddle::add_check_command(root, commands);
    heddle::add_trace_commands(root, commands);
  }

  template <class Apply>
  void try_settings(Apply apply) {
    root.clear();
    try {
      apply(*commands.front().app);
    } catch (const heddle::InputError&) {
      // the right answer to bad settings
    }
  }

  CLI::App root{"", "heddle"};
  heddle::Commands commands;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static CommandLine command_line;
  const std::string text(reinterpret_cast<const char*>(data), size);
  command_line.try_settings([&](CLI::App& command) {
    if (text.find('\n') != std::string::npos) {
      heddle::apply_config(command, text, "input");
    } else {
      // A variable ends at the first null.
      heddle::apply_environment(command, text.substr(0, text.find('\0')));
    }
  });
  return 0;
}

namespace heddle::fuzz {

std::vector<std::string> seeds() {
  return {
      "[check]\ncheckers = \"race,deadlock\"\nsuppressions = [\"a.toml\", 'b.toml']\nlimit = 10\n",
      ("[check]\ngen-suppressions = true\nexit-code = 0x1f\ncolor = 'never'\nformat = 'json'\n"
       "[trace.generate]\nseed = 7\nevents = '10k'\n"),
      "check.limit = 5\ntrace.print = {from = 1, count = '2M'}\n",
      "checkers=all:limit=10:suppressions=a.toml:suppressions=b.toml",
      "gen-suppressions:exit-code=3:format=sarif:seed=7:output=x::",
      "engine=clock:race-filter=off:granularity=object:budget=1k:config=c.toml",
  };
}

std::vector<std::string> tokens() {
  std::vector<std::string> result = {
      "[",        "]",          "{",    "}",  "\"", "'",    "=",
      ":",        ".",          ",",    "\n", "#",  "-",    "true",
      "false",    "1e400",      "k",    "[]", "[[", "0xff", "12345678901234567890",
      "9999999G", "1979-05-27", "\xff", "="};
  for (const char* name :
       {"check", "trace", "info", "print", "convert", "generate", "help", "config", "limit", "checkers",
        "format", "suppressions", "gen-suppressions", "color", "output"})
    result.emplace_back(name);
  return result;
}

void repair(std::string&, uint64_t) {}

}  // namespace heddle::fuzz
