// Each of two threads says that it is there and looks whether the other is. On x86 both can miss each other
// unless the store has left the store buffer before the load.
#include <atomic>

#include "twins.h"

namespace {

std::atomic<int> first{0};
std::atomic<int> second{0};

template <class Say, class Look>
void meet(Say say, Look look) {
  // Neither thread ends, which drains its buffer, before both have looked.
  std::thread a([=] {
    schedule::at(0, [=] { say(first); });
    schedule::at(2, [=] { look(second); });
    schedule::wait_for(4);
  });
  std::thread b([=] {
    schedule::at(1, [=] { say(second); });
    schedule::at(3, [=] { look(first); });
    schedule::wait_for(4);
  });
  a.join();
  b.join();
}

void store_relaxed(std::atomic<int>& flag) { flag.store(1, std::memory_order_relaxed); }
void store_released(std::atomic<int>& flag) { flag.store(1, std::memory_order_release); }
void store_seq_cst(std::atomic<int>& flag) { flag.store(1); }
void exchange(std::atomic<int>& flag) { flag.exchange(1, std::memory_order_relaxed); }
void load_relaxed(const std::atomic<int>& flag) { (void)flag.load(std::memory_order_relaxed); }
void load_seq_cst(const std::atomic<int>& flag) { (void)flag.load(); }
void fence(std::memory_order order, const std::atomic<int>& flag) {
  std::atomic_thread_fence(order);
  load_relaxed(flag);
}

const twins::Cases kCases = {
    {"relaxed", [] { meet(store_relaxed, load_relaxed); }},
    {"released", [] { meet(store_released, load_seq_cst); }},
    {"weakly_fenced",
     [] { meet(store_relaxed, [](auto& flag) { fence(std::memory_order_acq_rel, flag); }); }},
    {"seq_cst", [] { meet(store_seq_cst, load_seq_cst); }},
    {"exchanged", [] { meet(exchange, load_relaxed); }},
    {"fenced", [] { meet(store_relaxed, [](auto& flag) { fence(std::memory_order_seq_cst, flag); }); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
