#include "pass/focus_pass.h"

#include <optional>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MemoryModelRelaxationAnnotations.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>

#include "pass/class_names.h"
#include "pass/focus_file.h"
#include "pass/function_summary.h"
#include "pass/library_functions.h"
#include "pass/noted_text.h"
#include "pass/source_names.h"
#include "pass/stand_in.h"
#include "pass/summary_pass.h"
#include "pass/wait_predicates.h"
#include "src/types/path.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<std::string> focus_file("heddle-focus", cl::desc("the file that says what need not be checked"));

constexpr StringRef kInModule = "heddle.focus";
constexpr StringRef kQuietInModule = "heddle.focus.quiet";
constexpr StringRef kCleanInModule = "heddle.focus.clean";
constexpr StringRef kMark = "heddle";
constexpr StringRef kProven = "proven";
// A prefix of its own: LLVM puts the tags of one prefix together.
constexpr StringRef kElementMark = "heddle.element";
constexpr StringRef kByte = "byte";
// What the library does for one call is of any size up to this.
constexpr uint64_t kMostOfLibrary = 64;
constexpr uint64_t kMostOfOne = 8;  // bytes that are certainly one access

using Spot = std::tuple<std::string, unsigned, unsigned>;

std::string name_of_scope(const DILocalScope& scope) {
  const DISubprogram* const function = scope.getSubprogram();
  if (function == nullptr) return "";
  return (function->getLinkageName().empty() ? function->getName() : function->getLinkageName()).str();
}

// Where the program does it: what the library does, it does for whom it was inlined into.
const DILocation* place_of(const Instruction& instruction) {
  const DILocation* place = instruction.getDebugLoc();
  while (place != nullptr && place->getInlinedAt() != nullptr && is_of_library(place->getScope()))
    place = place->getInlinedAt();
  return place;
}

// What the optimizer makes of accesses at several places stands at none of them, but still in the innermost
// function that they all were inlined into.
bool is_of_several_places(const DILocation& place) { return place.getLine() == 0 || place.getColumn() == 0; }

std::optional<Spot> spot_of(const Instruction& instruction) {
  const DILocation* const place = place_of(instruction);
  if (place == nullptr || is_of_several_places(*place)) return std::nullopt;
  return Spot{name_of_scope(*place->getScope()), place->getLine(), place->getColumn()};
}

struct Found {
  bool needs_check = false;
  uint64_t size = 0;
};

// What the source has at its places: plain accesses, and atomic operations.
struct Spots {
  std::map<Spot, Found> plain;
  std::map<Spot, bool> is_quiet;             // whether relaxed loads there mean nothing to races
  std::set<const Function*> unclean;         // functions in which something needs a check
  std::set<const Instruction*> byte_writes;  // stores of one byte to an element of a container
};

// Makes unclean who calls the unclean: they may be inlined. Through a pointer anybody may be called.
void spread_to_callers(const Module& module, std::set<const Function*>& unclean) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Function& function : module) {
      if (function.isDeclaration() || unclean.contains(&function)) continue;
      const bool calls_unclean = any_of(instructions(function), [&](const Instruction& instruction) {
        const auto* const call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr || call->isInlineAsm()) return false;
        return call->getCalledFunction() == nullptr || unclean.contains(call->getCalledFunction());
      });
      if (calls_unclean) has_changed |= unclean.insert(&function).second;
    }
  }
}

