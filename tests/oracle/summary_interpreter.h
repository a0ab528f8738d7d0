// Random small programs in the language of summaries, and their executions: what the proofs of src/types are
// held against. Objects are numbers; a schedule picks a thread for each step.
//
// A pointer that is given away goes to a pool, and roots that are defined come from there: that orders
// whoever takes it after whoever gave it, as locks, releasing atomics and thread starts do.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "types/program.h"

namespace heddle::test {

using types::Block;
using types::Function;
using types::Operation;
using types::OperationKind;
using types::Program;

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return engine_() % limit; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// Two classes with mutexes and two fields each, a global with a mutex; methods that call each other; a main
// function that prepares and then starts two threads, of which it may join one. Mostly disciplined, or
// nothing would ever be proven.
inline Program random_program(uint64_t seed) {
  Dice dice(seed);
  Program program;
  for (const std::string name : {"A", "B"}) {
    types::Class& type = program.classes[name];
    type = {name, 64, {}};
    type.members.push_back({name + "::mu", 0, 40, true, false, "", ""});
    for (const char* field : {"x", "y"})
      type.members.push_back({name + "::" + field, 40, 4, false, false, "", ""});
  }
  program.classes["A"].members.push_back({"A::c", 48, 16, false, false, "", ""});  // a container
  program.globals = {{"g:z", ""}, {"g:m", ""}, {"g:c", ""}};
  program.global_locks = {"g:m"};
  const std::size_t methods = 3 + dice.below(3);
  const auto method_name = [](std::size_t i) { return fmt::format("m{}", i); };
  const std::size_t discipline = 2 + dice.below(40);  // one step in so many breaks it

  const auto fill = [&](Function& function, const std::vector<std::string>& given, std::size_t first_callee) {
    const std::size_t blocks = 1 + dice.below(3);
    function.blocks.resize(blocks);
    std::vector<std::string> roots = given;
    for (std::size_t b = 0; b < blocks; ++b) {
      Block& block = function.blocks[b];
      if (b + 1 < blocks) block.next.push_back(static_cast<uint32_t>(b + 1));
      if (dice.one_in(4)) block.next.push_back(static_cast<uint32_t>(dice.below(blocks)));
      std::vector<std::string> open;  // locks to give back in this block
      const auto add = [&](OperationKind kind, std::string path) {
        block.operations.push_back({kind, std::move(path), "", {}, ""});
      };
      const std::size_t steps = 1 + dice.below(5);
      for (std::size_t s = 0; s < steps; ++s) {
        const std::string type = dice.one_in(4) ? "B" : "A";
        const std::string root = roots.empty() ? "" : dice.pick(roots);
        switch (dice.below(15)) {
          case 0:
          case 1:
          case 2: {
            const bool is_global = root.empty() || dice.one_in(5);
            const std::string lock = is_global ? "g:m" : root + "/" + type + "::mu";
            const std::string field =
                is_global ? "g:z" : root + "/" + type + (dice.one_in(2) ? "::x" : "::y");
            const bool takes = !dice.one_in(discipline);
            const bool is_shared = dice.one_in(5);
            if (takes) add(is_shared ? OperationKind::kAcquireShared : OperationKind::kAcquire, lock);
            add(dice.one_in(2) && (!(takes && is_shared) || dice.one_in(discipline)) ? OperationKind::kWrite
                                                                                     : OperationKind::kRead,
                field);
            if (takes && !dice.one_in(10)) {
              add(dice.one_in(2) ? OperationKind::kRelease : OperationKind::kDrop, lock);
              if (block.operations.back().kind == OperationKind::kDrop && root.starts_with("v"))
                block.operations.back().kind = OperationKind::kRelease;
            }
            break;
          }
          case 3:
            if (!root.empty() && dice.one_in(2)) {
              const std::string lock = root + "/" + type + "::mu";
              add(OperationKind::kAcquire, lock);
              open.push_back(lock);
            }
            break;
          case 4: {
            const std::string made = dice.one_in(3) ? "v1" : "n2";
            add(OperationKind::kDefine, made);
            if (std::find(roots.begin(), roots.end(), made) == roots.end()) roots.push_back(made);
            break;
          }
          case 5:
            if (root.starts_with("n") || (!root.empty() && dice.one_in(2))) add(OperationKind::kLeak, root);
            break;
          case 6:
          case 7:
            if (!root.empty() && first_callee < methods) {
              const std::size_t callee = first_callee + dice.below(methods - first_callee);
              block.operations.push_back(
                  {OperationKind::kCall, "", method_name(callee), {root, dice.pick(roots)}, ""});
            }
            break;
          // What is right or wrong only by what came before: an object that was given away, one that was
          // taken over, a lock that is given back under another name.
          case 9:
            add(OperationKind::kDefine, "n2");
            add(OperationKind::kLeak, "n2");
            if (dice.one_in(discipline)) add(OperationKind::kWrite, "n2/A::y");
            break;
          case 10:
            add(OperationKind::kDefine, "v1");
            add(OperationKind::kAcquire, "v1/A::mu");
            add(dice.one_in(2) ? OperationKind::kRead : OperationKind::kWrite, "v1/A::y");
            add(OperationKind::kRelease, "v1/A::mu");
            break;
          case 11:
            if (given.size() == 2 && dice.one_in(3)) {
              add(OperationKind::kAcquire, "p0/A::mu");
              add(OperationKind::kRelease, "p1/A::mu");
              add(OperationKind::kWrite, "p0/A::y");
              add(OperationKind::kDrop, "p0/A::mu");
            } else if (!given.empty() && first_callee < methods) {
              const std::size_t callee = first_callee + dice.below(methods - first_callee);
              add(OperationKind::kAcquire, "p0/A::mu");
              block.operations.push_back({OperationKind::kCall, "", method_name(callee), {"p0", "p0"}, ""});
              add(OperationKind::kWrite, "p0/A::y");
              add(OperationKind::kDrop, "p0/A::mu");
            } else if (!given.empty() && dice.one_in(3)) {
              add(OperationKind::kRelease, "p0/A::mu");
            }
            break;
          case 12:
            // Atomic operations, on what others use plainly, or do not.
            if (!root.empty())
              add(OperationKind::kAtomic, root + (dice.one_in(discipline) ? "/A::y" : "/B::y"));
            break;
          // Elements of a container, of which one is one of the others, if it has not changed meanwhile.
          case 13:
          case 14: {
            // Of an object that is given away when its owner has changed it, and nobody else ever does.
            const bool is_made_here = dice.one_in(4);
            const std::string container = is_made_here                     ? "n3/A::c"
                                          : root.empty() || dice.one_in(2) ? "g:c"
                                                                           : root + "/A::c";
            if (is_made_here) add(OperationKind::kDefine, "n3");
            const auto ask = [&](const std::string& element, std::vector<std::string> earlier) {
              add(OperationKind::kDefine, element);
              block.operations.push_back(
                  {OperationKind::kElement, element, container, std::move(earlier), ""});
              if (std::find(roots.begin(), roots.end(), element) == roots.end()) roots.push_back(element);
            };
            const auto disturb = [&] {
              if (dice.one_in(discipline)) add(OperationKind::kWrite, container);
              if (dice.one_in(8) && (root.starts_with("n") || root.starts_with("p")))
                add(OperationKind::kLeak, root);
            };
            ask("v5", {});
            if (!dice.one_in(discipline)) add(OperationKind::kAcquire, "v5/A::mu");
            disturb();
            if (is_made_here && dice.one_in(2)) {
              add(OperationKind::kWrite, container);
              add(OperationKind::kLeak, "n3");
            }
            std::vector<std::string> earlier = {"v5"};
            if (dice.one_in(4)) {
              ask("v6", dice.one_in(4) ? earlier : std::vector<std::string>());
              earlier.emplace_back("v6");
              if (!dice.one_in(discipline)) add(OperationKind::kAcquire, "v6/A::mu");
              disturb();
            }
            ask("v7", earlier);
            if (!dice.one_in(3))
              add(dice.one_in(2) ? OperationKind::kRead : OperationKind::kWrite, "v7/A::y");
            if (dice.one_in(4)) disturb();
            if (dice.one_in(10)) {  // another element's lock
              add(OperationKind::kRelease, "v5/A::mu");
              add(OperationKind::kDefine, "v5");
              add(OperationKind::kAcquire, "v5/A::mu");
              add(OperationKind::kRead, "v7/A::y");
            }
            if (dice.one_in(3)) add(OperationKind::kWrite, "v7/A::y");
            if (earlier.size() > 1) add(OperationKind::kRelease, "v6/A::mu");
            add(OperationKind::kRelease, "v5/A::mu");
            break;
          }
          case 8:
            // An object of its own needs no lock, as long as nobody else has it.
            if (root.starts_with("n") || (!root.empty() && dice.one_in(discipline)))
              add(dice.one_in(2) ? OperationKind::kRead : OperationKind::kWrite, root + "/" + type + "::y");
            break;
        }
      }
      while (!open.empty()) {
        if (!dice.one_in(8)) add(OperationKind::kRelease, open.back());
        open.pop_back();
      }
    }
  };
  for (std::size_t i = 0; i < methods; ++i) {
    Function& function = program.functions[method_name(i)];
    function.symbol = function.name = method_name(i);
    function.parameters = 2;
    function.is_constructor = false;
    fill(function, {"p0", "p1"}, i + 1);  // no recursion: executions end
  }
  for (const std::string name : {"thread1", "thread2"}) {
    Function& function = program.functions[name];
    function.symbol = function.name = name;
    function.parameters = 1;
    function.is_entry = true;
    fill(function, {"p0"}, 0);
  }
  Function& main = program.functions["main"];
  main.symbol = main.name = "main";
  main.is_entry = true;
  fill(main, {}, 0);
  main.blocks.emplace_back();
  // Threads that a variable keeps are joined later on; others are not.
  const bool is_kept = dice.one_in(3);
  if (is_kept) {
    Function& start = program.functions["start"];
    start.symbol = start.name = "start";
    start.is_library = true;
    start.blocks.emplace_back();
    start.blocks.back().operations.push_back({OperationKind::kFork, types::kKeeper, "", {}, ""});
    main.blocks.back().operations.push_back({OperationKind::kCall, "l9", "start", {}, ""});
  }
  if (!is_kept || dice.one_in(3))
    main.blocks.back().operations.push_back({OperationKind::kFork, "-", "", {}, ""});
  for (std::size_t b = 0; b + 1 < main.blocks.size(); ++b)
    if (main.blocks[b].next.empty() || b + 2 == main.blocks.size())
      main.blocks[b].next.push_back(static_cast<uint32_t>(main.blocks.size() - 1));
  const auto add_behind = [&](Block block) {
    block.next.clear();
    main.blocks.back().next.push_back(static_cast<uint32_t>(main.blocks.size()));
    main.blocks.push_back(std::move(block));
  };
  if (dice.one_in(is_kept ? 8 : 2)) add_behind(main.blocks[0]);
  if (is_kept) {
    add_behind({{{OperationKind::kJoin, "l9", "", {}, ""}}, {}});
    add_behind(main.blocks[0]);
    for (const char* path : {"g:z", "g:z"})
      if (dice.one_in(2)) main.blocks.back().operations.push_back({OperationKind::kWrite, path, "", {}, ""});
  }
  return program;
}

// What an execution did, in order.
struct Done {
  std::size_t thread;
  OperationKind kind;
  std::string where;        // the object and what of it: "3/A::x", "g:z"; of locks the same
  std::string place;        // "A::x"
  std::string function;     // that did it
  std::string path;         // by which: "p0/A::x"
  std::size_t transaction;  // the outermost activation of a function that is said to be atomic; 0: none
};

class Execution {
 public:
  Execution(const Program& program, uint64_t seed, std::set<std::string> atomic)
      : program_(program), dice_(seed), atomic_(std::move(atomic)) {
    threads_.resize(3);
    clocks_.assign(3, std::vector<std::size_t>(3, 0));
    pool_[make_object()] = std::vector<std::size_t>(3, 0);
    start(0, "main");
    for (std::size_t fuel = 0; fuel < 400; ++fuel) {
      std::vector<std::size_t> ready;
      for (std::size_t t = 0; t < threads_.size(); ++t)
        if (can_step(t)) ready.push_back(t);
      if (ready.empty()) break;
      step(dice_.pick(ready));
    }
  }

