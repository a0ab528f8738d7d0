#include "types/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "types/atomic_places.h"
#include "types/held_locks.h"
#include "types/path.h"

namespace heddle::types {

std::string_view name_of(Unsafe reason) {
  switch (reason) {
    case Unsafe::kNo: return "proven";
    case Unsafe::kNoOwner: return "no owner";
    case Unsafe::kUnguarded: return "unguarded access";
    case Unsafe::kIllFormed: return "ill-formed owner (1)";
    case Unsafe::kEscapes: return "thread-local and shared (2)";
    case Unsafe::kWritten: return "readonly and written (3)";
    case Unsafe::kNotUnique: return "handed over and kept (4)";
    case Unsafe::kAssigned: return "assigned without the lock (5)";
    case Unsafe::kPassed: return "passed without the lock (6)";
    case Unsafe::kAddressTaken: return "address taken";
    case Unsafe::kForeign: return "given to code without summary";
    case Unsafe::kMixed: return "atomic and plain";
  }
  return "";
}

namespace {

class Checker {
 public:
  Checker(const Program& program, const Types& types)
      : program_(program),
        types_(types),
        graph_(program),
        flow_(program, graph_),
        sharing_(graph_, flow_),
        places_(program, graph_),
        locks_(program, graph_, flow_, sharing_, places_, types) {}

  CheckResult run() {
    collect_fields();
    find_foreign();
    check_owners();
    check_accesses();
    check_copies();
    check_atomics();
    find_exempt();
    check_methods();
    find_atomicity();
    result_.missing = graph_.missing();
    result_.opaque_files = program_.opaque_files;
    result_.foreign_parts = program_.foreign_parts;
    for (const auto& [place, site] : places_.taken()) result_.taken.insert(place);
    for (const auto& [place, verdict] : result_.fields)
      result_.unproven_for_missing += verdict.reason == Unsafe::kForeign;
    return std::move(result_);
  }

 private:
  void collect_fields() {
    const auto add = [&](const std::string& place) {
      FieldVerdict& verdict = result_.fields[place];
      if (const auto declared = types_.owners.find(place); declared != types_.owners.end())
        verdict.owner = declared->second.owner;
      // What runs did not tell may still be seen in the code.
      if (verdict.owner.kind != OwnerKind::kUnknown) return;
      guessed_.insert(place);
      verdict.owner.kind = OwnerKind::kReadonly;
    };
    for (const auto& [name, type] : program_.classes)
      for (const Member& member : type.members)
        if (!member.is_lock && !member.is_atomic && !program_.is_object(member)) add(member.name);
    for (const auto& [name, site] : program_.globals)
      if (!program_.global_locks.contains(name)) add(name);
    for (std::size_t i = 0; i < graph_.functions().size(); ++i)
      locks_.visit_accesses(i, [&](const Access& access, const State&) {
        const Member* const member = program_.member(access.place);
        const bool has_parts = member != nullptr && program_.is_object(*member);
        if (!access.place.empty() && !is_lock(access.place) && !has_parts) add(access.place);
      });
  }

  bool is_lock(const std::string& place) const {
    const Member* const member = program_.member(place.substr(place.rfind('/') + 1));
    return (member != nullptr && (member->is_lock || member->is_atomic)) ||
           program_.global_locks.contains(place);
  }

  // The first reason stays: later ones follow from it more often than not.
  void refute(const std::string& place, Unsafe reason, const std::string& why, const std::string& site) {
    const auto found = result_.fields.find(place);
    if (found == result_.fields.end() || !found->second.is_proven()) return;
    found->second.reason = reason;
    found->second.why = why;
    found->second.site = site;
    if (guessed_.contains(place)) found->second.owner.kind = OwnerKind::kUnknown;
  }

  void refute_class(const std::string& class_name, Unsafe reason, const std::string& why,
                    const std::string& site) {
    if (!refuted_classes_.insert(class_name).second) return;
    for (const std::string& place : places_.all_of(class_name)) refute(place, reason, why, site);
    // As part of others it goes by their names.
    for (auto& [place, verdict] : result_.fields)
      if (place.find("/" + class_name + "::") != std::string::npos || place.starts_with(class_name + "::"))
        refute(place, reason, why, site);
    const auto found = program_.classes.find(class_name);
    if (found == program_.classes.end()) return;
    for (const Member& member : found->second.members)
      if (!member.type.empty())
        refute_class(member.type, reason, fmt::format("{}, which leads to {}", why, class_name), site);
  }