uint64_t size_of(const Instruction& instruction, const DataLayout& layout) {
  const Type* type = nullptr;
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) type = load->getType();
  if (const auto* store = dyn_cast<StoreInst>(&instruction)) type = store->getValueOperand()->getType();
  if (const auto* copy = dyn_cast<MemIntrinsic>(&instruction))
    if (const auto* length = dyn_cast<ConstantInt>(copy->getLength())) return length->getZExtValue();
  // A lock that is made is written to as a whole, and by nothing else.
  if (const auto* call = dyn_cast<CallBase>(&instruction);
      call != nullptr && call->getCalledFunction() != nullptr)
    if (const std::string name = name_of(*call->getCalledFunction()).qualified;
        StringRef(name).ends_with("mutex") && is_constructor(name) &&
        call->getParamDereferenceableBytes(0) > 0)
      return call->getParamDereferenceableBytes(0);
  if (type == nullptr) return kMostOfLibrary;
  return layout.getTypeStoreSize(const_cast<Type*>(type)).getKnownMinValue();
}

std::string normal(std::string place, const FocusFile& focus) {
  return types::normal_place(std::move(place),
                             [&](const std::string& part) { return focus.taken.contains(part); });
}

using Members = std::map<std::string, std::vector<ClassMember>>;  // by class

// What the places of an object's members begin with, by the path to the object.
std::string within(const std::string& path) {
  std::string place = types::place_of(path);
  return place.empty() ? place : place + "/";
}

// Whether a copy of a whole object needs no check: none of its members does, nor any of their parts.
bool leaves_out_whole(const std::string& class_name, const Members& members, const FocusFile& focus,
                      bool is_typed, const std::string& prefix) {
  const auto found = members.find(class_name);
  if (found == members.end() || prefix.size() > 400) return false;
  return all_of(found->second, [&](const ClassMember& member) {
    if (member.kind != MemberKind::kData) return false;
    const std::string place = prefix + member.name;
    if (members.contains(member.type) && leaves_out_whole(member.type, members, focus, is_typed, place + "/"))
      return true;
    return focus.leaves_out(normal(place, focus), is_typed);
  });
}

// Whether the access may have been made of several that lie side by side, of which this place knows only
// some: by the optimizer's vectors, or where the library does more than the place says.
bool may_be_of_several(const Instruction& instruction, uint64_t size_there) {
  if (isa<MemSetInst>(instruction)) return size_there == kMostOfLibrary;
  const auto* const store = dyn_cast<StoreInst>(&instruction);
  return (store != nullptr ? store->getValueOperand()->getType() : instruction.getType())->isVectorTy();
}

using Accesses = DenseMap<const Instruction*, bool>;  // whether it needs a check

bool is_byte_write(const SummaryOperation& operation) {
  const auto* const store = dyn_cast<StoreInst>(operation.instruction);
  return store != nullptr && store->getValueOperand()->getType()->isIntegerTy(8) &&
         StringRef(operation.path).ends_with(("/" + std::string(types::kElement)));
}

Spots find_spots(const Module& copy, const FocusFile& focus, Accesses& accesses) {
  Spots spots;
  const ClassNames classes(copy);
  Members members;
  for (ClassNames::Class& described : classes.classes())
    members[described.name] = std::move(described.members);
  SmallPtrSet<const Function*, 32> reaching;
  find_reaching(copy, reaching);
  for (const Function& function : copy) {
    if (function.isDeclaration() || is_library_function(function)) continue;
    const std::string symbol = unique_symbol(function);
    const bool is_typed = focus.methods.contains(symbol);
    const bool has_other_variables = waits_with_predicate(function);
    const auto is_exempt = [&](const SummaryOperation& operation) {
      return focus.exempt.contains({symbol, site_of(operation.instruction), operation.path}) &&
             (!has_other_variables || types::is_parameter(types::root_of(operation.path)));
    };
    for (const SummaryBlock& block : summarize(function, classes, reaching).blocks)
      for (const SummaryOperation& operation : block.operations) {
        const StringRef kind = operation.kind;
        const bool is_whole = kind == "read-whole" || kind == "write-whole";
        if (kind == "atomic")
          if (const std::optional<Spot> spot = spot_of(*operation.instruction)) {
            bool& is_quiet = spots.is_quiet.try_emplace(*spot, true).first->second;
            is_quiet &= focus.quiet.contains(normal(types::place_of(operation.path), focus));
          }
        if (kind != "read" && kind != "write" && !is_whole) continue;
        const bool is_left_out =
            is_exempt(operation) ||
            (is_whole ? leaves_out_whole(operation.callee, members, focus, is_typed, within(operation.path))
                      : focus.leaves_out(normal(types::place_of(operation.path), focus), is_typed));
        accesses[operation.instruction] |= !is_left_out;
        if (is_byte_write(operation)) spots.byte_writes.insert(operation.instruction);
        if (!is_left_out) spots.unclean.insert(&function);
        const std::optional<Spot> spot = spot_of(*operation.instruction);
        if (!spot) continue;
        Found& found = spots.plain[*spot];
        found.size = std::max(found.size, size_of(*operation.instruction, copy.getDataLayout()));
        found.needs_check |= !is_left_out;
      }
  }
  spread_to_callers(copy, spots.unclean);
  return spots;
}

