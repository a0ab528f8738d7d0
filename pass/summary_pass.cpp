#include "pass/summary_pass.h"

#include <map>
#include <set>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Path.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "pass/class_names.h"
#include "pass/first_members.h"
#include "pass/function_summary.h"
#include "pass/library_functions.h"
#include "pass/memory_paths.h"
#include "pass/noted_text.h"
#include "pass/source_names.h"
#include "pass/wait_predicates.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<bool> summarizes("heddle-summaries",
                         cl::desc("put what functions do with shared memory into the object"));

// Why a function's address is used, and whether somebody outside may call it.
struct Taken {
  bool is_taken = false;
  bool is_entry = false;
};

// A class whose base is not in this file may be known to code that calls its virtual functions.
bool has_foreign_base(const GlobalVariable& table) {
  const Module& module = *table.getParent();
  const GlobalVariable* const type =
      module.getGlobalVariable(("_ZTI" + table.getName().drop_front(4)).str(), true);
  if (type == nullptr || !type->hasInitializer()) return true;
  const auto* const parts = dyn_cast<ConstantStruct>(type->getInitializer());
  if (parts == nullptr) return true;
  for (unsigned i = 2; i < parts->getNumOperands(); ++i)  // behind its own table and its name
    if (const auto* base = dyn_cast<GlobalVariable>(parts->getOperand(i)->stripPointerCasts());
        base != nullptr && base->getName().starts_with("_ZTI") && base->isDeclaration())
      return true;
  return false;
}

Taken taken(const Function& function) {
  Taken result;
  SmallVector<const Value*> waiting = {&function};
  SmallPtrSet<const Value*, 8> seen;
  while (!waiting.empty()) {
    const Value* const value = waiting.pop_back_val();
    for (const Use& use : value->uses()) {
      const User* const user = use.getUser();
      if (const auto* call = dyn_cast<CallBase>(user); call != nullptr && call->isCallee(&use)) continue;
      if (const auto* table = dyn_cast<GlobalVariable>(user);
          table != nullptr && table->getName().starts_with("_ZTV")) {
        result.is_taken = true;
        result.is_entry |= is_library_function(function) || has_foreign_base(*table);
        continue;
      }
      if (isa<GlobalAlias>(user) || (isa<Constant>(user) && !isa<GlobalVariable>(user))) {
        if (seen.insert(user).second) waiting.push_back(user);
        continue;
      }
      if (const auto* list = dyn_cast<GlobalVariable>(user);
          list != nullptr && list->getName().starts_with("llvm.global.annotations"))
        continue;
      result.is_taken = result.is_entry = true;
    }
  }
  return result;
}

bool is_initializer(const Function& function) {
  return function.getName().starts_with("_GLOBAL__") || function.getName().starts_with("__cxx_global_");
}

// After one, relaxed loads that came before it order threads.
bool has_acquire_fence(const Function& function) {
  return any_of(instructions(function), [](const Instruction& instruction) {
    const auto* const fence = dyn_cast<FenceInst>(&instruction);
    return fence != nullptr && isAcquireOrStronger(fence->getOrdering()) &&
           fence->getSyncScopeID() != SyncScope::SingleThread;
  });
}

class Text {
 public:
  explicit Text(const Module& module) : module_(module), classes_(module) {
    find_reaching(module, reaching_);
  }

  std::string make() {
    line({"heddle-summary 5"});
    if (module_.debug_compile_units().empty()) {
      add_opaque();
      return text_;
    }
    for (const SourceHash& source : source_hashes(module_)) line({"source", source.hash, source.path});
    if (any_of(module_, has_acquire_fence)) line({"fences"});
    add_globals();
    add_classes();
    for (const Function& function : module_)
      if (!function.isDeclaration() && !function.getName().starts_with("heddle_")) add(function);
    return text_;
  }

