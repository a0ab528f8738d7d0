#include "small_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace heddle::oracle {

namespace {

constexpr int kValues = 5;

// Bytes, and zeros when they are used up.
class Source {
 public:
  explicit Source(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}
  unsigned below(unsigned bound) { return (at_ < bytes_.size() ? bytes_[at_++] : 0) % bound; }
  bool is_empty() const { return at_ >= bytes_.size(); }

 private:
  const std::vector<uint8_t>& bytes_;
  std::size_t at_ = 0;
};

Statement simple(Statement::Kind kind, unsigned a, unsigned b = 0, unsigned c = 0, unsigned g = 0,
                 int value = 0) {
  Statement statement;
  statement.kind = kind;
  statement.a = a;
  statement.b = b;
  statement.c = c;
  statement.g = g;
  statement.value = value;
  return statement;
}
Statement around(Statement::Kind kind, Body body, unsigned a = 0, int value = 0) {
  Statement statement = simple(kind, a, 0, 0, 0, value);
  statement.bodies.push_back(std::move(body));
  return statement;
}

class Maker {
 public:
  Maker(Source& source, const LanguageShape& shape) : source_(source), shape_(shape) {}

  Body body(unsigned depth, bool may_fork) {
    Body result;
    const unsigned length = 1 + source_.below(shape_.length);
    for (unsigned i = 0; i < length && !source_.is_empty(); ++i) {
      if (shape_.patterns && depth > 0 && source_.below(6) == 0) {
        for (Statement& statement : pattern()) result.push_back(std::move(statement));
      } else {
        result.push_back(statement(depth, may_fork));
      }
    }
    return result;
  }

  Statement cobegin(unsigned depth) {
    Statement result;
    result.kind = Statement::kCobegin;
    result.children = 2 + source_.below(shape_.children - 1);
    const unsigned phases = shape_.phases && source_.below(4) == 0 ? 2 : 1;
    for (unsigned i = 0; i < result.children * phases; ++i)
      result.bodies.push_back(body(depth + 1, depth < 2));
    return result;
  }

 private:
  Statement statement(unsigned depth, bool may_fork) {
    const unsigned a = source_.below(kLocals);
    const unsigned b = source_.below(kLocals);
    const unsigned c = source_.below(kLocals);
    const unsigned g = source_.below(shape_.globals);
    const bool is_deep = depth >= shape_.deepest + 2;
    if (shape_.pointers && depth > 0 && source_.below(4) != 0) return pointer_statement(depth, a, is_deep);
    switch (source_.below(is_deep ? 13 : 19)) {
      case 0:
      case 1: return simple(Statement::kConstant, a, 0, 0, 0, static_cast<int>(b + c));
      case 2:
      case 3: return simple(Statement::kCompute, a, b, c);
      case 4:
      case 5:
      case 6: return simple(Statement::kRead, a, 0, 0, g);
      case 7:
      case 8:
      case 9: return simple(Statement::kWrite, a, 0, 0, g);
      case 10: return simple(Statement::kCompareSwap, a, b, c, g);
      case 11: return simple(Statement::kFetchAdd, a, 0, 0, g);
      case 12: return simple(Statement::kCount, 0, 0, 0, g, 1 + static_cast<int>(a));
      case 13: {
        Statement choice = around(Statement::kIf, body(depth + 1, false), a);
        choice.bodies.push_back(source_.below(2) == 0 ? body(depth + 1, false) : Body());
        return choice;
      }
      case 14: return around(Statement::kLoop, body(depth + 1, false), a, 2);
      case 15:
      case 16: return around(Statement::kMaybe, body(depth + 1, may_fork), 0);
      case 17: return around(Statement::kAtomic, simple_body(), 0);
      default: return may_fork ? cobegin(depth) : around(Statement::kMaybe, body(depth + 1, false));
    }
  }

  Statement pointer_statement(unsigned depth, unsigned a, bool is_deep) {
    switch (source_.below(is_deep ? 6 : 9)) {
      case 0: return simple(Statement::kKeep, a);
      case 1:
      case 2: return simple(Statement::kGiveUp, a);
      case 3:
      case 4: return simple(Statement::kExpired, a);
      case 5: return simple(source_.below(3) == 0 ? Statement::kUseCount : Statement::kExpired, a);
      default: return around(Statement::kLock, body(depth + 1, false), a);
    }
  }

