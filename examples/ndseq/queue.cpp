// A queue without waiting whose tail is always the last node: an exchange of several words links the node and
// moves the tail in one step, if the queue's version is what it was, or the operation is tried again.
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>
#include <mutex>

#include "interleave.h"

namespace {

struct Node {
  int value = 0;
  int next = 0;  // 0: none
};
Node nodes[32];

class Queue {
 public:
  // Node 1 is a dummy; 2 and 3 are in it.
  Queue() {
    nodes[1].next = 2;
    nodes[2].next = 3;
  }

  void enqueue(int node, void (*between)(int)) {
    for (int tries = 0;; ++tries) {
      const Ends before = read();
      between(tries);
      if (HEDDLE_MAYBE && exchange(before, {before.head, node}, before.tail, node)) return;
    }
  }

  // The value; 0: there was none.
  int dequeue(void (*between)(int)) {
    for (int tries = 0;; ++tries) {
      const Ends before = read();
      int value = 0;
      bool done = false;
      if (HEDDLE_MAYBE) {
        if (before.head == before.tail) {
          done = true;
        } else {
          const int first = nodes[before.head].next;
          between(tries);
          if (exchange(before, {first, before.tail}, 0, 0)) {
            value = nodes[first].value;
            done = true;
          }
        }
      }
      if (done) return value;
    }
  }

  void focus() const {
    heddle::focus(ends_);
    for (int node = ends_.head; node != 0; node = nodes[node].next) heddle::focus(nodes[node]);
  }

 private:
  struct Ends {
    int head = 1;
    int tail = 3;
    int version = 0;
  };

  Ends read() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return ends_;
  }
  // As one instruction would do it: false when the version has changed.
  bool exchange(const Ends& before, Ends after, int last, int node) {
    const std::lock_guard<std::mutex> locked(mutex_);
    if (ends_.version != before.version) return false;
    after.version = before.version + 1;
    ends_ = after;
    if (node != 0) nodes[last].next = node;
    return true;
  }

  std::mutex mutex_;
  Ends ends_;
};

Queue queue;
int dequeued[4];

void do_not_wait(int) {}
void let_others_in(int tries) {
  if (tries > 0) return;
  interleave::end_turn();
  interleave::wait_for(2);
}

}  // namespace

int main() {
  for (int i = 2; i < 32; ++i) nodes[i].value = i * 10;
  heddle::parallel_for(0, 4, [](int i) {
    if (i == 1) interleave::wait_for(1);
    if (i > 1) interleave::wait_for(2);
    if (i % 2 == 0) {
      queue.enqueue(10 + i, i == 0 ? let_others_in : do_not_wait);
    } else {
      dequeued[i] = queue.dequeue(do_not_wait);
    }
    if (i == 1) interleave::end_turn();
  });
  heddle::focus(dequeued);
  queue.focus();
  std::printf("dequeued %d and %d\n", dequeued[1], dequeued[3]);
}