  // Whether an access by a pointer that comes from somewhere can be wrong. What nobody but its thread has a
  // pointer to, none leads to.
  static bool is_endangered(const Owner& owner, bool writes) {
    return owner.is_lock() || (writes && owner.kind == OwnerKind::kReadonly);
  }

  // Code without summary may do anything to what it is given, and to all that can be reached from there.
  void find_foreign() {
    may_be_anywhere_ = !program_.foreign_parts.empty();
    for (const std::string& file : program_.foreign_parts)
      for (auto& [place, verdict] : result_.fields)
        refute(place, Unsafe::kForeign,
               fmt::format("parts of {} were compiled with -fsanitize=thread and have no summary", file), "");
    for (const std::string& name : program_.opaque_classes)
      refute_class(name, Unsafe::kIllFormed, "it is used by code compiled without debug information", "");
    for (const Function* function : graph_.functions())
      for (const Block& block : function->blocks)
        for (const Operation& operation : block.operations) {
          if (operation.kind != OperationKind::kPass) continue;
          Operation call;
          call.kind = OperationKind::kCall;
          if (operation.callee.starts_with('*'))
            call.path = operation.callee.substr(1);
          else
            call.callee = operation.callee;
          if (!graph_.targets(call).empty()) continue;
          const std::string whom = call.callee.empty() ? "an unknown function" : call.callee;
          if (operation.path != "?") {
            refute_class(operation.path, Unsafe::kForeign,
                         fmt::format("an object is given to {}, which has no summary", whom), operation.site);
            continue;
          }
          may_be_anywhere_ |= whom != kCopyFrom;
          for (auto& [place, verdict] : result_.fields) {
            if (whom == kCopyFrom || whom == kCopyTo) {
              if (is_endangered(verdict.owner, whom == kCopyTo))
                refute(place, Unsafe::kForeign, fmt::format("{} may be about it", whom), operation.site);
              continue;
            }
            refute(
                place, Unsafe::kForeign,
                fmt::format("{}, which has no summary, is given an object that could be of any class", whom),
                operation.site);
          }
        }
  }

  void check_owners() {
    for (auto& [place, verdict] : result_.fields) {
      if (const auto taken = places_.taken().find(place); taken != places_.taken().end())
        refute(place, Unsafe::kAddressTaken, "its address is given away", taken->second);
      if (!verdict.owner.is_lock()) continue;
      const std::string& lock = verdict.owner.lock;
      const std::string last = lock.substr(lock.rfind('/') + 1);
      const Member* const member = program_.member(last);
      if (!(member != nullptr && member->is_lock) && !program_.global_locks.contains(lock))
        refute(place, Unsafe::kIllFormed, fmt::format("there is no mutex {}", lock), "");
      for (const std::string& pointer : pointers_on("?/" + lock))
        if (!locks_.is_final(pointer))
          refute(place, Unsafe::kAssigned,
                 fmt::format("the way to {} leads through {}, which changes", lock, pointer), "");
    }
  }

  // Whether the access keeps to the owner that its place is declared to have.
  bool keeps_to_owner(const Access& access, const State& before, const Owner& owner) const {
    if (access.is_exempt) return true;
    switch (owner.kind) {
      case OwnerKind::kSelf:
      case OwnerKind::kPath:
      case OwnerKind::kGlobal:
        return locks_.is_held(access.function, before, guard_of(owner, access.path, access.place),
                              access.writes);
      case OwnerKind::kReadonly: return !access.writes;
      case OwnerKind::kThread:
      case OwnerKind::kUnique:
      case OwnerKind::kUnknown: return false;
    }
    return false;
  }

  // Whether the function expects the lock of its callers.
  bool asks_for(std::size_t function, const std::string& lock, bool alone) const {
    const std::set<std::string>& needed = locks_.needed(function);
    return needed.contains(lock) || (!alone && needed.contains(lock + std::string(kShared)));
  }

