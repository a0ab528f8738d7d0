// Of a race's two accesses the first was told long before the calm began (runtime/calm.h), and the second
// comes in it. What was told before cannot be compared with what comes after, so the report rests on what the
// threads remember. Semaphores go on being told: nothing is left out in between.
#include <semaphore.h>

#include <thread>

#include "schedule.h"

int raced;
sem_t posted;

// When the calm is over, both accesses are told: with call stacks, which the threads do not remember.
int raced_later;
[[gnu::noinline]] void write_later() { raced_later = 1; }
[[gnu::noinline]] void do_later() { write_later(); }

int main() {
  sem_init(&posted, 0, 0);
  std::thread other([] {
    schedule::at(0, [] { raced = 1; });
    schedule::at(2, [] {});
    schedule::wait_for(3);  // all in one stretch
  });
  schedule::wait_for(1);
  for (int i = 0; i < 150'000; ++i) {
    sem_post(&posted);
    sem_wait(&posted);
  }
  schedule::end_turn();
  schedule::wait_for(3);
  raced = 2;
  other.join();
  std::thread first([] { schedule::at(3, do_later); });
  std::thread second([] { schedule::at(4, do_later); });
  first.join();
  second.join();
}