  Body simple_body() {
    Body result;
    for (unsigned i = 0; i < 3; ++i) result.push_back(statement(100, false));
    return result;
  }

  // S3 §4 and Fig. 9, with bounded retries.
  Body pattern() {
    const unsigned g = source_.below(shape_.globals);
    const int value = static_cast<int>(source_.below(kValues));
    // l0: read, l1: new, l2: flag
    const Body attempt = {simple(Statement::kRead, 0, 0, 0, g),
                          simple(Statement::kConstant, 1, 0, 0, 0, value),
                          simple(Statement::kCompute, 1, 0, 1), simple(Statement::kCompareSwap, 2, 0, 1, g),
                          around_if(2, {simple(Statement::kConstant, 3, 0, 0, 0, 0)})};
    switch (source_.below(4)) {
      case 0:  // optimistic computation: while (l3) { if (true*) attempt }
        return {simple(Statement::kConstant, 3, 0, 0, 0, 1),
                around(Statement::kLoop, {around(Statement::kMaybe, attempt)}, 3, 3)};
      case 1: {  // the same with the read outside, as in Fig. 8
        const Body commit(attempt.begin() + 3, attempt.end());
        Body loop(attempt.begin(), attempt.begin() + 3);
        loop.push_back(around(Statement::kMaybe, commit));
        return {simple(Statement::kConstant, 3, 0, 0, 0, 1), around(Statement::kLoop, loop, 3, 3)};
      }
      case 2: {  // redundant work: if (true* && g is large) nothing; else work
        const Body look = {simple(Statement::kCompute, 1, 0, 0),
                           around_if(1, {simple(Statement::kConstant, 2, 0, 0, 0, 1)})};
        Statement choice = simple(Statement::kIf, 2);
        choice.bodies.emplace_back();
        choice.bodies.push_back(
            {around(Statement::kAtomic,
                    {simple(Statement::kRead, 1, 0, 0, g), simple(Statement::kConstant, 3, 0, 0, 0, value),
                     simple(Statement::kCompute, 1, 1, 3), simple(Statement::kWrite, 1, 0, 0, g)})});
        return {simple(Statement::kConstant, 2, 0, 0, 0, 0), simple(Statement::kRead, 0, 0, 0, g),
                around(Statement::kMaybe, look), choice};
      }
      default:  // irrelevant work: if (true*) { if (g) g = g + 1 }
        return {around(Statement::kMaybe, {simple(Statement::kRead, 0, 0, 0, g),
                                           around_if(0, {simple(Statement::kCompute, 0, 0, 0),
                                                         simple(Statement::kWrite, 0, 0, 0, g)})})};
    }
  }
  static Statement around_if(unsigned a, Body body) {
    Statement choice = around(Statement::kIf, std::move(body), a);
    choice.bodies.emplace_back();
    return choice;
  }

  Source& source_;
  const LanguageShape& shape_;
};

int operate(int b, int c) { return (b * 2 + c + 1) % kValues; }

// What decides where the language leaves it open.
struct Decisions {
  // The next of `count` to act; not asked in a sequential run.
  std::function<std::size_t(std::size_t count)> next;
  // The order of the children of a cobegin, by their names.
  std::function<std::vector<std::size_t>(const std::vector<std::string>& names)> order;
  std::function<bool(const std::string& site)> takes_maybe;
  bool is_parallel = true;
};

class Machine {
 public:
  Machine(const Program& program, const Decisions& decisions) : decisions_(decisions) {
    Task& main = *tasks_.emplace_back(std::make_unique<Task>());
    main.name = "main";
    main.thread = "main";
    main.stack.push_back({&program.body});
    main.maybes = {0};
  }

  void run() {
    if (decisions_.is_parallel) {
      while (act()) {
      }
    } else {
      run_task(*tasks_.front());
    }
  }

  const Globals& globals() const { return globals_; }
  std::string& trace() { return trace_; }

