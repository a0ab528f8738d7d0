// A lock-free stack whose pop() compares only the address of the first node: it is the same again after
// others have popped two nodes and pushed the first one back. The compare-exchange succeeds and makes a
// popped node the first.
#include <heddle/heddle.h>

#include <atomic>
#include <mutex>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

struct Node {
  std::atomic<Node*> next{nullptr};
};

class Stack {
 public:
  void push(Node* node) {
    Node* first = first_.load();
    do node->next.store(first);
    while (!first_.compare_exchange_strong(first, node));  // here: push
  }
  Node* pop() {
    Node* first = first_.load();
    while (first != nullptr && !first_.compare_exchange_strong(first, first->next.load())) {  // here: pop
    }
    return first;
  }
  Node* pop_while_second_passes() {
    HEDDLE_ATOMIC("pop");
    Node* first = first_.load();  // here: first
    Node* const next = first->next.load();
    let_second_pass();
    return first_.compare_exchange_strong(first, next) ? first : nullptr;  // here: exchange
  }

 private:
  std::atomic<Node*> first_{nullptr};
};

// The same stack with every operation under a lock: a node cannot come back in the middle of a pop().
class LockedStack {
 public:
  void push(Node* node) {
    const std::lock_guard<std::mutex> locked(mutex_);
    stack_.push(node);
  }
  Node* pop() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return stack_.pop();
  }
  Node* pop_while_second_begins() {
    HEDDLE_ATOMIC("pop");
    const std::lock_guard<std::mutex> locked(mutex_);
    let_second_begin();
    return stack_.pop();
  }

 private:
  std::mutex mutex_;
  Stack stack_;
};

Node nodes[3];
Stack stack;
LockedStack locked_stack;

template <class Of>
void fill(Of& to) {
  for (Node& node : nodes) to.push(&node);
}
// The first node is the first again, the second one is gone.
template <class Of>
void take_second(Of& from) {
  Node* const first = from.pop();
  from.pop();
  if (first != nullptr) from.push(first);
}

const twins::Cases kCases = {
    {"compared",
     [] {
       fill(stack);
       two([] { stack.pop_while_second_passes(); }, [] { take_second(stack); });
     }},
    {"locked",
     [] {
       fill(locked_stack);
       two([] { locked_stack.pop_while_second_begins(); }, [] { take_second(locked_stack); });
     }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
