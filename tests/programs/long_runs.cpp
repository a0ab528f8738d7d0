// What a run must survive however long it is: numbers, threads and locks are used up and used again. The
// first argument names the case. A case that takes more memory than its live state explains fails.
#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "schedule.h"

using schedule::at;
using schedule::end_turn;
using schedule::wait_for;

namespace {

alignas(64) volatile int64_t words[8];
alignas(64) char bytes[8];
std::mutex mutex;

volatile char& byte(int i) { return reinterpret_cast<volatile char*>(bytes)[i]; }

template <class T>
void look_at(volatile T& place) {
  (void)place;
}

// Several sweeps' worth of stretches, with nothing learnt from other threads; or enough that a thread's first
// numbers are no longer kept for it.
constexpr int kMany = 600'000;
constexpr int kFew = 200;
void go_through_stretches(int count = kMany) {
  static thread_local std::mutex own;
  static thread_local volatile int64_t counter = 0;
  volatile int64_t* const place = &counter;
  for (int i = 0; i < count; ++i) {
    const std::lock_guard<std::mutex> locked(own);
    *place = *place + 1;
  }
}

// Something happens, numbers are used up, something else happens; nothing in the program orders the two.
void across_sweeps(const std::function<void()>& first, const std::function<void()>& second) {
  std::thread a([&] { at(0, [&] { first(), go_through_stretches(); }); });
  std::thread b([&] { at(1, [&] { go_through_stretches(), second(); }); });
  a.join();
  b.join();
}

// Two threads write a byte each, a third looks at one of the neighbourhood.
void look_after_two_wrote(int i) {
  const auto write = [](int mine) {
    byte(mine) = 1;
    go_through_stretches(kFew);
  };
  std::thread a([&] { at(0, [&] { write(0); }); });
  std::thread b([&] { at(1, [&] { write(1); }); });
  std::thread c([&] { at(2, [&] { go_through_stretches(), look_at(byte(i)); }); });
  a.join(), b.join(), c.join();
}

long peak_mebibytes() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  char line[128];
  long kibibytes = -1;
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::sscanf(line, "VmHWM: %ld", &kibibytes) == 1) break;
  std::fclose(status);
  return kibibytes / 1024;
}

struct Case {
  std::function<void()> run;
  long most_mebibytes = 64;
};

