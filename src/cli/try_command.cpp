// heddle try: compiles a file or a few, runs the program, checks it while it runs, and reports.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/run_command.h"

namespace heddle {

namespace {

struct TryArguments {
  std::vector<std::string> files;
  std::vector<std::string> program_arguments;
  std::vector<std::string> cxx_flags;
  std::vector<std::string> c_flags;
  RunArguments run;
};

// A new directory that is gone when the object is.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code none;
    const std::filesystem::path place = std::filesystem::temp_directory_path(none);
    std::string name = ((none ? "/tmp" : place) / "heddle-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw SystemError(
          fmt::format("{}: cannot create: {}; TMPDIR names another place", name, std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile std::sig_atomic_t compiler = 0;  // its process group; 0: none runs
volatile std::sig_atomic_t ended_by = 0;  // the signal that is to end us once all is tidy; 0: none

void end_with_compiler(int signal) {
  ended_by = signal;
  if (compiler > 0) ::kill(-static_cast<pid_t>(compiler), signal);
}

// While this lives, a signal ends the compiler; we end by it once the temporary directory is gone.
class TidySignals {
 public:
  TidySignals() {
    for (const int signal : kEndingSignals) {
      struct sigaction action = {};
      action.sa_handler = end_with_compiler;
      ::sigaction(signal, nullptr, &before_[signal]);
      // What was ignored when we started (nohup) stays so.
      if (before_[signal].sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
    }
  }
  ~TidySignals() {
    for (const int signal : kEndingSignals) ::sigaction(signal, &before_[signal], nullptr);
  }
  TidySignals(const TidySignals&) = delete;
  TidySignals& operator=(const TidySignals&) = delete;

 private:
  struct sigaction before_[NSIG] = {};
};

struct EndedBySignal {};

// Runs a compiler of this Heddle and returns its exit code. What it needs for a while goes to `directory`.
int run_compiler(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  sigset_t ending;
  sigset_t before;
  ::sigemptyset(&ending);
  for (const int signal : kEndingSignals) ::sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, &before);  // until the handler knows the compiler
  const pid_t child = ::fork();
  if (child < 0) throw SystemError(fmt::format("cannot start the compiler: {}", std::strerror(errno)));
  if (child == 0) {
    ::setpgid(0, 0);
    ::setenv("TMPDIR", directory.c_str(), 1);
    for (const int signal : kEndingSignals) std::signal(signal, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    fmt::print(stderr, "heddle: {}: cannot run: {}\n", command.front(), std::strerror(errno));
    ::_exit(kExitFailure);
  }
  ::setpgid(child, child);  // whoever comes first
  compiler = child;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  compiler = 0;
  if (ended_by != 0) throw EndedBySignal();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_c(const std::string& file) { return std::filesystem::path(file).extension() == ".c"; }

// An object or a library.
bool is_made_already(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension == ".o" || extension == ".a" || extension == ".so";
}

// Not an option, whatever the name of the file.
std::string file_argument(const std::string& file) {
  return file.starts_with('-') || file.starts_with('@') ? "./" + file : file;
}

class Compilation {
 public:
  Compilation(const TryArguments& arguments, const std::filesystem::path& directory)
      : arguments_(arguments), directory_(directory) {
    std::error_code none;
    wrappers_ = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    if (::access((wrappers_ / "heddle-clang++").c_str(), X_OK) != 0)
      throw SystemError(
          fmt::format("{} is missing: this Heddle was built without what checks running programs "
                      "(HEDDLE_LIVE)",
                      (wrappers_ / "heddle-clang++").string()));
  }

  // Makes the program, named for the first file. Throws InputError when it cannot be made; false: there is no
  // compiler, and it was said.
  bool run() {
    std::vector<std::string> inputs;
    bool only_c = true;
    for (const std::string& file : arguments_.files) {
      const bool is_c_file = is_c(file);
      only_c = only_c && is_c_file;
      inputs.push_back(file_argument(file));
      if (is_made_already(file)) continue;
      // One by one: it is then known which does not compile, and C has its own options.
      const std::string object = (directory_ / fmt::format("{}.o", inputs.size())).string();
      const int code =
          is_c_file ? compile("heddle-clang", arguments_.c_flags, {"-c", inputs.back(), "-o", object})
                    : compile("heddle-clang++", arguments_.cxx_flags, {"-c", inputs.back(), "-o", object});
      if (code == kExitFailure) return false;
      if (code != 0) throw InputError(fmt::format("{} does not compile, so nothing was run", file));
      inputs.back() = object;
    }
    inputs.insert(inputs.end(), {"-o", program()});
    const int code = only_c ? link("heddle-clang", arguments_.c_flags, inputs)
                            : link("heddle-clang++", arguments_.cxx_flags, inputs);
    if (code == kExitFailure) return false;
    if (code != 0)
      throw InputError(fmt::format(
          "{} {}, but cannot be linked to a program, so nothing was run; a function that is missing is in "
          "another file to name here, or in a library (--{}flag=-lNAME)",
          join_with_and(arguments_.files), arguments_.files.size() == 1 ? "compiles" : "compile",
          only_c ? "c" : "cxx"));
    return true;
  }

  std::string program() const {
    const std::string name = std::filesystem::path(arguments_.files.front()).stem().string();
    return (directory_ / "bin" / (name.empty() ? "program" : name)).string();
  }

 private:
  // What is given counts over the defaults. Libraries have to come after what needs them.
  static bool is_library(const std::string& flag) {
    return flag.starts_with("-l") || flag.starts_with("-Wl,");
  }

  int compile(const std::string& wrapper, const std::vector<std::string>& flags,
              const std::vector<std::string>& rest) {
    std::vector<std::string> command = begin(wrapper, flags);
    command.emplace_back("-Wno-unused-command-line-argument");  // those for the linker
    command.insert(command.end(), rest.begin(), rest.end());
    return run_compiler(command, directory_);
  }
  int link(const std::string& wrapper, const std::vector<std::string>& flags,
           const std::vector<std::string>& inputs) {
    std::vector<std::string> command = begin(wrapper, flags);
    command.insert(command.end(), inputs.begin(), inputs.end());
    for (const std::string& flag : flags)
      if (is_library(flag)) command.push_back(flag);
    return run_compiler(command, directory_);
  }
  std::vector<std::string> begin(const std::string& wrapper, const std::vector<std::string>& flags) const {
    std::vector<std::string> command = {(wrappers_ / wrapper).string(), "-O1", "-g"};
    if (wrapper == "heddle-clang++") command.emplace_back("-std=c++20");
    // It costs too much for those who ask for all.
    const std::vector<std::string_view> checkers = split(arguments_.run.report.checkers, ",");
    if (std::find(checkers.begin(), checkers.end(), "ndseq") != checkers.end())
      command.emplace_back("--heddle-dataflow");
    if (!arguments_.run.spec.empty()) command.push_back("--heddle-spec=" + arguments_.run.spec);
    for (const std::string& flag : flags)
      if (!is_library(flag)) command.push_back(flag);
    return command;
  }

  const TryArguments& arguments_;
  std::filesystem::path directory_;
  std::filesystem::path wrappers_;
};

int compile_and_run(TryArguments& arguments) {
  const TemporaryDirectory directory;
  std::string program;
  {
    const TidySignals signals;
    std::filesystem::create_directory(directory.path() / "bin");
    Compilation compilation(arguments, directory.path());
    if (!compilation.run()) return kExitFailure;
    program = compilation.program();
  }
  arguments.run.spec.clear();  // the program is built by it
  arguments.run.command = {program};
  arguments.run.command.insert(arguments.run.command.end(), arguments.program_arguments.begin(),
                               arguments.program_arguments.end());
  return run_program(arguments.run);
}

int try_files(TryArguments& arguments) {
  try {
    return compile_and_run(arguments);
  } catch (const EndedBySignal&) {
    std::signal(ended_by, SIG_DFL);
    ::raise(ended_by);
    return 128 + ended_by;
  }
}

constexpr const char* kExamples = R"(Examples:
  heddle try bank.cpp                               compile it, run it, check it, explain
  heddle try bank.cpp -- 1000 --fast                with arguments for the program
  heddle try search.cpp --checkers ndseq            built to tell its data flow (docs/tutorials/ndseq.md)
  heddle try main.cpp queue.cpp log.c --cxxflag=-O2 --cxxflag=-Iinclude --cxxflag=-lz
  HEDDLE_OPTIONS=cxxflag=-std=c++23 heddle try bank.cpp

Compiler options:
  C++ files are compiled by heddle-clang++ -O1 -g -std=c++20, files that end in .c by heddle-clang -O1 -g.
  An option that is given comes after these and wins over them. The program is not kept.

)";

}  // namespace

void add_try_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<TryArguments>();
  arguments->run.report.output = kToStandardError;
  CLI::App* app =
      root.add_subcommand("try", "Compile a file or a few, run the program, check it while it runs, report.");
  add_texts(*app, "FILE", arguments->files, kFileType, "C++ and C files, which make one program.")
      ->required();
  add_arguments_after_mark(*app, "ARGUMENT", arguments->program_arguments, "Arguments for the program.");
  add_texts(*app, "--cxxflag", arguments->cxx_flags, "FLAG",
            "An option for compiling C++ files and for linking. Can be given several times.");
  add_texts(*app, "--cflag", arguments->c_flags, "FLAG",
            "An option for compiling C files, and for linking where all are C. Can be given several times.");
  add_text(*app, "--spec", arguments->run.spec, kFileType,
           "Which functions should be atomic or deterministic. 'heddle spec --help' tells what it holds.");
  add_report_options(*app, arguments->run.report);
  app->footer(checkers_help() + kExamples + suppressions_and_settings_help("try") + run_exit_codes_help());
  commands.push_back({app, [arguments] { return try_files(*arguments); }});
}

}  // namespace heddle