  const std::vector<Done>& done() const { return done_; }
  // Places with two unordered conflicting accesses.
  std::set<std::string> races() const {
    std::set<std::string> found;
    for (const Done* access : racy()) found.insert(access->place);
    return found;
  }
  // Accesses that are in a race: the definition, over all pairs.
  std::set<const Done*> racy() const {
    std::set<const Done*> found;
    for (std::size_t i = 0; i < done_.size(); ++i)
      for (std::size_t j = i + 1; j < done_.size(); ++j) {
        const Done& a = done_[i];
        const Done& b = done_[j];
        if (a.thread == b.thread || a.where != b.where || !is_access(a) || !is_access(b)) continue;
        if (!are_conflicting(a, b) || (is_atomic(a) && is_atomic(b))) continue;
        if (stamps_[j][a.thread] < stamps_[i][a.thread]) found.insert({&a, &b});
      }
    return found;
  }
  // Whether some transaction is not serializable with the rest: a cycle of conflicts.
  bool has_broken_transaction() const {
    const auto node = [&](std::size_t i) {
      return done_[i].transaction != 0 ? done_[i].transaction + done_.size() : i;
    };
    std::map<std::size_t, std::set<std::size_t>> next;
    for (std::size_t i = 0; i < done_.size(); ++i)
      for (std::size_t j = i + 1; j < done_.size(); ++j) {
        const Done& a = done_[i];
        const Done& b = done_[j];
        const bool both_locks = is_lock(a) && is_lock(b);
        const bool shares =
            a.kind == OperationKind::kAcquireShared && b.kind == OperationKind::kAcquireShared;
        const bool conflict =
            a.where == b.where && !a.where.empty() &&
            ((is_access(a) && is_access(b) && are_conflicting(a, b)) || (both_locks && !shares));
        if (a.thread == b.thread || conflict || (a.kind == OperationKind::kFork && a.thread == 0) ||
            (b.kind == OperationKind::kJoin && a.thread == kKept))
          if (node(i) != node(j)) next[node(i)].insert(node(j));
      }
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (done_[i].transaction == 0) continue;
      std::set<std::size_t> seen;
      std::vector<std::size_t> waiting = {node(i)};
      while (!waiting.empty()) {
        const std::size_t at = waiting.back();
        waiting.pop_back();
        for (const std::size_t to : next[at]) {
          if (to == node(i)) return true;
          if (seen.insert(to).second) waiting.push_back(to);
        }
      }
    }
    return false;
  }

