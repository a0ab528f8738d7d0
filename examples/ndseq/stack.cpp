// Treiber's stack: the top and its version are exchanged in one step, or the operation is tried again.
#include <heddle/heddle.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "interleave.h"

namespace {

// Nodes are numbers, from 1, so that a node and a version fit into one word.
struct Node {
  int value = 0;
  uint32_t next = 0;
};
constexpr uint32_t kNodes = 64;
Node nodes[kNodes];

class Stack {
 public:
  // With the nodes from 1 to `count` in it, the last on top.
  explicit Stack(uint32_t count) : top_(count) {
    for (uint32_t node = 1; node <= count; ++node) nodes[node].next = node - 1;
  }

  void push(uint32_t node, void (*between)(int)) {
    for (int tries = 0;; ++tries) {
      uint64_t top = top_.load();
      nodes[node].next = static_cast<uint32_t>(top);
      between(tries);
      const uint64_t next = ((top >> 32) + 1) << 32 | node;
      if (HEDDLE_MAYBE && top_.compare_exchange_strong(top, next)) return;
    }
  }

  // The node; 0: there was none.
  uint32_t pop(void (*between)(int)) {
    for (int tries = 0;; ++tries) {
      uint64_t top = top_.load();
      uint32_t popped = 0;
      bool done = false;
      if (HEDDLE_MAYBE) {
        const auto node = static_cast<uint32_t>(top);
        if (node == 0) {
          done = true;
        } else {
          const uint64_t next = ((top >> 32) + 1) << 32 | nodes[node].next;
          between(tries);
          if (top_.compare_exchange_strong(top, next)) {
            popped = node;
            done = true;
          }
        }
      }
      if (done) return popped;
    }
  }

  void focus() const {
    heddle::focus(top_);
    for (auto node = static_cast<uint32_t>(top_.load()); node != 0; node = nodes[node].next)
      heddle::focus(nodes[node]);
  }

 private:
  std::atomic<uint64_t> top_;  // the version above, the node below
};

Stack stack(3);
int popped_values[kNodes];

void do_not_wait(int) {}
// Others get in between the first time.
void let_others_in(int tries) {
  if (tries > 0) return;
  interleave::end_turn();
  interleave::wait_for(2);
}

}  // namespace

int main() {
  for (uint32_t i = 1; i < kNodes; ++i) nodes[i].value = static_cast<int>(i) * 10;
  heddle::parallel_for(0, 4, [](int i) {
    // The first pop and the third push are overtaken by the two others.
    if (i == 1 || i == 2) interleave::wait_for(i);
    if (i == 0 || i == 3) {
      const uint32_t node = stack.pop(i == 0 ? let_others_in : do_not_wait);
      popped_values[i] = node == 0 ? 0 : nodes[node].value;
    } else {
      stack.push(static_cast<uint32_t>(10 + i), do_not_wait);
    }
    if (i == 1 || i == 2) interleave::end_turn();
  });
  heddle::focus(popped_values);
  stack.focus();
  std::printf("popped %d and %d\n", popped_values[0], popped_values[3]);
}
