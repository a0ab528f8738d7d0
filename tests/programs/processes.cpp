// Children, other programs and the ways a process ends; the first argument names the case.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "schedule.h"

using schedule::at;

namespace {

alignas(64) volatile int64_t words[8];
std::mutex mutex;
std::shared_mutex shared_mutex;
std::atomic<int> counter{0};

void two(const std::function<void()>& first, const std::function<void()>& second) {
  schedule::turn = 0;
  std::thread a([&] { at(0, first); });
  std::thread b([&] { at(1, second); });
  a.join();
  b.join();
}
void race() {
  two([] { words[0] = 1; }, [] { words[0] = 2; });
}
void no_race() {
  const auto add = [] {
    const std::lock_guard<std::mutex> locked(mutex);
    words[0] = words[0] + 1;
  };
  two(add, add);
}

int wait_for_child(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
// What the child ended with.
int in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return wait_for_child(child);
  body();
  ::_exit(5);
}
void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// With threads before, so that Heddle has its descriptors by then.
void race_after(const std::function<void()>& body) {
  no_race();
  body();
  race();
}

[[gnu::noinline]] int64_t recurse(int64_t depth) {
  volatile char much[4096];
  much[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + much[0];
}

extern "C" char** environ;

const std::map<std::string, std::function<void()>> kCases = {
    {"child_alone", [] { expect(in_child([] { words[0] = 1; }) == 5, "the child's exit code is its own"); }},
    {"child_with_threads",
     [] {
       no_race();
       expect(in_child(no_race) == 5, "the child's exit code is its own");
       no_race();
     }},
    {"race_in_child",
     [] {
       no_race();
       const int code = in_child(race);
       expect(code == 5 || code == 66, "the child ended itself");
     }},
    {"race_in_parent",
     [] {
       race();
       expect(in_child([] {}) == 5, "the parent's findings are not the child's");
       expect(in_child(no_race) == 5, "the parent's findings are not the child's");
     }},
    // A daemon closes what it has not opened, and some are not content with once; threads go on afterwards.
    {"close_each",
     [] {
       race_after([] {
         for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
         for (int descriptor = 3; descriptor < 1024; ++descriptor)
           expect(::close(descriptor) != 0 && errno == EBADF, "the program has no such descriptor");
       });
     }},
    {"close_range", [] { race_after([] { expect(::close_range(3, ~0U, 0) == 0, "all are closed"); }); }},
    {"close_from", [] { race_after([] { ::closefrom(3); }); }},
    // Not all that there may be: one is left for Heddle.
    {"take_each",
     [] {
       race_after([] {
         for (int descriptor = 3; descriptor < 900; ++descriptor)
           expect(::dup2(1, descriptor) == descriptor, "the program has the descriptor");
       });
     }},
    {"race_in_both",
     [] {
       race();
       in_child([] { two([] { words[1] = 1; }, [] { words[1] = 2; }); });
     }},
    // Itself, as another program, with a race of its own.
    {"race_in_other_program",
     [] {
       race();
       char name[] = "/proc/self/exe";
       char what[] = "race_in_parent";
       char* const arguments[] = {name, what, nullptr};
       in_child([&] { ::execv(name, arguments); });
     }},
    // Goes on once its input has ended.
    {"goes_on_when_told",
     [] {
       no_race();
       std::puts("ready");
       std::fflush(stdout);
       while (std::getchar() != EOF) {
       }
       no_race();
     }},
    // What threads that the child does not have did to its memory is nobody's any more.
    {"memory_of_other_threads",
     [] {
       std::thread other([] {
         at(0, [] {
           for (volatile int64_t& word : words) word = 1;
         });
         schedule::wait_for(2);
       });
       schedule::wait_for(1);
       const int code = in_child([] {
         const auto read = [] {
           for (volatile int64_t& word : words) (void)word;
         };
         two(read, read);
         for (volatile int64_t& word : words) word = 2;
       });
       schedule::end_turn();
       other.join();
       expect(code == 5, "the child's exit code is its own");
     }},
    // Others are in the middle of everything when the process is copied.
    {"forks_of_a_busy_process",
     [] {
       std::atomic<bool> is_over{false};
       std::vector<std::thread> threads;
       for (int i = 0; i < 3; ++i)
         threads.emplace_back([&] {
           while (!is_over.load()) {
             {
               const std::lock_guard<std::mutex> locked(mutex);
               words[0] = words[0] + 1;
             }
             {
               const std::lock_guard<std::shared_mutex> locked(shared_mutex);
               words[1] = words[1] + 1;
             }
             counter.fetch_add(1);
             const auto memory = std::make_unique<std::vector<std::mutex>>(3);
             for (std::mutex& each : *memory) each.lock(), each.unlock();
             std::thread([] { counter.fetch_add(1); }).join();
           }
         });
       for (int i = 0; i < 60; ++i) {
         const int code = in_child([] {
           static std::mutex own;
           const auto add = [] {
             const std::lock_guard<std::mutex> locked(own);
             words[2] = words[2] + 1;
             counter.fetch_add(1);
           };
           two(add, add);
         });
         expect(code == 5, "the child did its work");
       }
       is_over.store(true);
       for (std::thread& thread : threads) thread.join();
     }},
    // A child of vfork has the parent's memory: its end is not the parent's.
    {"vfork_then_race",
     [] {
       no_race();
       const pid_t child = ::vfork();
       if (child == 0) ::_exit(3);
       expect(wait_for_child(child) == 3, "the child's exit code is its own");
       race();
     }},
    {"other_programs",
     [] {
       no_race();
       expect(std::system("exit 9") >> 8 == 9, "system()");
       std::FILE* const pipe = ::popen("echo yes", "r");
       expect(pipe != nullptr && std::fgetc(pipe) == 'y', "popen()");
       ::pclose(pipe);
       pid_t child = 0;
       char name[] = "false";
       char* const arguments[] = {name, nullptr};
       expect(::posix_spawnp(&child, name, nullptr, nullptr, arguments, environ) == 0, "posix_spawn()");
       expect(wait_for_child(child) == 1, "posix_spawn()'s child");
       expect(in_child([&] { ::execvp(name, arguments); }) == 1, "exec()");
       no_race();
     }},
    {"exec_after_a_race",
     [] {
       race();
       char name[] = "true";
       char* const arguments[] = {name, nullptr};
       ::execvp(name, arguments);
     }},
    {"mapped_over",
     [] {
       constexpr std::size_t kSize = 1 << 16;
       const auto map = [](void* where, int flags) {
         return static_cast<volatile int64_t*>(
             ::mmap(where, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
       };
       volatile int64_t* const memory = map(nullptr, 0);
       two([&] { memory[0] = memory[4096] = 1; },
           [&] {
             map(const_cast<int64_t*>(memory), MAP_FIXED);
             memory[0] = 2;
             auto* const moved = static_cast<volatile int64_t*>(
                 ::mremap(const_cast<int64_t*>(memory), kSize, kSize * 64, MREMAP_MAYMOVE));
             moved[4096] = 2;
             auto* const grown = static_cast<int64_t*>(::reallocarray(nullptr, 16, 8));
             std::free(::reallocarray(grown, 1 << 12, 8));
           });
     }},
    {"end_exit", [] { std::exit(3); }},
    {"end__exit", [] { ::_exit(3); }},
    {"end_quick_exit", [] { std::quick_exit(3); }},
    {"end_abort", [] { std::abort(); }},
    {"end_terminate", [] { std::terminate(); }},
    {"end_kill", [] { ::raise(SIGKILL); }},
    {"end_segv", [] { *static_cast<volatile int*>(nullptr) = 1; }},
    {"end_overflow", [] { std::printf("%ld", static_cast<long>(recurse(1))); }},
};

}  // namespace

// processes CASE [race|no_race]: the second says what comes before.
int main(int count, char** arguments) {
  const auto found = kCases.find(arguments[1]);
  if (found == kCases.end()) return std::fprintf(stderr, "no such case\n"), 2;
  if (count > 2) std::string(arguments[2]) == "race" ? race() : no_race();
  found->second();
  return 0;
}
