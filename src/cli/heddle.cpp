#include "cli/heddle.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/settings.h"

namespace heddle {

namespace {

constexpr const char* kFooter =
    R"(Start here:
  heddle try bank.cpp          compile a program, run it, check it, explain
  heddle run -- ./my_test      run a program built with heddle-clang++ and check it
  heddle check run.std         check a trace with the default checkers
  heddle try bank.cpp --html r.html  the same as a page with pictures, for the browser
  heddle explain data-race     what a finding means and what to do about it
  heddle COMMAND --help        all about one command

Exit codes:
  0    nothing found
  66   findings (set another with --exit-code)
  2    the command line or an input is at fault; one line says where and what
  125  Heddle itself failed

Environment:
  HEDDLE_OPTIONS  options for any command, as name=value:name=value
  NO_COLOR        when set, no colour unless --color always
)";

void write_out(std::string_view text) {
  OutputFile out("-");
  out.write(text);
  out.commit();
}

// A message may hold names from anywhere, and must not drive the terminal.
void complain(std::string_view what) { fmt::print(stderr, "heddle: {}\n", printable(what)); }

// Every argument that nobody knows comes back to us, so that the message can say what was probably meant.
void keep_unknown_arguments(CLI::App& app) {
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    keep_unknown_arguments(*command);
}

// The command the user named, or the group of commands when that is all that was named.
const CLI::App& innermost(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

const Command* chosen_command(const CLI::App& root, const Commands& commands) {
  const CLI::App& app = innermost(root);
  refuse_unknown_arguments(app);
  for (const Command& command : commands)
    if (command.app == &app) return &command;
  return nullptr;
}

void apply_settings(CLI::App& command) {
  if (const char* text = std::getenv("HEDDLE_OPTIONS")) apply_environment(command, text);
  const CLI::Option* config = command.get_option_no_throw("--config");
  if (config == nullptr) return;
  std::error_code none;
  if (config->count() > 0) {
    apply_config_file(command, config->as<std::string>());
  } else if (std::filesystem::exists(kConfigFile, none)) {
    apply_config_file(command, kConfigFile);
  }
}

// CLI11 would take the next argument for the value of `--option=`.
void refuse_empty_values(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view argument(argv[i]);
    if (argument.starts_with("--") && argument.ends_with('=') && argument.find('=') + 1 == argument.size())
      throw InputError(fmt::format("'{}' has no value", printable(argument)));
  }
}

void parse(CLI::App& root, int argc, const char* const* argv) {
  refuse_empty_values(argc, argv);
  CLI::Option* rest = nullptr;
  for (CLI::App* command : root.get_subcommands([](CLI::App*) { return true; }))
    if (argc > 1 && command->get_name() == argv[1]) rest = arguments_after_mark(*command);
  int end = argc;
  // To CLI11 the mark only says that no options follow: what is after it would be one more file.
  if (rest != nullptr)
    for (end = 1; end < argc && std::string_view(argv[end]) != "--";) ++end;
  root.parse(end, argv);
  for (int i = end + 1; i < argc; ++i) rest->add_result(argv[i]);
  if (end + 1 < argc) rest->run_callback();
}

int parse_and_run(CLI::App& root, const Commands& commands, int argc, const char* const* argv) {
  try {
    parse(root, argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_out(help_text(innermost(root)));
    return kExitClean;
  } catch (const CLI::CallForVersion&) {
    write_out(fmt::format("heddle {}\n", HEDDLE_VERSION));
    return kExitClean;
  } catch (const CLI::ParseError& error) {
    // An unknown option may be the reason why something else is missing: it is the better thing to say.
    refuse_unknown_arguments(innermost(root));
    const bool required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    throw InputError(required ? fmt::format("{}; usage: {}", error.what(), usage_line(innermost(root)))
                              : explanation_of(error));
  }
  const Command* command = chosen_command(root, commands);
  if (command == nullptr) {
    fmt::print(stderr, "{}", help_text(innermost(root)));
    return kExitUsage;
  }
  apply_settings(*command->app);
  return command->run();
}

}  // namespace

int run_heddle(int argc, const char* const* argv) {
  // A reader that has seen enough (`heddle trace print x | head`) ends us without a word, even when whoever
  // started us had the signal ignored.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    CLI::App root("Finds the concurrency bugs that are left when a race detector is silent.", "heddle");
    root.set_version_flag("--version", HEDDLE_VERSION, "Print the version and exit.");
    root.set_help_flag("-h,--help", "Print this help and exit.");
    Commands commands;
    add_check_command(root, commands);
    add_run_command(root, commands);
    add_record_command(root, commands);
    add_try_command(root, commands);
    add_spec_command(root, commands);
    add_types_commands(root, commands);
    add_trace_commands(root, commands);
    add_report_command(root, commands);
    add_explain_command(root, commands);
    add_completion_command(root, commands);
    add_manual_command(root, commands);
    root.footer(kFooter);  // last, because commands inherit what the root has when they are added
    keep_unknown_arguments(root);
    return parse_and_run(root, commands, argc, argv);
  } catch (const InputError& error) {
    complain(error.what());
    return kExitUsage;
  } catch (const SystemError& error) {
    complain(error.what());
  } catch (const std::bad_alloc&) {
    complain("out of memory; try fewer checkers at a time (--checkers), or more memory");
  } catch (const std::exception& error) {
    complain(fmt::format("this is a bug in Heddle: {}", error.what()));
    complain(
        "please report it with the command line, the output of 'heddle --version' and, if you can, the "
        "input");
  }
  return kExitFailure;
}

}  // namespace heddle