  static Unsafe reason_for(const Access& access, const Owner& owner) {
    const bool is_whole = access.operation->kind == OperationKind::kWholeRead ||
                          access.operation->kind == OperationKind::kWholeWrite;
    switch (owner.kind) {
      case OwnerKind::kThread: return Unsafe::kEscapes;
      case OwnerKind::kReadonly: return Unsafe::kWritten;
      case OwnerKind::kUnique: return Unsafe::kNotUnique;
      case OwnerKind::kUnknown: return Unsafe::kNoOwner;
      default: return is_whole ? Unsafe::kAssigned : Unsafe::kUnguarded;
    }
  }

  std::string sentence_for(const Access& access, const Owner& owner) const {
    const Function& function = *graph_.functions()[access.function];
    const std::string_view verb = access.writes ? "writes" : "reads";
    switch (owner.kind) {
      case OwnerKind::kThread:
        return fmt::format("{} {} it, and its object may be shared there", function.name, verb);
      case OwnerKind::kReadonly: return fmt::format("{} writes it when others may see it", function.name);
      case OwnerKind::kUnique:
        return fmt::format("{} {} it, and others may have a pointer to it", function.name, verb);
      case OwnerKind::kUnknown:
        return fmt::format("{} {} it, and nothing is known that would make that safe", function.name, verb);
      default: break;
    }
    const std::string lock = guard_of(owner, access.path, access.place);
    if (asks_for(access.function, lock, access.writes) && !graph_.is_called_from_outside(access.function))
      return fmt::format("{} {} it, and some caller does not hold {}", function.name, verb, owner.lock);
    return fmt::format("{} {} it without {}", function.name, verb, owner.lock);
  }

  void check_accesses() {
    for (std::size_t i = 0; i < graph_.functions().size(); ++i)
      locks_.visit_accesses(i, [&](const Access& access, const State& before) {
        const auto found = result_.fields.find(access.place);
        if (found == result_.fields.end()) return;
        FieldVerdict& verdict = found->second;
        ++verdict.accesses;
        if (keeps_to_owner(access, before, verdict.owner)) {
          ++verdict.safe_accesses;
          const Function& function = *graph_.functions()[i];
          verdict.early_accesses += access.is_exempt && !function.is_constructor && !function.is_destructor;
          return;
        }
        const Owner declared = guessed_.contains(access.place) ? Owner() : verdict.owner;
        Unsafe reason = reason_for(access, declared);
        const std::string lock = guard_of(verdict.owner, access.path, access.place);
        if (reason == Unsafe::kUnguarded && asks_for(i, lock, access.writes) &&
            !graph_.is_called_from_outside(i))
          reason = Unsafe::kPassed;
        refute(access.place, reason, sentence_for(access, declared), access.operation->site);
      });
  }

  // An object that is copied as bytes is copied with the elements that its members keep within themselves.
  void check_copies() {
    for (const Function* function : graph_.functions())
      for (const Block& block : function->blocks)
        for (const Operation& operation : block.operations) {
          if (operation.kind != OperationKind::kWholeRead && operation.kind != OperationKind::kWholeWrite)
            continue;
          for (const std::string& member : places_.members_of(operation.callee)) {
            const std::string place = places_.of(operation.path + "/" + member);
            const auto elements = result_.fields.find(place + "/" + std::string(kElement));
            if (elements != result_.fields.end() && !elements->second.is_proven())
              refute(place, Unsafe::kAssigned, "it is copied with its elements, which are not proven",
                     operation.site);
          }
        }
  }

  // An atomic operation takes no lock: whoever else uses the place must be alone with it.
  void check_atomics() {
    const auto is_of_refuted = [&](const std::string& place) {
      return std::any_of(refuted_classes_.begin(), refuted_classes_.end(), [&](const std::string& name) {
        return place.starts_with(name + "::") || place.find("/" + name + "::") != std::string::npos;
      });
    };
    const AtomicPlaces atomics(graph_, flow_, places_, locks_);
    for (const auto& [place, uses] : atomics.all()) {
      if (uses.is_mixed)
        refute(
            place, Unsafe::kMixed,
            fmt::format("{} {} it plainly, {} by an atomic operation", graph_.functions()[uses.plainly]->name,
                        uses.writes ? "writes" : "reads", graph_.functions()[uses.atomically]->name),
            uses.site);
      if (!uses.is_mixed && !may_be_anywhere_ && !places_.taken().contains(place) && !is_of_refuted(place))
        result_.atomic_only.insert(place);
    }
  }

