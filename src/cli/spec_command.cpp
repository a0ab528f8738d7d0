// heddle spec: what is expected of a program's functions, and a spec file without what a run has refuted.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "report/findings_file.h"
#include "report/spec_file.h"
#include "runtime/blocks.h"
#include "symbols/executable.h"

namespace heddle {

namespace {

struct SpecArguments {
  std::string file;  // the program, or with --refine the spec file
  std::string refine;
  std::string output = "-";
};

std::string reason_for(uint32_t origin) {
  switch (origin) {
    case kHeddleByDefault: return "public in a class that owns a mutex or an atomic";
    case kHeddleByAnnotation: return "annotated in the source";
    case kHeddleByScope: return "a scope in the source (heddle/heddle.h)";
    case kHeddleBySpec: return "named by the spec file it was built with";
    default: return "";
  }
}

SpecFile spec_of_program(const std::string& program) {
  if (program.empty())
    throw InputError("a program is required; usage: heddle spec PROGRAM, or heddle spec --refine FINDINGS");
  InputFile readable(program);
  if (program_kind(program) == ProgramKind::kNone)
    throw InputError(fmt::format("{}: no program: it is not an ELF file", program));
  std::vector<NotedBlock> blocks = noted_blocks(program);
  if (blocks.empty() && !needs_library(program, "libheddle_runtime.so"))
    throw InputError(fmt::format(
        "{}: was not built with Heddle, so nothing is expected of it; build it with heddle-clang++",
        program));
  std::sort(blocks.begin(), blocks.end(), [](const NotedBlock& a, const NotedBlock& b) {
    return std::tie(a.name, a.kind, a.origin) < std::tie(b.name, b.kind, b.origin);
  });
  SpecFile spec;
  for (const NotedBlock& block : blocks) {
    auto& list = block.kind == kHeddleDeterministic ? spec.deterministic : spec.atomic;
    // A function may be noted by several files that include it.
    if (list.empty() || list.back().text != block.name)
      list.push_back({block.name, "", reason_for(block.origin)});
  }
  return spec;
}

// A block that a run has refuted, and what the run said.
struct Refuted {
  std::string block;
  std::string message;
};

std::vector<Refuted> refuted_blocks(const std::string& path) {
  const FindingsFile file = FindingsFile::load(path);
  std::vector<Refuted> refuted;
  for (const Finding& finding : file.report.findings)
    for (const std::string& block : finding.blocks)
      if (std::none_of(refuted.begin(), refuted.end(),
                       [&](const Refuted& other) { return other.block == block; }))
        refuted.push_back({block, finding.message});
  return refuted;
}

SpecFile refined(SpecFile spec, const std::vector<Refuted>& refuted) {
  for (const Refuted& one : refuted) {
    const auto names_it = [&](const SpecPattern& pattern) { return pattern.text == one.block; };
    std::erase_if(spec.atomic, names_it);
    std::erase_if(spec.deterministic, names_it);
    if (std::none_of(spec.ignore.begin(), spec.ignore.end(), names_it))
      spec.ignore.push_back({one.block, "", one.message});
  }
  return spec;
}

int print_spec(const SpecArguments& arguments) {
  std::string text;
  if (arguments.refine.empty()) {
    text = fmt::format("# What Heddle expects of {}.\n", printable(arguments.file)) +
           spec_of_program(arguments.file).text();
  } else {
    SpecFile spec;
    if (!arguments.file.empty())
      spec = SpecFile::parse(read_whole_file(arguments.file), input_name(arguments.file));
    text = refined(std::move(spec), refuted_blocks(arguments.refine)).text();
  }
  if (is_same_file(arguments.output, arguments.refine) ||
      (arguments.refine.empty() && is_same_file(arguments.output, arguments.file)))
    throw InputError(fmt::format("{}: cannot write: it is an input", arguments.output));
  OutputFile out(arguments.output);
  out.write(text);
  out.commit();
  return kExitClean;
}

constexpr const char* kSpecExamples = R"(Examples:
  heddle spec ./my_test                                   what is expected, and why
  heddle run --format json -o run.json -- ./my_test
  heddle spec --refine run.json -o spec.toml              without what that run has refuted
  heddle spec --refine run.json spec.toml -o spec.toml    the same for a spec file that there is
  heddle run --spec spec.toml -- ./my_test                use it; heddle-clang++ --heddle-spec=spec.toml too

A spec file has three lists of patterns, where * stands for any characters and ? for one:
  atomic = ["Account::*"]
  deterministic = ["solve"]
  ignore = ["Account::dump"]
)";

}  // namespace

void add_spec_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<SpecArguments>();
  CLI::App* app = root.add_subcommand(
      "spec", "Print what is expected of a program's functions, or a spec without what a run has refuted.");
  add_text(*app, "FILE", arguments->file, kFileType,
           "A program built with Heddle; with --refine the spec file to refine, if there is one.");
  add_text(*app, "--refine", arguments->refine, kFileType,
           "The JSON report of a run: blocks that it has refuted go to 'ignore', with what was found.");
  add_text(*app, "--output,-o", arguments->output, kFileType,
           "Where to write the spec. A file appears only once it is complete. Default: standard output.");
  app->footer(kSpecExamples);
  commands.push_back({app, [arguments] { return print_spec(*arguments); }});
}

}  // namespace heddle