// A scope that no access is in, so that it is no news to be outside of it. It has no identity of its own:
// what is inlined is outside of the same one.
MDNode* scope_of_nobody(LLVMContext& context) {
  MDNode* const domain = MDNode::get(context, {MDString::get(context, kMark)});
  return MDNode::get(context, {MDString::get(context, kProven), domain});
}

// Says of the accesses that need no check that they need none, in two ways: by annotations of the memory
// model and as a scope that they do not alias with. Both are the kind of mark that the optimizer leaves on
// what it makes of several accesses if all of them have it, and else drops. Vectors and merged branches keep
// the first; what a loop loads before it and stores after it, instead of all the time, has only the second,
// and the load stands nowhere in the source.
void mark(LLVMContext& context, const Accesses& accesses, const Spots& spots, const Originals& originals) {
  MDNode* const outside = MDNode::get(context, {scope_of_nobody(context)});
  for (const auto& [seen, needs_check] : accesses) {
    auto* const access = const_cast<Instruction*>(originals.lookup(seen));
    if (access == nullptr || !isa<LoadInst, StoreInst>(access)) continue;
    SmallVector<MMRAMetadata::TagT, 2> tags;
    if (!needs_check) tags.emplace_back(kMark, kProven);
    if (spots.byte_writes.contains(seen)) tags.emplace_back(kElementMark, kByte);
    if (!tags.empty()) access->setMetadata(LLVMContext::MD_mmra, MMRAMetadata::getMD(context, tags));
    if (!needs_check)
      access->setMetadata(LLVMContext::MD_noalias,
                          MDNode::concatenate(access->getMetadata(LLVMContext::MD_noalias), outside));
  }
}

bool is_marked(const Instruction& instruction) {
  if (MMRAMetadata(instruction).hasTag(kMark, kProven)) return true;
  const MDNode* const outside = instruction.getMetadata(LLVMContext::MD_noalias);
  return outside != nullptr && isa<LoadInst, StoreInst>(instruction) &&
         is_contained(outside->operands(), scope_of_nobody(instruction.getContext()));
}

// The program says of itself that it does not tell everything, and by what focus file
// (src/cli/focus_notes.h).
void leave_note(Module& module, StringRef focus) { note_text(module, "heddle_focus_notes", focus); }

}  // namespace

bool is_focusing() { return !focus_file.empty(); }

bool writes_byte_elements(const Instruction& instruction) {
  return isa<StoreInst>(instruction) && MMRAMetadata(instruction).hasTag(kElementMark, kByte);
}

void note_no_focus(Module& module) { leave_note(module, "-"); }