 private:
  struct Frame {
    const Body* body = nullptr;
    std::size_t next = 0;
    enum { kPlain, kMaybe, kAtomic, kLoop, kLocked } kind = kPlain;
    const Statement* loop = nullptr;
    int left = 0;  // turns of a loop
  };
  struct Task {
    std::string name;
    std::string thread;
    std::array<int, kLocals> locals{};
    std::vector<Frame> stack;
    Task* parent = nullptr;
    std::vector<Task*> children;  // of its present cobegin
    const Statement* cobegin = nullptr;
    unsigned number = 0;  // among its siblings
    unsigned phase = 0;
    bool has_begun = false;
    bool has_arrived = false;
    bool is_done = false;
    std::vector<unsigned> maybes;  // how many it has met, by nesting
    std::vector<unsigned> inside;  // which of them it is in
    unsigned cobegins = 0;
  };

  void tell(const Task& task, const std::string& operation, const std::string& site = "") {
    if (decisions_.is_parallel) trace_ += fmt::format("{}|{}|{}\n", task.thread, operation, site);
  }
  static std::string global(unsigned g) { return fmt::format("g{}", g); }
  static std::string local(unsigned l) { return fmt::format("l{}", l); }

  // One step of some task; false when there is none.
  bool act() {
    std::vector<Task*> can;
    for (const auto& task : tasks_)
      if (can_act(*task)) can.push_back(task.get());
    if (can.empty()) return false;
    if (atomic_ != nullptr) can = {atomic_};
    step(*can[decisions_.next(can.size())]);
    return true;
  }

  bool can_act(const Task& task) const {
    if (task.is_done || !task.children.empty()) return false;
    if (!task.has_arrived) return true;
    const auto& siblings = task.parent->children;
    return std::all_of(siblings.begin(), siblings.end(), [&](const Task* sibling) {
      return sibling->is_done || sibling->phase > task.phase || sibling->has_arrived;
    });
  }

  void run_task(Task& task) {
    while (!task.is_done && !task.has_arrived) {
      step(task);
      if (task.children.empty()) continue;
      const unsigned phases = static_cast<unsigned>(task.cobegin->bodies.size()) / task.cobegin->children;
      for (unsigned phase = 0; phase < phases; ++phase) {
        std::vector<std::string> names;
        names.reserve(task.children.size());
        for (const Task* child : task.children)
          names.push_back(phase == 0 ? child->name : fmt::format("{} (part {})", child->name, phase + 1));
        const std::vector<Task*> children = task.children;
        for (const std::size_t i : decisions_.order(names)) {
          if (children[i]->has_arrived) step(*children[i]);  // into the next phase
          run_task(*children[i]);
        }
      }
    }
  }

  void step(Task& task) {
    if (task.parent != nullptr && !task.has_begun) {
      task.has_begun = true;
      tell(task, fmt::format("task({})", task.name));
      return;
    }
    if (task.has_arrived) {
      task.has_arrived = false;
      ++task.phase;
      task.stack.push_back({&body_of(task)});
      tell(task, fmt::format("leave({})", barrier_of(task)));
      return;
    }
    if (task.stack.empty()) return end(task);
    Frame& frame = task.stack.back();
    if (frame.next < frame.body->size()) {
      // The frame may move while the statement is executed.
      return execute(task, (*frame.body)[frame.next++]);
    }
    const Frame ended = frame;
    task.stack.pop_back();
    switch (ended.kind) {
      case Frame::kPlain: return;
      case Frame::kMaybe:
        task.maybes.pop_back();
        task.inside.pop_back();
        return tell(task, "endnd");
      case Frame::kAtomic: atomic_ = nullptr; return;
      case Frame::kLocked: return tell(task, fmt::format("drop(p,{})", --pointers_));
      case Frame::kLoop: return turn(task, *ended.loop, ended.left);
    }
  }

  static const Body& body_of(const Task& task) {
    return task.parent->cobegin->bodies[task.number + task.phase * task.parent->cobegin->children];
  }
  static std::string barrier_of(const Task& task) {
    return fmt::format("b.{}.{}", task.parent->name, task.parent->cobegins);
  }

