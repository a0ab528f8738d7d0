// Small cases of data races and of what looks like one; the first argument names the case.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "twins.h"

namespace {

// With BUSY, so much is done first that the accesses of the case are not among those that are told anyway.
volatile int64_t busy_words[8][64];
template <class Body>
void at(int number, Body body) {
  schedule::at(number, [&] {
#ifdef BUSY
    for (volatile int64_t& word : busy_words[number]) word = 1;
#endif
    body();
  });
}

alignas(64) char bytes[64];
alignas(64) volatile int64_t words[8];
std::atomic<int> flag{0};
std::mutex mutex;
std::shared_mutex shared_mutex;

volatile char& byte(int i) { return reinterpret_cast<volatile char*>(bytes)[i]; }
volatile int32_t& half(int i) { return reinterpret_cast<volatile int32_t*>(bytes)[i]; }
volatile int64_t& whole(int i) { return reinterpret_cast<volatile int64_t*>(bytes)[i]; }

template <class T>
void look_at(volatile T& place) {
  [[maybe_unused]] const T value = place;
}

// Both at once as far as the program says, one after the other in fact.
void two(const std::function<void()>& first, const std::function<void()>& second) {
  std::thread a([&] { at(0, first); });
  std::thread b([&] { at(1, second); });
  a.join();
  b.join();
}

const twins::Cases kCases = {
    {"write_write", [] { two([] { words[0] = 1; }, [] { words[0] = 2; }); }},
    {"write_read", [] { two([] { words[0] = 1; }, [] { look_at(words[0]); }); }},
    {"read_write", [] { two([] { look_at(words[0]); }, [] { words[0] = 1; }); }},
    {"read_read", [] { two([] { look_at(words[0]); }, [] { look_at(words[0]); }); }},
    {"neighbouring_bytes", [] { two([] { byte(0) = 1; }, [] { byte(1) = 1; }); }},
    {"same_byte", [] { two([] { byte(5) = 1; }, [] { byte(5) = 1; }); }},
    {"neighbouring_halves", [] { two([] { half(0) = 1; }, [] { half(1) = 1; }); }},
    {"byte_of_a_word", [] { two([] { whole(0) = 1; }, [] { byte(3) = 1; }); }},
    {"word_over_a_byte", [] { two([] { byte(7) = 1; }, [] { look_at(whole(0)); }); }},
    {"unaligned_overlap", [] { two([] { std::memset(bytes + 3, 1, 8); }, [] { look_at(byte(10)); }); }},
    {"unaligned_beside", [] { two([] { std::memset(bytes + 3, 1, 8); }, [] { look_at(byte(11)); }); }},
    {"locked",
     [] {
       const auto add = [] {
         const std::lock_guard<std::mutex> locked(mutex);
         words[0] = words[0] + 1;
       };
       two(add, add);
     }},
    {"shared_readers",
     [] {
       const auto read = [] {
         const std::shared_lock<std::shared_mutex> locked(shared_mutex);
         look_at(words[0]);
       };
       std::thread a([&] { at(0, read); });
       std::thread b([&] { at(1, read); });
       std::thread c([&] {
         at(2, [] {
           const std::lock_guard<std::shared_mutex> locked(shared_mutex);
           words[0] = 1;
         });
       });
       a.join(), b.join(), c.join();
     }},
    {"many_locks_at_once",
     [] {
       static std::array<std::shared_mutex, 200> locks;
       two(
           [] {
             for (std::shared_mutex& lock : locks) lock.lock();
             words[0] = 1;
             for (std::shared_mutex& lock : locks) lock.unlock();
           },
           [] {
             const std::shared_lock<std::shared_mutex> locked(locks.back());
             look_at(words[0]);
           });
     }},
    {"write_after_readers",
     [] {
       std::thread a([] { at(0, [] { look_at(words[0]); }); });
       std::thread b([] { at(1, [] { look_at(words[0]); }); });
       std::thread c([&] {
         a.join();
         at(2, [] { words[0] = 1; });
       });
       b.join(), c.join();
     }},
    // Each byte is locked; the reader looks at the one that nobody wrote, and at one that somebody did.
    {"bytes_with_histories",
     [] {
       const auto write = [](int i) {
         const std::lock_guard<std::mutex> locked(mutex);
         byte(i) = 1;
       };
       std::thread a([&] { at(0, [&] { write(0); }); });
       std::thread b([&] { at(1, [&] { write(1); }); });
       std::thread c([] { at(2, [] { look_at(byte(2)); }); });
       a.join(), b.join(), c.join();
     }},
    {"byte_with_a_history",
     [] {
       const auto write = [](int i) {
         const std::lock_guard<std::mutex> locked(mutex);
         byte(i) = 1;
       };
       std::thread a([&] { at(0, [&] { write(0); }); });
       std::thread b([&] { at(1, [&] { write(1); }); });
       std::thread c([] { at(2, [] { look_at(byte(1)); }); });
       a.join(), b.join(), c.join();
     }},
    // Publication: the second may look at what the first wrote if the flag carries it over.
    {"release_acquire",
     [] {
       two([] { words[0] = 1, flag.store(1, std::memory_order_release); },
           [] { (void)flag.load(std::memory_order_acquire), look_at(words[0]); });
     }},
    {"relaxed_store",
     [] {
       two([] { words[0] = 1, flag.store(1, std::memory_order_relaxed); },
           [] { (void)flag.load(std::memory_order_acquire), look_at(words[0]); });
     }},
    {"relaxed_load",
     [] {
       two([] { words[0] = 1, flag.store(1, std::memory_order_release); },
           [] { (void)flag.load(std::memory_order_relaxed), look_at(words[0]); });
     }},
    {"fences",
     [] {
       two(
           [] {
             words[0] = 1;
             std::atomic_thread_fence(std::memory_order_release);
             flag.store(1, std::memory_order_relaxed);
           },
           [] {
             (void)flag.load(std::memory_order_relaxed);
             std::atomic_thread_fence(std::memory_order_acquire);
             look_at(words[0]);
           });
     }},
    {"release_sequence",
     [] {
       std::thread a([] { at(0, [] { words[0] = 1, flag.store(1, std::memory_order_release); }); });
       std::thread b([] { at(1, [] { flag.fetch_add(1, std::memory_order_relaxed); }); });
       std::thread c([] { at(2, [] { (void)flag.load(std::memory_order_acquire), look_at(words[0]); }); });
       a.join(), b.join(), c.join();
     }},
    {"broken_release_sequence",
     [] {
       std::thread a([] { at(0, [] { words[0] = 1, flag.store(1, std::memory_order_release); }); });
       std::thread b([] { at(1, [] { flag.store(2, std::memory_order_relaxed); }); });
       std::thread c([] { at(2, [] { (void)flag.load(std::memory_order_acquire), look_at(words[0]); }); });
       a.join(), b.join(), c.join();
     }},
    {"failed_exchange",
     [] {
       two([] { words[0] = 1, flag.store(1, std::memory_order_release); },
           [] {
             int expected = 7;
             flag.compare_exchange_strong(expected, 8, std::memory_order_acquire, std::memory_order_relaxed);
             look_at(words[0]);
           });
     }},
    {"atomics_only",
     [] {
       two([] { flag.store(1, std::memory_order_relaxed); },
           [] { flag.store(2, std::memory_order_relaxed); });
     }},
    {"atomic_and_plain",
     [] {
       two([] { flag.store(1, std::memory_order_relaxed); },
           [] { look_at(*reinterpret_cast<volatile int*>(&flag)); });
     }},
    // The plain write is followed by an atomic one of the same thread, which must not hide it.
    {"plain_before_atomic",
     [] {
       two([] { *reinterpret_cast<volatile int*>(&flag) = 1, flag.store(2, std::memory_order_relaxed); },
           [] { flag.store(3, std::memory_order_relaxed); });
     }},
    // Ordered after the second store and not after the first.
    {"one_of_two_stores",
     [] {
       std::thread a([] { at(0, [] { flag.store(1, std::memory_order_relaxed); }); });
       std::thread b([] { at(1, [] { flag.store(2, std::memory_order_relaxed); }); });
       std::thread c([&] {
         b.join();
         at(2, [] { look_at(*reinterpret_cast<volatile int*>(&flag)); });
       });
       a.join(), c.join();
     }},
    {"heap_reuse",
     [] {
       const auto use = [] {
         auto* const number = static_cast<volatile int*>(std::malloc(sizeof(int)));
         *number = 1;
         std::free(const_cast<int*>(number));
       };
       two(use, use);
     }},
    {"joined",
     [] {
       std::thread a([] { words[0] = 1; });
       a.join();
       std::thread b([] { words[0] = 2; });
       b.join();
       words[0] = 3;
     }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
