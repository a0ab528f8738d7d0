// Two phases with a barrier between them, which one thread passes without waiting.
#include <array>
#include <barrier>

#include "twins.h"

namespace {

std::barrier<> barrier(2);
std::array<int, 2> halves = {};
std::array<int, 2> sums = {};

void first_phase(std::size_t thread) {
  halves[thread] = 1;  // here: write
}
void second_phase(std::size_t thread) {
  sums[thread] = halves[0] + halves[1];  // here: read
}

void pass_without_waiting() {
  std::thread hasty([] {
    first_phase(0);
    (void)barrier.arrive();
    second_phase(0);
    schedule::end_turn();
  });
  std::thread patient([] {
    schedule::wait_for(1);
    first_phase(1);
    barrier.arrive_and_wait();
    second_phase(1);
  });
  hasty.join();
  patient.join();
}

void wait_in_both() {
  const auto both_phases = [](std::size_t thread) {
    first_phase(thread);
    barrier.arrive_and_wait();
    second_phase(thread);
  };
  std::thread a([=] { both_phases(0); });
  std::thread b([=] { both_phases(1); });
  a.join();
  b.join();
}

void print_sums() { std::printf("%d %d\n", sums[0], sums[1]); }

const twins::Cases kCases = {
    {"one_does_not_wait", [] { pass_without_waiting(), print_sums(); }},
    {"both_wait", [] { wait_in_both(), print_sums(); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
