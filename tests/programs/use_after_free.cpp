// Memory that one thread has freed and another one uses afterwards, with nothing that tells it so; and memory
// that has begun another life meanwhile.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "twins.h"

namespace {

struct Node {
  long value = 0;
  long next = 0;
  char letter = 0;
};
Node* node;
std::mutex mutex;

Node* make() {
  auto* const made = static_cast<Node*>(std::malloc(sizeof(Node)));
  *made = Node();
  return made;
}

// The compiler knows what free() and realloc() mean, and would not compile what we are after.
__attribute__((noinline)) void free_it(void* memory) { std::free(memory); }  // here: free
using Reallocate = void*(void*, std::size_t);
Reallocate* volatile reallocate = std::realloc;

// The first one gives it back, the second one uses it then.
void give_back_then(void (*give_back)(), void (*use)()) {
  node = make();
  twins::two(
      [=] {
        give_back();
        twins::let_second_pass();
      },
      use);
}
void give_back() { free_it(node); }

// The allocator keeps its own notes in what it has, so only what lies behind them is as it was.
void read() { std::printf("%d\n", node->letter); }  // here: read
void write() { node->letter = 1; }                  // here: write
void load() {
  std::printf("%d\n", std::atomic_ref<char>(node->letter).load() >= 0);  // here: load
}

// Another thread has it since. What it does is told from what was done before.
void begin_another_life(void* (*allocate)()) {
  node = make();
  void* memory = nullptr;
  twins::two(
      [&] {
        free_it(node);
        memory = allocate();
        twins::let_second_pass();
        free_it(memory);
      },
      [&] {
        // As much as there may be, of all sizes that are near.
        std::vector<void*> all;
        for (int i = 0; i < 200; ++i) {
          all.push_back(i % 2 == 0 ? std::calloc(1, 24 + i % 64) : std::malloc(24 + i % 64));
          std::memset(all.back(), 1, 24);
        }
        for (void*& some : all) {
          some = std::realloc(some, 200);
          std::memset(some, 2, 200);
        }
        for (void* some : all) free_it(some);
      });
}

// Freed by one, allocated and used by the other, in turns, without any other order between them.
void hand_round() {
  constexpr int kRounds = 200;
  const auto take_part = [](int from) {
    for (int round = from; round < kRounds; round += 2) {
      schedule::at(round, [] {
        std::vector<Node*> all;
        for (int i = 0; i < 50; ++i) {
          all.push_back(make());
          all.back()->letter = 1;
        }
        for (Node* some : all) free_it(some);
      });
    }
  };
  // One arena, so that they do get each other's memory.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MXFAST, 0);
  std::thread a(take_part, 0);
  std::thread b(take_part, 1);
  a.join();
  b.join();
}

}  // namespace

int main(int count, char** arguments) {
  return twins::run(
      {
          {"read", [] { give_back_then(give_back, read); }},
          {"write", [] { give_back_then(give_back, write); }},
          {"load", [] { give_back_then(give_back, load); }},
          {"twice",
           [] {
             // Before the allocator complains.
             give_back_then(give_back, [] {
               node->letter = 2;
               node->value = 3;
             });
           }},
          {"realloc",
           [] {
             give_back_then([] { static_cast<void>(reallocate(node, 5000)); }, read);  // here: realloc
           }},
          {"joined",
           [] {
             node = make();
             std::thread([] { free_it(node); }).join();
             node = make();
             std::thread([] { write(); }).join();
             free_it(node);
           }},
          {"locked",
           [] {
             node = make();
             twins::two(
                 [] {
                   {
                     const std::lock_guard lock(mutex);
                     free_it(std::exchange(node, nullptr));
                   }
                   twins::let_second_pass();
                 },
                 [] {
                   const std::lock_guard lock(mutex);
                   if (node != nullptr) write();
                 });
           }},
          {"another_life", [] { begin_another_life([] { return std::malloc(sizeof(Node)); }); }},
          {"aligned_life", [] { begin_another_life([] { return std::aligned_alloc(32, 64); }); }},
          {"hand_round", hand_round},
      },
      count, arguments);
}