  void end(Task& task) {
    if (task.parent != nullptr &&
        std::size_t{task.phase + 1} * task.parent->cobegin->children < task.parent->cobegin->bodies.size()) {
      task.has_arrived = true;
      return tell(task, fmt::format("arrive({})", barrier_of(task)));
    }
    task.is_done = true;
    if (task.parent == nullptr) return;
    tell(task, "endtask");
    Task& parent = *task.parent;
    if (!std::all_of(parent.children.begin(), parent.children.end(),
                     [](const Task* child) { return child->is_done; }))
      return;
    for (const Task* child : parent.children) tell(parent, fmt::format("join({})", child->thread));
    parent.children.clear();
  }

  void turn(Task& task, const Statement& loop, int left) {
    if (left == 0) return;
    tell(task, fmt::format("br({})", local(loop.a)));
    if (task.locals[loop.a] == 0) return;
    Frame frame{loop.bodies.data()};
    frame.kind = Frame::kLoop;
    frame.loop = &loop;
    frame.left = left - 1;
    task.stack.push_back(frame);
  }

  void execute(Task& task, const Statement& s) {
    auto& locals = task.locals;
    const std::string a = local(s.a);
    switch (s.kind) {
      case Statement::kConstant:
        locals[s.a] = s.value % kValues;
        return tell(task, fmt::format("set({})", a));
      case Statement::kCompute:
        locals[s.a] = operate(locals[s.b], locals[s.c]);
        return tell(task, fmt::format("set({},{},{})", a, local(s.b), local(s.c)));
      case Statement::kRead:
        locals[s.a] = globals_[s.g];
        return tell(task, fmt::format("r({})>{}", global(s.g), a));
      case Statement::kWrite:
        globals_[s.g] = locals[s.a];
        return tell(task, fmt::format("w({})<{}", global(s.g), a));
      case Statement::kCompareSwap: return compare_swap(task, s);
      case Statement::kFetchAdd: {
        const int old = globals_[s.g];
        globals_[s.g] = (old + locals[s.a]) % kValues;
        locals[s.a] = old;
        return tell(task, fmt::format("armw({},seq_cst)>{}", global(s.g), a));
      }
      case Statement::kCount:
        globals_[s.g] = (globals_[s.g] + s.value) % kValues;
        return tell(task, fmt::format("count({})", global(s.g)));
      case Statement::kLock:
      case Statement::kKeep:
      case Statement::kGiveUp:
      case Statement::kExpired:
      case Statement::kUseCount: return use_pointers(task, s);
      case Statement::kIf:
        tell(task, fmt::format("br({})", a));
        task.stack.push_back({&s.bodies[locals[s.a] != 0 ? 0 : 1]});
        return;
      case Statement::kLoop: return turn(task, s, s.value);
      case Statement::kMaybe: {
        std::vector<unsigned> path = task.inside;
        path.push_back(task.maybes.back()++);
        const std::string site = fmt::format("{} {}", task.name, fmt::join(path, "."));
        if (!decisions_.takes_maybe(site)) return;
        tell(task, "nd", site);
        task.inside = path;
        task.maybes.push_back(0);
        Frame frame{s.bodies.data()};
        frame.kind = Frame::kMaybe;
        task.stack.push_back(frame);
        return;
      }
      case Statement::kAtomic: {
        Frame frame{s.bodies.data()};
        frame.kind = Frame::kAtomic;
        task.stack.push_back(frame);
        atomic_ = &task;
        return;
      }
      case Statement::kCobegin: return fork(task, s);
    }
  }

  // Compares, which is a branch, and writes when equal.
  void compare_swap(Task& task, const Statement& s) {
    const bool equal = globals_[s.g] == task.locals[s.b];
    tell(task, fmt::format("set(operand,{})", local(s.c)));
    tell(task, fmt::format("{}({},seq_cst)>operand", equal ? "armw" : "acasfail", global(s.g)));
    tell(task, fmt::format("set({},operand,{})", local(s.a), local(s.b)));
    tell(task, fmt::format("br({})", local(s.a)));
    if (equal) globals_[s.g] = task.locals[s.c];
    task.locals[s.a] = equal ? 1 : 0;
  }