 private:
  struct Frame {
    const Function* function;
    std::size_t block = 0;
    std::size_t at = 0;
    std::map<std::string, int> roots;
    std::multiset<std::string> taken;  // locks, by this activation
    // Of roots that are elements: the container, and how often it had changed.
    std::map<std::string, std::pair<std::string, std::size_t>> versions;
    bool begins_transaction = false;
  };
  struct Thread {
    std::vector<Frame> frames;
    std::size_t transaction = 0;
  };
  struct Lock {
    int owner = -1;
    std::map<std::size_t, int> readers;
    std::vector<std::size_t> clock = std::vector<std::size_t>(3, 0);
  };

  static bool is_access(const Done& done) {
    return done.kind == OperationKind::kRead || done.kind == OperationKind::kWrite || is_atomic(done);
  }
  static bool is_atomic(const Done& done) { return done.kind == OperationKind::kAtomic; }
  static bool are_conflicting(const Done& a, const Done& b) {
    return a.kind != OperationKind::kRead || b.kind != OperationKind::kRead;
  }
  static bool is_lock(const Done& done) {
    return done.kind == OperationKind::kAcquire || done.kind == OperationKind::kAcquireShared ||
           done.kind == OperationKind::kRelease;
  }
  int make_object() { return ++objects_; }

