// A thread pool and a queue with one lock whose tasks are whole parallel programs: crypt, lufact, series, sor
// and sparse with small inputs, each with two threads of its own. Which task runs when and by whom is the
// scheduler's choice; what a task computes is not. After the queue-jg of S0's Table 1.
//
// Size: rounds of the five; the work is proportional. Small: 1. The threads asked for are the pool's.
#define KERNEL_IS_PART

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "kernel.h"
#include "pool.h"

#include "crypt.cpp"
#include "lufact.cpp"
#include "series.cpp"
#include "sor.cpp"
#include "sparse.cpp"

namespace {

constexpr kernel::Sizes kSizes{.normal = 50, .small = 1};

constexpr std::size_t kThreadsPerTask = 2;

struct Kernel {
  const char* name;
  std::string (*run)(const kernel::Program&);
  std::size_t size;
};
constexpr Kernel kKernels[] = {{"crypt", kernel::crypt::run, 300'000},
                               {"lufact", kernel::lufact::run, 150},
                               {"series", kernel::series::run, 60},
                               {"sor", kernel::sor::run, 60},
                               {"sparse", kernel::sparse::run, 400}};

// Each task has a place of its own for what it says.
void run_task(const Kernel& kernel, std::string& said) {
  said = kernel.run(kernel::Program(kernel.name, kThreadsPerTask, kernel.size));
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("queue_jg", argc, argv, kSizes);
  const std::size_t count = std::size(kKernels);
  std::vector<std::string> said(program.size() * count);
  {
    kernel::ThreadPool<kernel::BoundedQueue> pool(program.threads());
    for (std::size_t task = 0; task < said.size(); ++task)
      pool.submit([&, task] { run_task(kKernels[task % count], said[task]); });
  }

  // Each kernel has checked its result; all rounds have the same.
  for (std::size_t task = 0; task < said.size(); ++task) {
    program.check(!said[task].empty(), "a task was not done");
    program.check(said[task] == said[task % count],
                  "a task computed \"" + said[task] + "\", and once \"" + said[task % count] + "\"");
  }
  std::printf("queue_jg: %zu tasks\n", said.size());
  return 0;
}