  // One object has pointers: those in the store, one at first, and what tasks have for a while. A look is a
  // branch, so what it leads to depends on no local.
  void use_pointers(Task& task, const Statement& s) {
    int& result = task.locals[s.a];
    if (s.kind == Statement::kUseCount) {
      result = pointers_ % kValues;
      return tell(task, fmt::format("ar(p,relaxed)>l{}", s.a));
    }
    if (s.kind == Statement::kGiveUp) {
      tell(task, "r(store)>s");
      tell(task, "br(s)");
      result = stored_ > 0 ? 1 : 0;
      if (stored_ > 0) {
        --stored_;
        tell(task, "w(store)<s");
        tell(task, fmt::format("drop(p,{})", --pointers_));
      }
      return tell(task, fmt::format("set(l{})", s.a));
    }
    tell(task, fmt::format("alive(p,{})", pointers_));
    result = (pointers_ > 0) == (s.kind != Statement::kExpired) ? 1 : 0;
    tell(task, fmt::format("set(l{})", s.a));
    if (s.kind == Statement::kExpired || pointers_ == 0) return;
    tell(task, fmt::format("take(p,{})", ++pointers_));
    if (s.kind == Statement::kKeep) {
      ++stored_;
      return tell(task, "armw(store,seq_cst)>s");
    }
    Frame frame{s.bodies.data()};
    frame.kind = Frame::kLocked;
    task.stack.push_back(frame);
  }

  void fork(Task& task, const Statement& s) {
    task.cobegin = &s;
    ++task.cobegins;
    // Names that do not depend on which if (true*) before were left out.
    const std::string where =
        fmt::format("{}.{}{}", task.name, task.inside.empty() ? "" : "m", fmt::join(task.inside, "_"));
    const unsigned number = forks_[where]++;
    for (unsigned i = 0; i < s.children; ++i) {
      Task& child = *tasks_.emplace_back(std::make_unique<Task>());
      child.name = fmt::format("{}c{}.{}", where, number, i);
      child.thread = "T" + child.name;
      child.locals = task.locals;
      child.parent = &task;
      child.number = i;
      child.maybes = {0};
      child.stack.push_back({&s.bodies[i]});
      task.children.push_back(&child);
      tell(task, fmt::format("fork({})", child.thread));
    }
  }

  const Decisions& decisions_;
  std::vector<std::unique_ptr<Task>> tasks_;
  Task* atomic_ = nullptr;  // nobody else may act
  Globals globals_{};
  int pointers_ = 1;
  int stored_ = 1;
  std::map<std::string, unsigned> forks_;  // cobegins, by where they stand
  std::string trace_;
};

void write_body(const Body& body, unsigned depth, std::string& out) {
  for (const Statement& s : body) {
    out.append(std::size_t{2} * depth, ' ');
    switch (s.kind) {
      case Statement::kConstant: out += fmt::format("l{} = {}\n", s.a, s.value % kValues); break;
      case Statement::kCompute: out += fmt::format("l{} = l{} op l{}\n", s.a, s.b, s.c); break;
      case Statement::kRead: out += fmt::format("l{} = g{}\n", s.a, s.g); break;
      case Statement::kWrite: out += fmt::format("g{} = l{}\n", s.g, s.a); break;
      case Statement::kCompareSwap:
        out += fmt::format("l{} = CAS(g{}, l{}, l{})\n", s.a, s.g, s.b, s.c);
        break;
      case Statement::kFetchAdd: out += fmt::format("l{} = fetch_add(g{}, l{})\n", s.a, s.g, s.a); break;
      case Statement::kCount: out += fmt::format("g{} += {}\n", s.g, s.value); break;
      case Statement::kLock: out += fmt::format("l{} = lock(), and while it is kept\n", s.a); break;
      case Statement::kKeep: out += fmt::format("l{} = lock(), and keep it in the store\n", s.a); break;
      case Statement::kGiveUp: out += fmt::format("l{} = give one of the store up\n", s.a); break;
      case Statement::kExpired: out += fmt::format("l{} = expired()\n", s.a); break;
      case Statement::kUseCount: out += fmt::format("l{} = use_count()\n", s.a); break;
      case Statement::kIf: out += fmt::format("if (l{})\n", s.a); break;
      case Statement::kLoop: out += fmt::format("while (l{}), {} times at most\n", s.a, s.value); break;
      case Statement::kMaybe: out += "if (true*)\n"; break;
      case Statement::kAtomic: out += "atomic\n"; break;
      case Statement::kCobegin: out += fmt::format("cobegin of {}\n", s.children); break;
    }
    for (std::size_t i = 0; i < s.bodies.size(); ++i) {
      if (i > 0) out += std::string(std::size_t{2} * depth, ' ') + "and\n";
      write_body(s.bodies[i], depth + 1, out);
    }
  }
}

}  // namespace

