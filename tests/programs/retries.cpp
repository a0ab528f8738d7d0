// Code that looks again before it acts: what it saw first is thrown away, so it
// is no part of what the block does. And the same when it is not thrown away.
#include <heddle/heddle.h>

#include <atomic>

#include "twins.h"

using twins::let_second_pass;
using twins::two;

namespace {

bool has_passed = false;  // of the first thread: the second one passes once

void let_second_pass_once() {
  if (has_passed) return;
  has_passed = true;
  let_second_pass();
}

struct Node {
  int value = 0;
  Node* next = nullptr;
};

class Stack {
 public:
  // Others may push between the look and the exchange: then it fails, and is
  // tried again.
  void push(Node* node) {
    node->next = first_.load();
    do let_second_pass_once();
    while (!first_.compare_exchange_weak(node->next, node));
  }
  void push_at_once(Node* node) {
    node->next = first_.load();
    while (!first_.compare_exchange_weak(node->next, node)) {
    }
  }
  // Counted before it is there: whoever looks at both in between sees one too
  // many.
  void push_counted(Node* node) {
    count_.fetch_add(1);  // here: count
    node->next = first_.load();
    do let_second_pass_once();
    while (!first_.compare_exchange_weak(node->next, node));  // here: push
  }
  bool is_full() { return count_.load() > 0 && first_.load() != nullptr; }  // here: look

 private:
  std::atomic<Node*> first_{nullptr};
  std::atomic<int> count_{0};
};

// A lock of the program's own. Who has it is in order; who waits looks again
// and again.
class TicketLock {
 public:
  void lock() {
    const unsigned mine = next_.fetch_add(1);
    while (serving_.load() != mine) let_second_pass_once();
  }
  void unlock() { serving_.fetch_add(1); }

 private:
  std::atomic<unsigned> next_{0};
  std::atomic<unsigned> serving_{0};
};

class SpinLock {
 public:
  void lock() {
    while (is_locked_.exchange(true)) let_second_pass_once();
  }
  void unlock() { is_locked_.store(false); }

 private:
  std::atomic<bool> is_locked_{false};
};

// The second has the lock first, and gives it back when the first one has seen
// that.
template <class Lock>
void take_turns(Lock& lock) {
  lock.lock();
  two(
      [&] {
        lock.lock();
        lock.unlock();
      },
      [&] { lock.unlock(); });
}

class Message {
 public:
  void send(int value) {
    value_ = value;
    is_there_.store(true);
  }
  int receive() {
    while (!is_there_.load()) let_second_pass_once();
    return value_;
  }

 private:
  int value_ = 0;
  std::atomic<bool> is_there_{false};
};

Stack stack;
Node nodes[2];
TicketLock ticket_lock;
SpinLock spin_lock;
Message message;

const twins::Cases kCases = {
    {"tried_again", [] { two([] { stack.push(&nodes[0]); }, [] { stack.push_at_once(&nodes[1]); }); }},
    {"counted_first",
     [] {
       two([] { stack.push_counted(&nodes[0]); },
           [] {
             stack.is_full();
             stack.push_at_once(&nodes[1]);
           });
     }},
    {"ticket_lock", [] { take_turns(ticket_lock); }},
    {"spin_lock", [] { take_turns(spin_lock); }},
    {"looked_again", [] { two([] { message.receive(); }, [] { message.send(1); }); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
