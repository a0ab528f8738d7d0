// Memory that is given back while nothing says that another thread is done with it; and the same when
// something does.
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "twins.h"

namespace {

struct Node {
  long value = 0;
  long next = 0;
};
Node* node;
std::mutex mutex;

// Does not touch it.
__attribute__((noinline)) void drop(Node* given) { ::operator delete(given); }  // here: drop

void use_then(void (*use)(), void (*give_back)()) {
  node = new Node;
  twins::two(
      [=] {
        use();
        twins::let_second_pass();
      },
      give_back);
}

void write() { node->next = 1; }  // here: write
void read() {                     // here: read
  if (node->value != 0) std::abort();
}

std::atomic<int> users;
std::atomic<long>* counter;

void count_down(std::memory_order order) {
  if (users.fetch_sub(1, order) != 1) return;
  std::atomic_thread_fence(std::memory_order_acquire);
  drop(node);
}

char* mapped;
std::vector<long>* list;

void with_references(std::memory_order order) {
  node = new Node;
  users = 2;
  twins::two(
      [=] {
        write();
        count_down(order);
        twins::let_second_pass();
      },
      [=] { count_down(order); });
}

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
  std::vector<long> numbers = {1, 2, 3};
};

// The exception's last user ends it, inside the library.
void throw_across() {
  for (int i = 0; i < 100; ++i) {
    std::future<long> result = std::async(std::launch::async, []() -> long { throw Failure("no"); });
    try {
      result.get();
    } catch (const Failure& failure) {
      if (failure.numbers[1] != 2) std::abort();
    }
  }
}

thread_local std::vector<long> own = {1, 2};

const twins::Cases kCases = {
    {"delete_after_write", [] { use_then(write, [] { drop(node); }); }},
    {"both_members",
     [] {
       use_then(
           [] {
             read();
             write();
           },
           [] { drop(node); });
     }},
    {"delete_after_read", [] { use_then(read, [] { drop(node); }); }},
    {"free",
     [] {
       node = static_cast<Node*>(std::calloc(1, sizeof(Node)));
       twins::two(
           [] {
             write();
             twins::let_second_pass();
           },
           [] { std::free(node); });  // here: free
     }},
    {"realloc",
     [] {
       node = static_cast<Node*>(std::calloc(1, sizeof(Node)));
       twins::two(
           [] {
             write();
             twins::let_second_pass();
           },
           [] { node = static_cast<Node*>(std::realloc(node, 4000)); });  // here: realloc
     }},
    {"munmap",
     [] {
       mapped = static_cast<char*>(
           mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
       twins::two(
           [] {
             mapped[(1 << 20) - 1] = 1;  // here: map_write
             twins::let_second_pass();
           },
           [] { munmap(mapped, 1 << 20); });  // here: munmap
     }},
    {"element",
     [] {
       list = new std::vector<long>(8);
       twins::two(
           [] {
             (*list)[7] = 1;  // here: element
             twins::let_second_pass();
           },
           [] { std::vector<long>().swap(*list); });
     }},
    {"atomic",
     [] {
       counter = new std::atomic<long>(0);
       twins::two(
           [] {
             counter->fetch_add(1, std::memory_order_relaxed);  // here: atomic
             twins::let_second_pass();
           },
           [] { ::operator delete(counter); });
     }},
    {"relaxed_count", [] { with_references(std::memory_order_relaxed); }},

    {"counted", [] { with_references(std::memory_order_acq_rel); }},
    {"counted_with_fence", [] { with_references(std::memory_order_release); }},
    {"locked",
     [] {
       const auto under_lock = [](auto body) {
         return [=] {
           const std::lock_guard<std::mutex> locked(mutex);
           body();
         };
       };
       node = new Node;
       std::thread user([=] { schedule::at(0, under_lock(write)); });
       std::thread owner([=] { schedule::at(1, under_lock([] { drop(node); })); });
       user.join();
       owner.join();
     }},
    {"joined",
     [] {
       node = new Node;
       std::thread(write).join();
       drop(node);
     }},
    {"shared",
     [] {
       auto pointer = std::make_shared<Node>();
       std::thread user([copy = pointer]() mutable {
         copy->next = 1;
         copy.reset();
         schedule::end_turn();
       });
       schedule::wait_for(1);
       pointer.reset();
       user.join();
     }},
    {"exception", throw_across},
    {"thread_local",
     [] {
       for (int i = 0; i < 50; ++i) std::thread([] { own.push_back(3); }).join();
     }},
    {"strings",
     [] {
       std::string text = "a text that is too long to be kept inside";
       std::thread([&] { text += '!'; }).join();
     }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