Program make_program(const std::vector<uint8_t>& bytes, const LanguageShape& shape) {
  Source source(bytes);
  Program program;
  for (unsigned g = 0; g < shape.globals; ++g) program.focus[g] = source.below(2) == 0;
  Maker maker(source, shape);
  program.body.push_back(simple(Statement::kConstant, 1, 0, 0, 0, 2));
  program.body.push_back(maker.cobegin(0));
  if (source.below(3) == 0) program.body.push_back(maker.cobegin(0));
  return program;
}

std::string to_text(const Program& program) {
  std::string text;
  for (unsigned g = 0; g < kGlobals; ++g)
    if (program.focus[g]) text += fmt::format("focus g{}\n", g);
  write_body(program.body, 0, text);
  return text;
}

ParallelRun run_in_parallel(const Program& program, const std::vector<uint8_t>& schedule) {
  std::size_t at = 0;
  Decisions decisions;
  decisions.next = [&](std::size_t count) { return at < schedule.size() ? schedule[at++] % count : 0; };
  decisions.takes_maybe = [](const std::string&) { return true; };
  Machine machine(program, decisions);
  machine.run();
  for (unsigned g = 0; g < kGlobals; ++g)
    if (program.focus[g]) machine.trace() += fmt::format("main|focus(g{})|\n", g);
  return {machine.trace(), machine.globals()};
}

Globals run_sequentially(const Program& program, const std::map<std::string, std::size_t>& order,
                         const std::set<std::string>& skipped) {
  Decisions decisions;
  decisions.is_parallel = false;
  decisions.order = [&](const std::vector<std::string>& names) {
    std::vector<std::size_t> children(names.size());
    std::iota(children.begin(), children.end(), 0);
    std::sort(children.begin(), children.end(),
              [&](std::size_t a, std::size_t b) { return order.at(names[a]) < order.at(names[b]); });
    return children;
  };
  decisions.takes_maybe = [&](const std::string& site) { return skipped.count(site) == 0; };
  Machine machine(program, decisions);
  machine.run();
  return machine.globals();
}

bool some_sequential_run_ends_with(const Program& program, const Globals& wanted, std::size_t most) {
  std::vector<std::size_t> choices;  // of an execution, each below its bound
  std::vector<std::size_t> bounds;
  for (std::size_t runs = 0; runs < most; ++runs) {
    std::size_t at = 0;
    const auto choose = [&](std::size_t bound) {
      if (at == choices.size()) {
        choices.push_back(0);
        bounds.push_back(bound);
      }
      return choices[at++];
    };
    Decisions decisions;
    decisions.is_parallel = false;
    decisions.order = [&](const std::vector<std::string>& names) {
      std::vector<std::size_t> rest(names.size());
      std::iota(rest.begin(), rest.end(), 0);
      std::vector<std::size_t> order;
      while (!rest.empty()) {
        const auto chosen = rest.begin() + static_cast<std::ptrdiff_t>(choose(rest.size()));
        order.push_back(*chosen);
        rest.erase(chosen);
      }
      return order;
    };
    decisions.takes_maybe = [&](const std::string&) { return choose(2) == 0; };
    Machine machine(program, decisions);
    machine.run();
    bool same = true;
    for (unsigned g = 0; g < kGlobals; ++g) same &= !program.focus[g] || machine.globals()[g] == wanted[g];
    if (same) return true;
    // The next execution in the order of choices.
    while (!choices.empty() && choices.back() + 1 == bounds.back()) {
      choices.pop_back();
      bounds.pop_back();
    }
    if (choices.empty()) return false;
    ++choices.back();
  }
  return true;
}

}  // namespace heddle::oracle