 private:
  void line(ArrayRef<std::string> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i > 0) text_ += '\t';
      for (const char c : words[i]) text_ += c == '\t' || c == '\n' || c == '\0' ? ' ' : c;
    }
    text_ += '\n';
  }

  // Without debug information members have no names: the classes are told, and no proof is made of them.
  void add_opaque() {
    line({"opaque-file", module_.getSourceFileName()});
    std::set<std::string> names;
    for (const StructType* type : module_.getIdentifiedStructTypes())
      if (!ClassNames::is_library(*type)) names.insert(ClassNames::name_of(*type));
    for (const std::string& name : names)
      if (!name.empty()) line({"opaque", name});
  }

  void add_globals() {
    for (const GlobalVariable& variable : module_.globals()) {
      if (variable.isConstant() || variable.isThreadLocal()) continue;
      SmallVector<DIGlobalVariableExpression*, 1> expressions;
      variable.getDebugInfo(expressions);
      if (expressions.empty()) continue;
      const DIGlobalVariable& debug = *expressions.front()->getVariable();
      const MemberKind kind = ClassNames::kind_of(debug.getType());
      if (kind == MemberKind::kAtomic) continue;
      const bool is_object = isa<StructType>(variable.getValueType()) && kind == MemberKind::kData &&
                             !ClassNames::class_of(debug.getType()).empty() &&
                             !ClassNames::is_library(*cast<StructType>(variable.getValueType()));
      if (is_object) continue;  // its members are known by their class
      line({kind == MemberKind::kLock ? "lock" : "global", root_of_global(variable),
            (debug.getFilename() + ":" + Twine(debug.getLine())).str()});
    }
  }

  void add_classes() {
    for (const ClassNames::Class& described : classes_.classes()) {
      line({"class", described.name, std::to_string(described.size)});
      for (const ClassMember& member : described.members)
        line({"member", member.name, std::to_string(member.offset), std::to_string(member.size),
              member.kind == MemberKind::kLock     ? "lock"
              : member.kind == MemberKind::kAtomic ? "atomic"
                                                   : "data",
              member.type, member.site});
    }
  }

  void add(const Function& function) {
    const bool is_library = is_library_function(function);
    const Taken use = taken(function);
    if (is_library && !reaching_.contains(&function)) return;
    const FunctionName name = name_of(function);
    std::string flags;
    if (name.is_constructor_or_destructor)
      flags += StringRef(name.qualified).substr(name.qualified.rfind("::") + 2).starts_with("~") ? 'd' : 'c';
    if (!is_library && function.hasStructRetAttr()) flags += 'r';
    if (is_library) flags += 'l';
    if (use.is_entry || is_initializer(function) || function.getName() == "main") flags += 'e';
    if (use.is_taken) flags += 't';
    const DISubprogram* debug = function.getSubprogram();
    // Where a member is declared: what others see of it.
    if (debug != nullptr && debug->getDeclaration() != nullptr) debug = debug->getDeclaration();
    line({"function", unique_symbol(function),
          is_initializer(function) ? "(initializer)"
          : name.qualified.empty() ? function.getName().str()
                                   : name.qualified,
          debug == nullptr ? "" : (debug->getFilename() + ":" + Twine(debug->getLine())).str(),
          signature_of(*function.getFunctionType()), std::to_string(function.arg_size()),
          flags.empty() ? "-" : flags});
    const FunctionSummary summary =
        is_library ? summarize_library(function, reaching_) : summarize(function, classes_, reaching_);
    for (const SummaryBlock& block : summary.blocks) {
      text_ += "block";
      for (const unsigned next : block.next) text_ += "\t" + std::to_string(next);
      text_ += '\n';
      for (const SummaryOperation& operation : block.operations) {
        std::vector<std::string> words = {operation.kind, site_of(operation.instruction)};
        if (operation.has_callee()) words.push_back(operation.callee);
        words.push_back(operation.path);
        words.insert(words.end(), operation.arguments.begin(), operation.arguments.end());
        line(words);
      }
    }
  }

  const Module& module_;
  ClassNames classes_;
  SmallPtrSet<const Function*, 32> reaching_;
  std::string text_;
};

}  // namespace

std::string site_of(const Instruction* instruction) {
  const DILocation* place = instruction == nullptr ? nullptr : instruction->getDebugLoc().get();
  if (place == nullptr) return "";
  return (place->getFilename() + ":" + Twine(place->getLine()) + ":" + Twine(place->getColumn())).str();
}

bool is_summarizing() { return summarizes; }

std::unique_ptr<Module> promoted_copy(const Module& module, Originals* originals) {
  ValueToValueMapTy copies;
  std::unique_ptr<Module> copy = CloneModule(module, copies);
  if (originals != nullptr)
    for (const Function& function : module)
      for (const Instruction& instruction : instructions(function))
        if (instruction.mayReadOrWriteMemory())
          (*originals)[cast<Instruction>(copies[&instruction])] = &instruction;
  for (Function& function : *copy) promote_variables(function);
  name_first_members(*copy, ClassNames(*copy));
  return copy;
}

std::vector<SourceHash> source_hashes(const Module& module) {
  std::map<std::string, std::string> found;
  DebugInfoFinder finder;
  finder.processModule(module);
  const auto add = [&](const DIFile* file) {
    if (file == nullptr || !file->getChecksum()) return;
    SmallString<256> path(file->getFilename());
    if (!sys::path::is_absolute(path)) {
      path = file->getDirectory();
      sys::path::append(path, file->getFilename());
    }
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (!path.starts_with("/usr/")) found[path.str().str()] = file->getChecksum()->Value.str();
  };
  for (const DICompileUnit* unit : finder.compile_units()) add(unit->getFile());
  for (const DISubprogram* function : finder.subprograms()) add(function->getFile());
  for (const DIType* type : finder.types()) add(type->getFile());
  std::vector<SourceHash> result;
  result.reserve(found.size());
  for (const auto& [path, hash] : found) result.push_back({path, hash});
  return result;
}

PreservedAnalyses SummaryPass::run(Module& module, ModuleAnalysisManager&) {
  const std::unique_ptr<Module> copy = promoted_copy(module);
  embed_predicates(*copy);
  note_text(module, "heddle_summaries", Text(*copy).make());
  return PreservedAnalyses::all();
}

}  // namespace heddle