PreservedAnalyses FocusPass::run(Module& module, ModuleAnalysisManager&) {
  LLVMContext& context = module.getContext();
  Expected<FocusFile> focus = FocusFile::read(focus_file);
  if (!focus) {
    context.emitError(toString(focus.takeError()));
    return PreservedAnalyses::all();
  }
  if (Error stale = focus->check_sources(module, focus_file)) {
    context.emitError(toString(std::move(stale)));
    return PreservedAnalyses::all();
  }
  Originals originals;
  const std::unique_ptr<Module> copy = promoted_copy(module, &originals);
  NamedMDNode* const table = module.getOrInsertNamedMetadata(kInModule);
  const auto number = [&](uint64_t value) {
    return ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(context), value));
  };
  Accesses accesses;
  const Spots spots = find_spots(*copy, *focus, accesses);
  const auto note_in = [&](NamedMDNode* table, const Spot& spot, uint64_t size) {
    table->addOperand(
        MDNode::get(context, {MDString::get(context, std::get<0>(spot)), number(std::get<1>(spot)),
                              number(std::get<2>(spot)), number(size)}));
  };
  for (const auto& [spot, found] : spots.plain)
    if (!found.needs_check) note_in(table, spot, found.size);
  NamedMDNode* const quiet = module.getOrInsertNamedMetadata(kQuietInModule);
  for (const auto& [spot, is_quiet] : spots.is_quiet)
    if (is_quiet) note_in(quiet, spot, 0);
  NamedMDNode* const clean = module.getOrInsertNamedMetadata(kCleanInModule);
  for (const Function& function : *copy)
    if (!function.isDeclaration() && !is_library_function(function) && !spots.unclean.contains(&function) &&
        function.getSubprogram() != nullptr)
      clean->addOperand(
          MDNode::get(context, {MDString::get(context, name_of_scope(*function.getSubprogram()))}));
  mark(context, accesses, spots, originals);
  if (focus->mode != FocusFile::Mode::kField) insert_stand_ins(module, *focus);
  leave_note(module, focus->hash + " " + std::string(focus_file));
  return PreservedAnalyses::none();
}

void remove_marks(Module& module) {
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (is_marked(instruction) || writes_byte_elements(instruction))
        instruction.setMetadata(LLVMContext::MD_mmra, nullptr);
}

FocusSpots::FocusSpots(Module& module) {
  const auto take = [&](StringRef name, std::map<Spot, uint64_t>& into) {
    NamedMDNode* const table = module.getNamedMetadata(name);
    if (table == nullptr) return;
    for (const MDNode* row : table->operands()) {
      const auto number = [&](unsigned column) {
        return mdconst::extract<ConstantInt>(row->getOperand(column))->getZExtValue();
      };
      into[{cast<MDString>(row->getOperand(0))->getString().str(), static_cast<unsigned>(number(1)),
            static_cast<unsigned>(number(2))}] = number(3);
    }
    table->eraseFromParent();
  };
  take(kInModule, sizes_);
  take(kQuietInModule, quiet_);
  if (NamedMDNode* const clean = module.getNamedMetadata(kCleanInModule)) {
    for (const MDNode* row : clean->operands())
      clean_.insert(cast<MDString>(row->getOperand(0))->getString().str());
    clean->eraseFromParent();
  }
}

bool FocusSpots::is_quiet_load(const Instruction& instruction) const {
  const auto* const load = dyn_cast<LoadInst>(&instruction);
  if (load == nullptr || quiet_.empty() || isAcquireOrStronger(load->getOrdering())) return false;
  const std::optional<Spot> spot = spot_of(instruction);
  return spot && quiet_.contains(*spot);
}

bool FocusSpots::covers(const Instruction& instruction, uint64_t size) const {
  if (is_marked(instruction)) return true;
  if (const DILocation* const place = place_of(instruction); place != nullptr && is_of_several_places(*place))
    return size <= kMostOfOne && clean_.contains(name_of_scope(*place->getScope()));
  if (sizes_.empty()) return false;
  const std::optional<Spot> spot = spot_of(instruction);
  const auto found = spot ? sizes_.find(*spot) : sizes_.end();
  if (found == sizes_.end()) return false;
  return size <= (may_be_of_several(instruction, found->second) ? kMostOfOne : found->second);
}

}  // namespace heddle
