// Locks taken in orders that can end in a deadlock, in a run in which they did not: the threads take turns.
#include <array>
#include <future>
#include <mutex>
#include <vector>

#include "twins.h"

namespace {

std::mutex a;
std::mutex b;
std::mutex c;
std::mutex gate;

void lock_both(std::mutex& first, std::mutex& second) {
  const std::lock_guard<std::mutex> one(first);   // here: first
  const std::lock_guard<std::mutex> two(second);  // here: second
}

void in_turns(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::thread> threads;
  for (int i = 0; const std::function<void()>& body : bodies)
    threads.emplace_back([i = i++, &body] { schedule::at(i, body); });
  for (std::thread& thread : threads) thread.join();
}

void behind_gate(std::mutex& first, std::mutex& second) {
  const std::lock_guard<std::mutex> locked(gate);
  lock_both(first, second);
}

void lock_both_at_once(std::mutex& first, std::mutex& second) { const std::scoped_lock both(first, second); }

// With `first` held, the others may have to wait for it.
void lock_both_inside(std::mutex& first, std::mutex& second, std::mutex& third) {
  const std::lock_guard<std::mutex> one(first);
  const std::scoped_lock both(second, third);  // here: both
}

// Gives up what it has when it cannot have all.
void lock_or_try(std::mutex& first, std::mutex& second) {
  for (;;) {
    const std::lock_guard<std::mutex> one(first);
    const std::unique_lock<std::mutex> two(second, std::try_to_lock);
    if (two.owns_lock()) return;
  }
}

std::array<std::mutex, 200> many;

void lock_many() {
  for (std::mutex& mutex : many) mutex.lock();  // here: lock_many
  for (std::mutex& mutex : many) mutex.unlock();
}

// The first is taken before there is another thread, the second when there is.
void lock_one_early(std::mutex& first, std::mutex& second) {
  std::unique_lock<std::mutex> early(first);  // here: early
  std::thread other([] { schedule::at(1, [] { lock_both(b, a); }); });
  {
    const std::lock_guard<std::mutex> late(second);  // here: late
  }
  early.unlock();
  schedule::end_turn();
  other.join();
}

// Order that no schedule can turn around: who takes the locks the other way has waited for who took them.
void after_future() {
  std::promise<void> done;
  in_turns({[&] {
              lock_both(a, b);
              done.set_value();
            },
            [&] {
              done.get_future().wait();
              lock_both(b, a);
            }});
}
void after_packaged_task() {
  std::packaged_task<void()> task([] { lock_both(a, b); });
  in_turns({[&] { task(); },
            [&] {
              task.get_future().get();
              lock_both(b, a);
            }});
}
void after_call_once() {
  std::once_flag flag;
  const auto once = [&] { std::call_once(flag, [] { lock_both(a, b); }); };
  in_turns({once, [&] {
              once();
              lock_both(b, a);
            }});
}
void after_local_static() {
  const auto once = [] {
    static const bool done = (lock_both(a, b), true);
    return done;
  };
  in_turns({once, [&] {
              once();
              lock_both(b, a);
            }});
}
// Two that wait for the same future do not wait for each other.
void both_after_future() {
  std::promise<void> done;
  const std::shared_future<void> ready = done.get_future().share();
  done.set_value();
  in_turns({[&, ready] {
              lock_both(a, b);
              ready.wait();
            },
            [&, ready] {
              ready.wait();
              lock_both(b, a);
            }});
}

const twins::Cases kCases = {
    {"two_locks", [] { in_turns({[] { lock_both(a, b); }, [] { lock_both(b, a); }}); }},
    {"three_locks",
     [] { in_turns({[] { lock_both(a, b); }, [] { lock_both(b, c); }, [] { lock_both(c, a); }}); }},
    {"last_of_many_locks", [] { in_turns({lock_many, [] { lock_both(many[199], many[0]); }}); }},
    {"early", [] { lock_one_early(a, b); }},
    {"early_in_order", [] { lock_one_early(b, a); }},
    {"early_and_over",
     [] {
       lock_both(a, b);
       in_turns({[] { lock_both(b, a); }});
     }},
    {"both_after_future", both_after_future},
    {"after_future", after_future},
    {"after_packaged_task", after_packaged_task},
    {"after_call_once", after_call_once},
    {"after_local_static", after_local_static},
    {"at_once_inside", [] { in_turns({[] { lock_both_inside(a, b, c); }, [] { lock_both(c, a); }}); }},
    {"at_once_behind", [] { in_turns({[] { lock_both_inside(a, b, c); }, [] { lock_both(a, c); }}); }},
    {"same_order", [] { in_turns({[] { lock_both(a, b); }, [] { lock_both(a, b); }}); }},
    {"gate", [] { in_turns({[] { behind_gate(a, b); }, [] { behind_gate(b, a); }}); }},
    {"at_once", [] { in_turns({[] { lock_both_at_once(a, b); }, [] { lock_both_at_once(b, a); }}); }},
    {"tries", [] { in_turns({[] { lock_or_try(a, b); }, [] { lock_both(b, a); }}); }},
    {"one_thread",
     [] {
       in_turns({[] {
                   lock_both(a, b);
                   lock_both(b, a);
                 },
                 [] { const std::lock_guard<std::mutex> locked(b); }});
     }},
    {"many_locks", [] { in_turns({lock_many, lock_many}); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