  // Accesses that cannot be in a race whatever becomes of the place otherwise. Destructors are not trusted:
  // an object that goes too early is a race that the checks of its fields would find.
  void find_exempt() {
    if (!program_.foreign_parts.empty()) return;  // which may have started threads
    const Sharing sharing(graph_, flow_, /*trusts_destructors=*/false);
    for (std::size_t i = 0; i < graph_.functions().size(); ++i) {
      const Function& function = *graph_.functions()[i];
      std::set<AccessSpot> others;
      flow_.visit(i, [&](const Operation& operation, const State& before) {
        bool is_exempt = sharing.is_alone(i, before) || sharing.is_unshared(i, operation.path, before);
        bool is_proven = true;
        bool is_access = false;
        locks_.visit_accesses(i, operation, before, [&](const Access& access, const State&) {
          is_access = true;
          const auto found = result_.fields.find(access.place);
          is_proven &= found != result_.fields.end() && found->second.is_proven();
          // What others know elements by, the container's object does not tell.
          is_exempt &= sharing.is_alone(i, before) || !places_.taken().contains(places_.of(access.path));
        });
        if (!is_access || is_proven) return;
        AccessSpot spot{function.symbol, operation.site, operation.path};
        (is_exempt ? result_.exempt : others).insert(std::move(spot));
      });
      for (const AccessSpot& spot : others) result_.exempt.erase(spot);
    }
  }

  // A method is typed when all it does keeps to the owners, provided that its callers hold what it needs. A
  // place that is unproven for another reason than a missing lock leaves its methods untyped.
  void check_methods() {
    for (std::size_t i = 0; i < graph_.functions().size(); ++i) {
      const Function& function = *graph_.functions()[i];
      MethodVerdict& method = result_.methods[function.symbol];
      method.name = function.name;
      method.site = function.site;
      method.is_library = function.is_library;
      method.is_typed = true;
      method.needs = locks_.needed(i);
      method.surely_held = locks_.surely_held(i);
      const auto untype = [&](std::string why, const std::string& site) {
        if (!method.is_typed) return;
        method.is_typed = false;
        method.why = std::move(why);
        method.why_site = site;
      };
      locks_.visit_accesses(i, [&](const Access& access, const State& before) {
        const auto found = result_.fields.find(access.place);
        if (found == result_.fields.end()) {
          if (!access.is_exempt && !is_lock(access.place))
            untype(fmt::format("it {} memory that no type tells", access.writes ? "writes" : "reads"),
                   access.operation->site);
          return;
        }
        const FieldVerdict& field = found->second;
        if (field.is_proven() || access.is_exempt) return;
        const std::string lock = guard_of(field.owner, access.path, access.place);
        const bool is_about_locks = field.reason == Unsafe::kUnguarded || field.reason == Unsafe::kPassed ||
                                    field.reason == Unsafe::kAssigned;
        if (is_about_locks && !lock.empty() &&
            (asks_for(i, lock, access.writes) || keeps_to_owner(access, before, field.owner)))
          return;
        untype(fmt::format("{} is not proven: {}", access.place, name_of(field.reason)),
               access.operation->site);
      });
      flow_.visit(i, [&](const Operation& operation, const State& before) {
        if (operation.kind != OperationKind::kCall) return;
        const std::vector<std::size_t>& targets = graph_.targets(operation);
        for (const std::size_t target : targets)
          for (const std::string& lock : locks_.needed(target)) {
            if (locks_.is_granted(i, before, operation, target, lock)) continue;
            const std::string here = instantiate(lock, operation.arguments);
            if (function.is_library)
              result_.methods[graph_.functions()[target]->symbol].is_called_unseen = true;
            if (!here.empty() && locks_.needed(i).contains(here)) continue;
            untype(fmt::format("it calls {} without {}", graph_.functions()[target]->name, lock),
                   operation.site);
          }
      });
    }
  }

