#include "ndseq_oracle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace heddle::oracle {

namespace {

// One line of a trace, taken apart without the help of the reader that the checker uses.
struct Line {
  std::string thread;
  std::string operation;  // "r", "set", …
  std::vector<std::string> operands;
  std::string local;  // after > or <
};

Line parse(const std::string& text) {
  Line line;
  const std::size_t bar = text.find('|');
  line.thread = text.substr(0, bar);
  std::string rest = text.substr(bar + 1, text.find('|', bar + 1) - bar - 1);
  if (const std::size_t arrow = rest.find_first_of("<>"); arrow != std::string::npos) {
    line.local = rest.substr(arrow + 1);
    rest.resize(arrow);
  }
  const std::size_t open = rest.find('(');
  line.operation = rest.substr(0, open);
  if (open == std::string::npos) return line;
  std::stringstream inside(rest.substr(open + 1, rest.size() - open - 2));
  for (std::string operand; std::getline(inside, operand, ',');) line.operands.push_back(operand);
  return line;
}

struct Item {  // an event of S3
  std::size_t at = 0;
  enum { kRead, kWrite, kCount, kAssign, kBranch, kMaybe, kNothing } kind = kRead;
  std::string global;  // with its life, or empty
  std::optional<std::string> sets;
  std::vector<std::string> uses;
  bool decides = false;
  int task = 0;       // the part it belongs to
  int scope = 0;      // the task whose locals it uses
  int guard = -1;     // an item
  int own_read = -1;  // of an update's write
};

struct Part {
  int parent = -1;
  std::string name;
};

struct Execution {
  std::vector<Item> items;
  std::vector<Part> parts{{}};         // 0: the program
  std::vector<int> around_scope{-1};   // by scope
  std::set<std::pair<int, int>> meet;  // parts: the first comes before the second because of a barrier
};

struct ThreadState {
  std::vector<std::pair<char, int>> open;  // 't' and a scope, 'n' and an item
  int base_scope = 0;
  int base_guard = -1;
  std::vector<int> arrivals;  // phases not left yet
  std::set<int> phases;       // arrived in

  int innermost(char kind, int otherwise) const {
    const auto found =
        std::find_if(open.rbegin(), open.rend(), [&](const auto& frame) { return frame.first == kind; });
    return found == open.rend() ? otherwise : found->second;
  }
  int scope() const { return innermost('t', base_scope); }
  int guard() const { return innermost('n', base_guard); }
};

struct PhaseState {
  std::string barrier;
  std::vector<std::pair<int, int>> arrived;  // scope and part
  bool is_left = false;
  std::vector<std::pair<int, int>> went_on;  // scope and part
};

// A take, a drop, a look whether a pointer is left, or that a task or an if (true*) ends, which keeps what it
// has.
struct PointerStep {
  char does = 't';  // 't', 'd', 'l', 'e'
  std::string pointer;
  unsigned number = 0;
  int task = 0;
  int guard = -1;
  std::size_t left = 0;      // its item in what is left
  std::size_t borrowed = 0;  // … and in what is borrowed
  int undone_by = -1;        // a take: the step that drops what it took
  int undoes = -1;           // a drop
};

bool is_inside(const Execution& run, int part, int ancestor) {
  for (; part >= 0; part = run.parts[static_cast<std::size_t>(part)].parent)
    if (part == ancestor) return true;
  return false;
}

// A drop undoes the latest take of its task, in its if (true*), that nothing has undone, unless the object
// has died since. Neither is left. A look that finds no more pointers than others have borrowed conflicts
// with the drops of these.
void settle_pointers(Execution& run, std::vector<PointerStep>& steps) {
  const auto is_open = [&](std::size_t take, std::size_t at) {
    if (steps[take].does != 't' || steps[take].pointer != steps[at].pointer) return false;
    if (steps[take].undone_by >= 0 && static_cast<std::size_t>(steps[take].undone_by) < at) return false;
    for (std::size_t i = take; i < at; ++i) {
      if (steps[i].does == 'd' && steps[i].number == 0 && steps[i].pointer == steps[at].pointer) return false;
      if (steps[i].does == 'e' && steps[i].task == steps[take].task && steps[i].guard == steps[take].guard)
        return false;
    }
    return true;
  };
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].does != 'd') continue;
    for (std::size_t take = at; take-- > 0 && steps[at].undoes < 0;) {
      if (!is_open(take, at) || steps[take].undone_by >= 0) continue;
      if (steps[take].task != steps[at].task || steps[take].guard != steps[at].guard) continue;
      steps[take].undone_by = static_cast<int>(at);
      steps[at].undoes = static_cast<int>(take);
      run.items[steps[take].left].kind = run.items[steps[at].left].kind = Item::kNothing;
    }
  }
  std::set<std::size_t> seen;  // drops of what somebody may have found
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].does != 'l') continue;
    std::vector<std::size_t> open;
    for (std::size_t take = 0; take < at; ++take)
      if (is_open(take, at) && !is_inside(run, steps[at].task, steps[take].task)) open.push_back(take);
    std::size_t borrowed = 0;
    for (const std::size_t take : open) borrowed += steps[take].undone_by >= 0 ? 1 : 0;
    const bool is_seen = steps[at].number > 0 && steps[at].number <= open.size();
    if (is_seen)
      for (const std::size_t take : open)
        if (steps[take].undone_by >= 0) seen.insert(static_cast<std::size_t>(steps[take].undone_by));
    if (!is_seen || steps[at].number > borrowed) {
      run.items[steps[at].borrowed].kind = Item::kNothing;
      run.items[steps[at].borrowed].decides = false;
    }
  }
  for (std::size_t at = 0; at < steps.size(); ++at)
    if (steps[at].does == 'd' && seen.count(at) == 0) run.items[steps[at].borrowed].kind = Item::kNothing;
}