  void start(std::size_t thread, const std::string& name) {
    Frame frame{&program_.functions.at(name), 0, 0, {}, {}, {}, false};
    threads_[thread].frames.push_back(frame);
    if (frame.function->parameters > 0) threads_[thread].frames.back().roots["p0"] = from_pool(thread);
  }

  int from_pool(std::size_t thread) {
    auto entry = pool_.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(dice_.below(pool_.size())));
    join(clocks_[thread], entry->second);
    return entry->first;
  }

  static void join(std::vector<std::size_t>& into, const std::vector<std::size_t>& other) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
  }

  // "p0/A::x" in the frame: "3/A::x".
  std::string resolve(Frame& frame, const std::string& path) {
    if (path.starts_with("g:")) return path;
    const std::size_t slash = path.find('/');
    const std::string root = path.substr(0, slash);
    const auto found = frame.roots.find(root);
    // A root that is used before it is defined, on a way that skips the definition: somebody's object.
    if (found == frame.roots.end()) {
      if (root.starts_with("n"))
        frame.roots[root] = make_object();
      else
        return "";
    }
    return fmt::format("{}{}", frame.roots[root], slash == std::string::npos ? "" : path.substr(slash));
  }

  bool can_step(std::size_t thread) {
    if (threads_[thread].frames.empty()) return false;
    Frame& frame = threads_[thread].frames.back();
    const Block& block = frame.function->blocks[frame.block];
    if (frame.at >= block.operations.size()) return true;
    const Operation& operation = block.operations[frame.at];
    if (operation.kind == OperationKind::kJoin) return threads_[kKept].frames.empty();
    if (operation.kind != OperationKind::kAcquire && operation.kind != OperationKind::kAcquireShared)
      return true;
    const Lock& lock = locks_[resolve(frame, operation.path)];
    if (operation.kind == OperationKind::kAcquire) return lock.owner < 0 && lock.readers.empty();
    return lock.owner < 0;
  }

  void log(std::size_t thread, OperationKind kind, const std::string& where, const std::string& path) {
    const std::size_t slash = path.find('/');
    ++clocks_[thread][thread];
    done_.push_back({thread, kind, where, slash == std::string::npos ? path : path.substr(slash + 1),
                     threads_[thread].frames.back().function->symbol, path, threads_[thread].transaction});
    stamps_.push_back(clocks_[thread]);
  }

  void release(std::size_t thread, const std::string& where) {
    Lock& lock = locks_[where];
    const bool is_shared = lock.owner != static_cast<int>(thread);
    if (!is_shared)
      lock.owner = -1;
    else if (lock.readers.contains(thread) && --lock.readers[thread] == 0)
      lock.readers.erase(thread);
    else if (!lock.readers.contains(thread))
      return;  // it did not have it
    // What readers do to a lock does not conflict with what other readers do.
    log(thread, is_shared ? OperationKind::kAcquireShared : OperationKind::kRelease, where, "");
    join(lock.clock, clocks_[thread]);
    for (Frame& frame : threads_[thread].frames)
      if (const auto found = frame.taken.find(where); found != frame.taken.end()) {
        frame.taken.erase(found);
        break;
      }
  }

  void step(std::size_t thread) {
    Thread& running = threads_[thread];
    Frame& frame = running.frames.back();
    const Block& block = frame.function->blocks[frame.block];
    if (frame.at >= block.operations.size()) return go_on(thread);
    const Operation& operation = block.operations[frame.at++];
    switch (operation.kind) {
      case OperationKind::kRead:
      case OperationKind::kWrite:
      case OperationKind::kAtomic:
        if (const std::string where = resolve(frame, operation.path); !where.empty()) {
          if (operation.kind == OperationKind::kWrite) ++versions_[where];
          log(thread, operation.kind, where, operation.path);
        }
        return;
      case OperationKind::kAcquire:
      case OperationKind::kAcquireShared: {
        const std::string where = resolve(frame, operation.path);
        if (where.empty()) return;
        Lock& lock = locks_[where];
        if (operation.kind == OperationKind::kAcquire)
          lock.owner = static_cast<int>(thread);
        else
          ++lock.readers[thread];
        join(clocks_[thread], lock.clock);
        log(thread, operation.kind, where, "");
        frame.taken.insert(where);
        return;
      }
      case OperationKind::kRelease: return release(thread, resolve(frame, operation.path));
      case OperationKind::kDrop:
        if (const std::string where = resolve(frame, operation.path); frame.taken.contains(where))
          release(thread, where);
        return;
      case OperationKind::kDefine:
        frame.roots[operation.path] = operation.path.starts_with("n") ? make_object() : from_pool(thread);
        frame.versions.erase(operation.path);
        return;
      // What an element is, is as good as random, unless the container is as it was.
      case OperationKind::kElement: {
        const std::string container = resolve(frame, operation.callee);
        const auto version = std::pair(container, versions_[container]);
        const bool is_kept = std::all_of(operation.arguments.begin(), operation.arguments.end(),
                                         [&](const std::string& earlier) {
                                           const auto known = frame.versions.find(earlier);
                                           return known != frame.versions.end() && known->second == version;
                                         });
        if (is_kept && !operation.arguments.empty())
          frame.roots[operation.path] = frame.roots.at(dice_.pick(operation.arguments));
        frame.versions[operation.path] = version;
        return;
      }
      case OperationKind::kLeak:
        if (const std::string where = resolve(frame, operation.path); !where.empty()) {
          ++clocks_[thread][thread];
          std::vector<std::size_t>& known = pool_.try_emplace(std::stoi(where), 3, 0).first->second;
          join(known, clocks_[thread]);
        }
        return;
      case OperationKind::kCall: {
        Frame callee{&program_.functions.at(operation.callee), 0, 0, {}, {}, {}, false};
        for (std::size_t i = 0; i < operation.arguments.size(); ++i)
          if (const std::string where = resolve(frame, operation.arguments[i]); !where.empty())
            callee.roots[fmt::format("p{}", i)] = std::stoi(where);
        if (running.transaction == 0 && atomic_.contains(operation.callee)) {
          callee.begins_transaction = true;
          running.transaction = ++transactions_;
        }
        running.frames.push_back(std::move(callee));
        return;
      }
      case OperationKind::kFork:
        log(thread, OperationKind::kFork, "", "");
        for (const std::size_t child : {kKept, std::size_t{2}}) {
          if (has_begun_[child] || (operation.path == types::kKeeper && child != kKept)) continue;
          has_begun_[child] = true;
          clocks_[child] = clocks_[thread];
          start(child, fmt::format("thread{}", child));
        }
        return;
      case OperationKind::kJoin:
        join(clocks_[thread], clocks_[kKept]);
        log(thread, OperationKind::kJoin, "", "");
        return;
      default: return;
    }
  }

  void go_on(std::size_t thread) {
    Thread& running = threads_[thread];
    Frame& frame = running.frames.back();
    const Block& block = frame.function->blocks[frame.block];
    if (!block.next.empty()) {
      frame.block = dice_.pick(block.next);
      frame.at = 0;
      return;
    }
    if (frame.begins_transaction) running.transaction = 0;
    running.frames.pop_back();
  }

  const Program& program_;
  Dice dice_;
  std::set<std::string> atomic_;
  int objects_ = 0;
  std::vector<Thread> threads_;
  std::vector<std::vector<std::size_t>> clocks_;
  std::map<std::string, Lock> locks_;
  std::map<std::string, std::size_t> versions_;   // how often a place was written
  std::map<int, std::vector<std::size_t>> pool_;  // objects that pointers were given away to
  std::vector<Done> done_;
  std::vector<std::vector<std::size_t>> stamps_;
  std::size_t transactions_ = 0;
  static constexpr std::size_t kKept = 1;  // the thread that main joins, if it does
  std::array<bool, 3> has_begun_ = {};
};

}  // namespace heddle::test