  void find_atomicity() {
    const auto mover = [&](const Access& access, const State& before) {
      const auto found = result_.fields.find(access.place);
      if (access.is_exempt || is_lock(access.place)) return Mover::kBoth;
      if (found == result_.fields.end()) return Mover::kNone;
      if (!found->second.is_proven()) return Mover::kNone;
      if (found->second.owner.kind == OwnerKind::kReadonly) return Mover::kConstant;
      (void)before;
      return Mover::kBoth;
    };
    const std::vector<ConditionalAtomicity> found =
        atomicities(program_, graph_, flow_, locks_, types_, mover);
    for (std::size_t i = 0; i < found.size(); ++i) {
      MethodVerdict& method = result_.methods[graph_.functions()[i]->symbol];
      method.atomicity = found[i];
      method.at_calls = found[i].at(locks_.surely_held(i));
    }
  }

  const Program& program_;
  const Types& types_;
  CallGraph graph_;
  ProgramFlow flow_;
  Sharing sharing_;
  Places places_;
  HeldLocks locks_;
  CheckResult result_;
  std::set<std::string> refuted_classes_;
  bool may_be_anywhere_ = false;   // code without summary, or a write that no type tells
  std::set<std::string> guessed_;  // places of unknown owner that are taken for readonly until refuted
};

}  // namespace

CheckResult check_types(const Program& program, const Types& types) { return Checker(program, types).run(); }

std::string check_text(const CheckResult& result, bool lists_everything) {
  std::size_t proven = 0;
  std::size_t typed = 0;
  std::size_t atomic = 0;
  std::size_t methods = 0;
  for (const auto& [place, verdict] : result.fields) proven += verdict.is_proven();
  for (const auto& [symbol, method] : result.methods) {
    if (method.is_library) continue;
    ++methods;
    typed += method.is_typed;
    atomic += method.is_atomic();
  }
  std::string text =
      fmt::format("fields   {} of {} proven free of races\nmethods  {} of {} typed, {} proven atomic\n",
                  proven, result.fields.size(), typed, methods, atomic);
  if (proven < result.fields.size()) text += "\nfields that are not proven:\n";
  for (const auto& [place, verdict] : result.fields) {
    if (verdict.is_proven()) continue;
    text +=
        fmt::format("  {}  {}; {}\n      {}{}\n", place, owner_text(verdict.owner), name_of(verdict.reason),
                    verdict.why, verdict.site.empty() ? "" : "  at " + verdict.site);
  }
  if (typed < methods) text += "\nmethods that are not typed:\n";
  for (const auto& [symbol, method] : result.methods)
    if (!method.is_library && !method.is_typed)
      text += fmt::format("  {}  {}{}\n", method.name, method.why,
                          method.why_site.empty() ? "" : "  at " + method.why_site);
  if (lists_everything) {
    text += "\nfields that are proven:\n";
    for (const auto& [place, verdict] : result.fields)
      if (verdict.is_proven())
        text += fmt::format("  {}  {}; {}\n", place, owner_text(verdict.owner),
                            fmt::format("{} in the code", counted(verdict.accesses, "use")));
    text += "\nmethods:\n";
    for (const auto& [symbol, method] : result.methods) {
      if (method.is_library) continue;
      std::string needs;
      for (const std::string& lock : method.needs) needs += (needs.empty() ? "; requires " : ", ") + lock;
      text += fmt::format("  {}  {}{}\n", method.name, atomicity_text(method.atomicity), needs);
    }
  }
  if (!result.missing.empty()) {
    std::vector<std::string> names(result.missing.begin(), result.missing.end());
    const std::size_t more = names.size() > 8 ? names.size() - 8 : 0;
    if (more > 0) names.resize(8);
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + printable(name);
    text +=
        fmt::format("\n{} called without summary, which leave {} unproven: {}{}\n",
                    counted(result.missing.size(), "function"), counted(result.unproven_for_missing, "field"),
                    list, more > 0 ? fmt::format(" and {} more", more) : "");
  }
  for (const std::string& file : result.foreign_parts)
    text += fmt::format(
        "\nparts of {} were compiled with -fsanitize=thread and have no summary, which leaves {} unproven; "
        "build "
        "them with 'heddle-clang++ --heddle-summaries'\n",
        printable(file), counted(result.unproven_for_missing, "field"));
  for (const std::string& file : result.opaque_files)
    text +=
        fmt::format("{} was compiled without debug information: what it uses is unproven\n", printable(file));
  return text;
}

}  // namespace heddle::types