Execution execute(const std::vector<Line>& lines, std::set<std::string>& focus) {
  Execution run;
  std::vector<PointerStep> pointers;
  std::map<std::string, ThreadState> threads;
  std::map<std::string, int> lives;
  std::vector<int> part_of{0};  // by scope: the present part
  std::vector<std::string> names{""};
  std::vector<int> part_number{0};
  std::vector<PhaseState> phases;
  std::map<std::string, int> open_phase;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const Line& line = lines[at];
    ThreadState& thread = threads[line.thread];
    const std::string& op = line.operation;
    const std::string first = line.operands.empty() ? "" : line.operands[0];
    const auto global = [&] { return first + "@" + std::to_string(lives[first]); };
    const auto end_pointers = [&](const ThreadState& of) {
      PointerStep& step = pointers.emplace_back();
      step.does = 'e';
      step.task = part_of[static_cast<std::size_t>(of.scope())];
      step.guard = of.guard();
    };
    const auto add = [&](auto kind) -> Item& {
      Item& item = run.items.emplace_back();
      item.at = at;
      item.kind = kind;
      item.scope = thread.scope();
      item.task = part_of[static_cast<std::size_t>(item.scope)];
      item.guard = thread.guard();
      return item;
    };
    if (op == "r" || op == "ar" || op == "acasfail" || op == "armw") {
      Item& read = add(Item::kRead);
      read.global = global();
      read.decides = line.local.empty();
      if (op == "armw") {
        const int own = static_cast<int>(run.items.size()) - 1;
        // It reads the local, then sets it: the write comes first as far as locals go.
        Item& write = add(Item::kWrite);
        write.global = global();
        write.own_read = own;
        if (!line.local.empty()) {
          write.uses = {line.local};
          run.items[static_cast<std::size_t>(own)].sets = line.local;
        }
      } else if (!line.local.empty()) {
        read.sets = line.local;
      }
    } else if (op == "look" || op == "touch") {
      // Whoever looks knows what he knew and what he sees; whoever touches writes what he knows.
      Item& read = add(Item::kRead);
      read.global = global();
      read.decides = line.local.empty();
      const int own = static_cast<int>(run.items.size()) - 1;
      if (op == "look" && line.local.empty()) continue;
      Item& knows = op == "look" ? add(Item::kAssign) : add(Item::kWrite);
      if (op == "touch") knows.global = global();
      knows.own_read = own;
      if (!line.local.empty()) {
        knows.uses = {line.local};
        knows.sets = line.local;
      }
    } else if (op == "w" || op == "aw") {
      Item& write = add(Item::kWrite);
      write.global = global();
      if (!line.local.empty()) write.uses = {line.local};
    } else if (op == "count") {
      add(Item::kCount).global = global();
    } else if (op == "take" || op == "drop" || op == "alive") {
      PointerStep& step = pointers.emplace_back();
      step.does = op == "alive" ? 'l' : op[0];
      step.pointer = global();
      step.number = static_cast<unsigned>(std::stoul(line.operands[1]));
      if (op != "alive") add(Item::kCount).global = global();
      for (const char* which : {"left of ", "borrowed of "}) {
        if (op == "take" && *which == 'b') continue;
        (*which == 'l' ? step.left : step.borrowed) = run.items.size();
        Item& item = op == "alive" ? add(Item::kRead) : add(Item::kCount);
        item.global = which + step.pointer;
        item.decides = op == "alive";
        step.task = item.task;
        step.guard = item.guard;
      }
    } else if (op == "set") {
      Item& assignment = add(Item::kAssign);
      assignment.sets = first;
      assignment.uses.assign(line.operands.begin() + 1, line.operands.end());
    } else if (op == "br") {
      Item& branch = add(Item::kBranch);
      branch.uses = {first};
      branch.decides = true;
    } else if (op == "nd") {
      add(Item::kMaybe);
      thread.open.emplace_back('n', static_cast<int>(run.items.size()) - 1);
    } else if (op == "endnd" || op == "endtask") {
      end_pointers(thread);
      thread.open.pop_back();
    } else if (op == "task") {
      const int around = thread.scope();
      run.around_scope.push_back(around);
      run.parts.push_back({part_of[static_cast<std::size_t>(around)], first});
      names.push_back(first);
      part_number.push_back(1);
      part_of.push_back(static_cast<int>(run.parts.size()) - 1);
      thread.open.emplace_back('t', static_cast<int>(part_of.size()) - 1);
    } else if (op == "fork") {
      const int scope = thread.scope();
      const int guard = thread.guard();
      threads[first].base_scope = scope;
      threads[first].base_guard = guard;
    } else if (op == "focus") {
      focus.insert(global());
    } else if (op == "alloc" || op == "free") {
      ++lives[first];
    } else if (op == "arrive") {
      const auto open = open_phase.find(first);
      int phase = open == open_phase.end() ? -1 : open->second;
      if (phase < 0 || phases[static_cast<std::size_t>(phase)].is_left || thread.phases.count(phase) > 0) {
        phase = static_cast<int>(phases.size());
        phases.push_back({first, {}, false, {}});
        open_phase[first] = phase;
      }
      thread.phases.insert(phase);
      thread.arrivals.push_back(phase);
      const int scope = thread.scope();
      phases[static_cast<std::size_t>(phase)].arrived.emplace_back(scope,
                                                                   part_of[static_cast<std::size_t>(scope)]);
    } else if (op == "leave") {
      const auto mine = std::find_if(thread.arrivals.begin(), thread.arrivals.end(), [&](int phase) {
        return phases[static_cast<std::size_t>(phase)].barrier == first;
      });
      PhaseState& phase = phases[static_cast<std::size_t>(*mine)];
      thread.arrivals.erase(mine);
      phase.is_left = true;
      std::set<int> scopes;
      for (const auto& [scope, part] : phase.arrived)
        if (scope != 0) scopes.insert(scope);
      const int scope = thread.scope();
      if (scopes.size() < 2 || scope == 0) continue;
      const bool has_gone_on = std::any_of(phase.went_on.begin(), phase.went_on.end(),
                                           [&](const auto& gone) { return gone.first == scope; });
      if (!has_gone_on) {
        const auto s = static_cast<std::size_t>(scope);
        const int before = part_of[s];
        const bool arrived_so = std::any_of(phase.arrived.begin(), phase.arrived.end(),
                                            [&](const auto& arrival) { return arrival.second == before; });
        if (arrived_so) {
          end_pointers(thread);
          run.parts.push_back({run.parts[static_cast<std::size_t>(before)].parent,
                               names[s] + " (part " + std::to_string(++part_number[s]) + ")"});
          part_of[s] = static_cast<int>(run.parts.size()) - 1;
        }
      }
      phase.went_on.emplace_back(scope, part_of[static_cast<std::size_t>(scope)]);
      for (const auto& [other, part] : phase.arrived)
        if (other != 0) run.meet.emplace(part, part_of[static_cast<std::size_t>(scope)]);
    }
  }
  settle_pointers(run, pointers);
  return run;
}

