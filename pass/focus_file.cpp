#include "pass/focus_file.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MD5.h>
#include <llvm/Support/MemoryBuffer.h>

#include "pass/summary_pass.h"

namespace heddle {

using namespace llvm;

Expected<FocusFile> FocusFile::read(const std::string& file) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!text)
    return createStringError("cannot read the focus file '" + file + "': " + text.getError().message());
  FocusFile focus;
  MD5 hash;
  hash.update((*text)->getBuffer());
  MD5::MD5Result digest;
  hash.final(digest);
  focus.hash = digest.digest().str().str();
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto wrong = [&](const Twine& what) {
      return createStringError(file + ":" + Twine(i + 1) + ": " + what);
    };
    if (i == 0) {
      if (lines[i] != "heddle-focus 2") return wrong("no focus file; 'heddle focus' makes one");
      continue;
    }
    if (lines[i].empty()) continue;
    SmallVector<StringRef> words;
    lines[i].split(words, '\t');
    const StringRef kind = words[0];
    if (words.size() < 2) return wrong("'" + kind + "' lacks a part");
    const std::string first = words[1].str();
    if (kind == "mode") {
      focus.mode = first == "field" ? Mode::kField : first == "method" ? Mode::kMethod : Mode::kCombined;
    } else if (kind == "taken") {
      focus.taken.insert(first);
    } else if (kind == "field") {
      focus.fields.insert(first);
    } else if (kind == "quiet") {
      focus.quiet.insert(first);
    } else if (kind == "method") {
      focus.methods.insert(first);
    } else if (kind == "source" && words.size() == 3) {
      focus.sources[words[2].str()] = first;
    } else if (kind == "exempt" && words.size() == 4) {
      focus.exempt.insert({first, words[2].str(), words[3].str()});
    } else if (kind == "guarded" && words.size() == 3) {
      focus.guarded[first] = words[2].str();
    } else if (kind == "required" && words.size() == 5) {
      Required required{0, words[3].str(), words[4] == "shared"};
      if (words[2].getAsInteger(10, required.parameter)) return wrong("'" + words[2] + "' is not a number");
      focus.required[first].push_back(std::move(required));
    } else if (kind != "atomic") {
      return wrong("'" + kind + "' is no line of a focus file");
    }
  }
  return focus;
}

Error FocusFile::check_sources(const Module& module, const std::string& file) const {
  const std::vector<SourceHash> now = source_hashes(module);
  if (now.empty())
    return createStringError(file +
                             " cannot be used without debug information, which says what the source was");
  for (const SourceHash& source : now) {
    const auto known = sources.find(source.path);
    if (known != sources.end() && known->second == source.hash) continue;
    const std::string what = known == sources.end() ? " is not part of the program that it was made for"
                                                    : " has changed since it was made";
    return createStringError(Twine("the focus file ") + file + " is stale: " + source.path + what +
                             "; build the program with --heddle-summaries and run 'heddle focus' again");
  }
  return Error::success();
}

bool FocusFile::leaves_out(const std::string& place, bool is_typed) const {
  const bool is_proven = fields.contains(place);
  switch (mode) {
    case Mode::kField: return is_proven;
    case Mode::kMethod: return is_typed && (is_proven || guarded.contains(place));
    case Mode::kCombined: return is_proven || (is_typed && guarded.contains(place));
  }
  return false;
}

}  // namespace heddle