const std::map<std::string, Case> kCases = {
    {"race_across_sweeps", {[] { across_sweeps([] { words[0] = 1; }, [] { look_at(words[0]); }); }}},
    {"race_after_sweeps", {[] {
       std::thread a([] { go_through_stretches(), at(0, [] { words[0] = 1; }); });
       std::thread b([] { go_through_stretches(), at(1, [] { words[0] = 2; }); });
       a.join(), b.join();
     }}},
    {"order_across_sweeps", {[] {
       const auto add = [] {
         const std::lock_guard<std::mutex> locked(mutex);
         words[0] = words[0] + 1;
       };
       across_sweeps(add, add);
     }}},
    // The write comes after two of the three readers.
    {"readers_across_sweeps", {[] {
       const auto read = [] { look_at(words[0]), go_through_stretches(kFew); };
       std::thread a([&] { at(0, read); });
       std::thread b([&] { at(1, read); });
       std::thread c([&] { at(2, read); });
       std::thread d([&] {
         a.join(), c.join();
         at(3, [] {
           go_through_stretches();
           words[0] = 1;
         });
       });
       b.join(), d.join();
     }}},
    {"joined_readers_across_sweeps", {[] {
       const auto read = [] { look_at(words[0]), go_through_stretches(kFew); };
       std::thread a([&] { at(0, read); });
       std::thread b([&] { at(1, read); });
       std::thread c([&] { at(2, read); });
       std::thread d([&] {
         a.join(), b.join(), c.join();
         at(3, [] {
           go_through_stretches();
           words[0] = 1;
         });
       });
       d.join();
     }}},
    {"bytes_across_sweeps", {[] { look_after_two_wrote(2); }}},
    {"first_byte_across_sweeps", {[] { look_after_two_wrote(0); }}},
    {"second_byte_across_sweeps", {[] { look_after_two_wrote(1); }}},
    // All at once: sweeps while others read and write the same memory.
    {"busy_threads", {[] {
       static std::shared_mutex shared_mutex;
       static std::vector<int64_t> numbers(1000);
       std::vector<std::thread> threads;
       for (unsigned thread = 0; thread < 4; ++thread)
         threads.emplace_back([thread] {
           int64_t sum = 0;
           for (unsigned i = 0; i < 200'000; ++i) {
             const std::size_t place = (i * 7 + thread * 13) % numbers.size();
             if (i % 10 == thread) {
               const std::lock_guard<std::shared_mutex> locked(shared_mutex);
               ++numbers[place];
             } else {
               const std::shared_lock<std::shared_mutex> locked(shared_mutex);
               sum += numbers[place];
             }
           }
           const std::lock_guard<std::mutex> locked(mutex);
           words[0] = words[0] + sum;
         });
       for (std::thread& thread : threads) thread.join();
     }}},
    // Each is ordered after the one before it.
    {"threads_in_sequence",
     {[] {
        for (int i = 0; i < 20'000; ++i) std::thread([] { words[0] = words[0] + 1; }).join();
      },
      32}},
    // By eight threads, whose numbers lie equally far apart: the same few sets of readers again and again.
    {"reads_at_random",
     {[] {
        constexpr unsigned kThreads = 8;
        constexpr unsigned kShare = 30'000;
        static std::array<std::vector<int64_t>, 2> numbers;
        numbers.fill(std::vector<int64_t>(kThreads * kShare));
        std::barrier rounds(kThreads);
        std::vector<std::thread> threads;
        for (unsigned thread = 0; thread < kThreads; ++thread)
          threads.emplace_back([&rounds, thread] {
            std::minstd_rand random(thread + 1);
            for (int round = 0; round < 40; ++round) {
              const std::vector<int64_t>& old = numbers[round % 2];
              for (unsigned i = 0; i < kShare; ++i) {
                int64_t sum = 0;
                for (int reads = 0; reads < 10; ++reads) sum += old[random() % old.size()];
                numbers[1 - round % 2][thread * kShare + i] = sum;
              }
              rounds.arrive_and_wait();
            }
          });
        for (std::thread& thread : threads) thread.join();
      },
      24}},
    // The second thread is created by one who does not know the first, though that has ended.
    {"thread_after_another", {[] {
       std::thread creator([] {
         wait_for(1);
         std::thread([] { words[0] = 2; }).join();
       });
       std::thread([] { words[0] = 1; }).join();
       end_turn();
       creator.join();
     }}},
    // Nobody waits for them, and nothing orders them.
    {"detached_threads",
     {[] {
        for (int i = 0; i < 5'000; ++i) {
          std::thread([] {
            static thread_local volatile int mine = 0;
            volatile int* const place = &mine;
            *place = *place + 1;
            end_turn();
          }).detach();
          wait_for(i + 1);
        }
      },
      64}},
    {"race_of_detached_threads", {[] {
       for (int i = 0; i < 2; ++i) {
         std::thread([] {
           words[0] = words[0] + 1;
           end_turn();
         }).detach();
         wait_for(i + 1);
       }
     }}},
    // None ends before all have begun.
    {"ten_thousand_threads",
     {[] {
        std::vector<std::thread> threads;
        {
          const std::lock_guard<std::mutex> gate(mutex);
          for (int i = 0; i < 10'000; ++i)
            threads.emplace_back([] {
              const std::lock_guard<std::mutex> locked(mutex);
              words[0] = words[0] + 1;
            });
        }
        for (std::thread& thread : threads) thread.join();
      },
      2048}},
    // At ever different places.
    {"locks_in_freed_memory",
     {[] {
        struct Object {
          std::mutex lock;
          std::atomic<int> count{0};
        };
        std::thread user([] {
          std::vector<void*> places(10'000);
          for (std::size_t round = 0; round < 30; ++round) {
            for (void*& place : places) {
              place = std::malloc(sizeof(Object) + 16 * round);
              auto* const object = new (place) Object;
              const std::lock_guard<std::mutex> locked(object->lock);
              object->count.fetch_add(1);
            }
            for (void* const place : places) std::free(place);
          }
        });
        user.join();
      },
      160}},
    // At ever different places, too. What loops did to them is forgotten with them.
    {"arrays_in_unmapped_memory",
     {[] {
        constexpr std::size_t kElements = std::size_t{1} << 19;
        constexpr std::size_t kSize = kElements * sizeof(long);
        auto* const all = static_cast<char*>(
            mmap(nullptr, 300 * kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        for (std::size_t round = 0; round < 300; ++round) {
          auto* const array = reinterpret_cast<long*>(all + round * kSize);
          mprotect(array, kSize, PROT_READ | PROT_WRITE);
          const auto fill = [array] {
            for (std::size_t i = 0; i < kElements; ++i) array[i] = static_cast<long>(i);
          };
          std::thread other(fill);
          other.join();
          fill();
          munmap(array, kSize);
        }
      },
      80}},
    // Another lock at the same place orders nothing.
    {"lock_after_an_unmapped_one", {[] {
       const auto map = [](void* wanted) {
         return mmap(wanted, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | (wanted != nullptr ? MAP_FIXED : 0), -1, 0);
       };
       void* const memory = map(nullptr);
       const auto write = [memory] {
         const std::lock_guard<std::mutex> locked(*static_cast<std::mutex*>(memory));
         words[0] = words[0] + 1;
       };
       std::thread a([&] { at(0, write); });
       std::thread b([&] { at(2, write); });
       at(1, [&] {
         munmap(memory, 4096);
         map(memory);
       });
       a.join(), b.join();
     }}},
    {"lock_after_a_destroyed_one", {[] {
       static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
       const auto write = [] {
         pthread_mutex_lock(&lock);
         words[0] = words[0] + 1;
         pthread_mutex_unlock(&lock);
       };
       std::thread a([&] { at(0, write); });
       std::thread b([&] { at(2, write); });
       at(1, [] {
         pthread_mutex_destroy(&lock);
         pthread_mutex_init(&lock, nullptr);
       });
       a.join(), b.join();
     }}},
    // The first who comes through destroys it, while others may still be on their way out.
    {"barriers_destroyed_at_once", {[] {
       constexpr int kRounds = 3000;
       static std::vector<pthread_barrier_t> barriers(kRounds);
       for (pthread_barrier_t& barrier : barriers) pthread_barrier_init(&barrier, nullptr, 2);
       std::thread writer([] {
         for (int i = 0; i < kRounds; ++i) {
           if (i % 2 == 0) words[0] = i;
           if (pthread_barrier_wait(&barriers[i]) == PTHREAD_BARRIER_SERIAL_THREAD)
             pthread_barrier_destroy(&barriers[i]);
         }
       });
       std::thread reader([] {
         for (int i = 0; i < kRounds; ++i) {
           if (i % 2 == 1) look_at(words[0]);
           if (pthread_barrier_wait(&barriers[i]) == PTHREAD_BARRIER_SERIAL_THREAD)
             pthread_barrier_destroy(&barriers[i]);
         }
       });
       writer.join(), reader.join();
     }}},
    {"exits_of_threads", {[] {
       for (int i = 0; i < 10; ++i) {
         pthread_t thread;
         pthread_create(
             &thread, nullptr,
             [](void*) -> void* {
               words[0] = words[0] + 1;
               pthread_exit(nullptr);
             },
             nullptr);
         pthread_join(thread, nullptr);
       }
     }}},
};

}  // namespace

int main(int, char** arguments) {
  const auto found = kCases.find(arguments[1]);
  if (found == kCases.end()) return std::fprintf(stderr, "no such case\n"), 2;
  found->second.run();
  const long peak = peak_mebibytes();
  if (peak <= found->second.most_mebibytes) return 0;
  return std::fprintf(stderr, "it took %ld MiB\n", peak), 1;
}