using Relation = std::vector<std::vector<bool>>;

// e_i ⇢ e_j by D1 and D2.
Relation dependences(const Execution& run) {
  const std::size_t count = run.items.size();
  Relation depends(count, std::vector<bool>(count, false));
  for (std::size_t j = 0; j < count; ++j) {
    const Item& later = run.items[j];
    if (later.own_read >= 0) depends[static_cast<std::size_t>(later.own_read)][j] = true;
    for (const std::string& local : later.uses) {
      bool found = false;
      for (int scope = later.scope; scope >= 0 && !found;
           scope = run.around_scope[static_cast<std::size_t>(scope)]) {
        for (std::size_t i = j; i-- > 0 && !found;) {
          if (later.own_read >= 0 && static_cast<std::size_t>(later.own_read) == i) continue;
          if (run.items[i].scope != scope || run.items[i].sets != local) continue;
          depends[i][j] = true;
          found = true;
        }
      }
    }
    if (later.kind != Item::kRead) continue;
    for (std::size_t i = 0; i < count; ++i)
      if (run.items[i].kind == Item::kCount && run.items[i].global == later.global) depends[i][j] = true;
    std::set<int> done;
    for (std::size_t i = j; i-- > 0;)
      if (run.items[i].kind == Item::kWrite && run.items[i].global == later.global &&
          done.insert(run.items[i].task).second)
        depends[i][j] = true;
    done.clear();
    for (std::size_t i = j + 1; i < count; ++i)
      if (run.items[i].kind == Item::kWrite && run.items[i].global == later.global &&
          done.insert(run.items[i].task).second)
        depends[i][j] = true;
  }
  return depends;
}

std::vector<bool> compute_relevant(const Execution& run, const std::set<std::string>& focus) {
  const std::size_t count = run.items.size();
  std::vector<bool> relevant(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const Item& item = run.items[i];
    if (item.kind == Item::kWrite && focus.count(item.global) > 0) {
      bool is_last = true;
      for (std::size_t j = i + 1; j < count; ++j)
        is_last &= run.items[j].kind != Item::kWrite || run.items[j].global != item.global ||
                   run.items[j].task != item.task;
      relevant[i] = is_last;  // line 1
    }
    if (item.kind == Item::kCount && focus.count(item.global) > 0) relevant[i] = true;
    if (item.decides && item.guard < 0) relevant[i] = true;  // line 2
  }
  const Relation depends = dependences(run);
  for (bool changed = true; changed;) {
    changed = false;
    const auto add = [&](std::size_t i) {
      if (!relevant[i]) changed = relevant[i] = true;
    };
    for (std::size_t j = 0; j < count; ++j) {
      if (relevant[j])
        for (std::size_t i = 0; i < count; ++i)
          if (depends[i][j]) add(i);  // line 5
      const int guard = run.items[j].guard;
      if (guard < 0) continue;
      if (relevant[j]) add(static_cast<std::size_t>(guard));                          // line 6
      if (run.items[j].decides && relevant[static_cast<std::size_t>(guard)]) add(j);  // line 7
    }
  }
  return relevant;
}

// Def. 3, with barriers: `before[t][u]`.
Relation conflicting_tasks(const Execution& run, const std::vector<bool>& counts) {
  const std::size_t parts = run.parts.size();
  Relation before(parts, std::vector<bool>(parts, false));
  const auto relate = [&](int earlier, int later) {
    for (std::size_t t = 0; t < parts; ++t)
      for (std::size_t u = 0; u < parts; ++u)
        if (is_inside(run, earlier, static_cast<int>(t)) && is_inside(run, later, static_cast<int>(u)) &&
            !is_inside(run, static_cast<int>(t), static_cast<int>(u)) &&
            !is_inside(run, static_cast<int>(u), static_cast<int>(t)))
          before[t][u] = true;
  };
  for (std::size_t i = 0; i < run.items.size(); ++i) {
    for (std::size_t j = i + 1; j < run.items.size(); ++j) {
      const Item& a = run.items[i];
      const Item& b = run.items[j];
      const bool commute = a.kind == b.kind && a.kind != Item::kWrite;
      const bool is_nothing = a.kind == Item::kNothing || b.kind == Item::kNothing;
      const bool conflict =
          !is_nothing && !a.global.empty() && a.global == b.global && !commute && counts[i] && counts[j];
      if (conflict) relate(a.task, b.task);
    }
  }
  for (const auto& [earlier, later] : run.meet) relate(earlier, later);
  return before;
}

bool has_cycle(Relation before) {
  const std::size_t count = before.size();
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (before[i][k] && before[k][j]) before[i][j] = true;
  for (std::size_t i = 0; i < count; ++i)
    if (before[i][i]) return true;
  return false;
}

}  // namespace

NdseqAnswer ndseq(const std::string& trace) {
  std::vector<Line> lines;
  std::stringstream text(trace);
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(parse(line));
  std::set<std::string> focus;
  const Execution run = execute(lines, focus);
  const std::vector<bool> relevant = compute_relevant(run, focus);
  NdseqAnswer answer;
  answer.relevant.resize(lines.size(), false);
  answer.relevant_write.resize(lines.size(), false);
  answer.task.resize(lines.size(), -1);
  for (const Item& item : run.items) answer.task[item.at] = item.task;
  for (std::size_t i = 0; i < run.items.size(); ++i)
    if (relevant[i])
      (run.items[i].kind == Item::kWrite ? answer.relevant_write : answer.relevant)[run.items[i].at] = true;
  const Relation before = conflicting_tasks(run, relevant);
  answer.has_cycle = has_cycle(before);
  answer.has_conflict_cycle = has_cycle(conflicting_tasks(run, std::vector<bool>(run.items.size(), true)));
  for (std::size_t t = 0; t < before.size(); ++t)
    for (std::size_t u = 0; u < before.size(); ++u)
      if (before[t][u] && run.parts[t].parent == run.parts[u].parent)
        answer.before.emplace_back(run.parts[t].name, run.parts[u].name);
  return answer;
}

}  // namespace heddle::oracle
