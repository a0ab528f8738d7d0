// What operations of the standard library tell the runtime, and that no code of the program runs inside one.
// library_operations.test compiles and runs it; print_marks.h prints.
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>

#include "Inputs/print_marks.h"

struct Loud {
  ~Loud() { std::puts("destroyed"); }
};

struct Completion {
  void operator()() noexcept { std::puts("completion"); }
};

void complete() noexcept { std::puts("completion"); }

struct Value {
  Value() = default;
  Value(const Value&) { std::puts("copied"); }
};

void barriers() {
  std::puts("barriers");
  std::barrier<> plain(1);
  // CHECK: barriers
  // CHECK-NEXT: barrier arrive and wait {
  // CHECK-NEXT:   barrier arrive {
  // CHECK-NEXT:   } barrier arrive
  // CHECK-NEXT:   barrier wait {
  // CHECK-NEXT:   } barrier wait
  // CHECK-NEXT: } barrier arrive and wait
  plain.arrive_and_wait();
  // CHECK-NEXT: barrier arrive {
  // CHECK-NEXT: } barrier arrive
  // CHECK-NEXT: barrier wait {
  // CHECK-NEXT: } barrier wait
  plain.wait(plain.arrive());
  // CHECK-NEXT: barrier arrive {
  // CHECK-NEXT: } barrier arrive
  plain.arrive_and_drop();
  // CHECK-NEXT: barrier arrive {
  // CHECK-NEXT:   barrier completion {
  // CHECK-NEXT: completion
  // CHECK-NEXT:   } barrier completion
  // CHECK-NEXT: } barrier arrive
  std::barrier<Completion> with_object(1);
  (void)with_object.arrive();
  // CHECK-NEXT: barrier arrive and wait {
  // CHECK-NEXT:   barrier arrive {
  // CHECK-NEXT:     barrier completion {
  // CHECK-NEXT: completion
  // CHECK-NEXT:     } barrier completion
  // CHECK-NEXT:   } barrier arrive
  // CHECK-NEXT:   barrier wait {
  // CHECK-NEXT:   } barrier wait
  // CHECK-NEXT: } barrier arrive and wait
  std::barrier<void (*)() noexcept> with_function(1, complete);
  with_function.arrive_and_wait();
}

void latches() {
  std::puts("latches");
  std::latch latch(1);
  // CHECK: latches
  // CHECK-NEXT: latch try {
  // CHECK-NEXT: } latch try, orders nothing
  latch.try_wait();
  // CHECK-NEXT: latch count down {
  // CHECK-NEXT: } latch count down
  latch.count_down();
  // CHECK-NEXT: latch wait {
  // CHECK: {{^}}} latch wait{{$}}
  latch.wait();
  // CHECK-NEXT: latch try {
  // CHECK-NEXT: {{^}}} latch try{{$}}
  latch.try_wait();
  std::latch other(1);
  // CHECK-NEXT: latch arrive and wait {
  // CHECK: {{^}}} latch arrive and wait{{$}}
  other.arrive_and_wait();
}

void semaphores() {
  std::puts("semaphores");
  std::counting_semaphore<3> semaphore(1);
  // CHECK: semaphores
  // CHECK-NEXT: semaphore acquire {
  // CHECK-NEXT: {{^}}} semaphore acquire{{$}}
  semaphore.acquire();
  // CHECK-NEXT: semaphore try {
  // CHECK-NEXT: } semaphore try, orders nothing
  semaphore.try_acquire();
  // CHECK-NEXT: semaphore try {
  // CHECK-NEXT: } semaphore try, orders nothing
  semaphore.try_acquire_for(std::chrono::microseconds(1));
  // CHECK-NEXT: semaphore try {
  // CHECK-NEXT: } semaphore try, orders nothing
  semaphore.try_acquire_until(std::chrono::steady_clock::now());
  // CHECK-NEXT: semaphore release {
  // CHECK-NEXT: } semaphore release
  semaphore.release();
  // CHECK-NEXT: semaphore try {
  // CHECK-NEXT: {{^}}} semaphore try{{$}}
  semaphore.try_acquire();
}

void shared_pointers() {
  std::puts("shared pointers");
  std::shared_ptr<Loud> pointer(new Loud);
  // CHECK: shared pointers
  // CHECK-NEXT: reference copy {
  // CHECK-NEXT: } reference copy
  std::shared_ptr<Loud> copy = pointer;
  // CHECK-NEXT: reference count {
  // CHECK-NEXT: } reference count
  std::weak_ptr<Loud> weak = pointer;
  // CHECK-NEXT: reference look {
  // CHECK-NEXT: } reference look, orders nothing
  (void)pointer.use_count();
  std::puts("first");
  // CHECK-NEXT: first
  // CHECK-NEXT: reference count {
  // CHECK-NEXT: {{^}}} reference count{{$}}
  // CHECK-NEXT: reference drop {
  // CHECK-NEXT: {{^}}} reference drop{{$}}
  // CHECK-NOT: destroyed
  pointer.reset();
  std::puts("last");
  // CHECK: last
  // CHECK-NEXT: reference count {
  // CHECK-NEXT: {{^}}} reference count{{$}}
  // CHECK-NEXT: reference drop {
  // CHECK-NEXT: {{^}}} reference drop{{$}}
  // CHECK-NEXT: {{^}}disposal {
  // CHECK-NEXT: destroyed
  // CHECK-NEXT: {{^}}} disposal
  // CHECK-NEXT: reference count {
  // CHECK-NEXT: {{^}}} reference count{{$}}
  copy.reset();
  // CHECK-NEXT: reference lock {
  // CHECK-NEXT:   reference look {
  // CHECK-NEXT:   } reference look, orders nothing
  // CHECK-NEXT: {{^}}} reference lock, orders nothing
  // CHECK-NEXT: reference again {
  // CHECK-NEXT: {{^}}} reference again
  (void)weak.lock();
  std::puts("only");
  // CHECK-NEXT: only
  // CHECK-NEXT: reference count {
  // CHECK-NEXT: {{^}}} reference count{{$}}
  // CHECK-NEXT: reference drop {
  // CHECK-NEXT: {{^}}} reference drop{{$}}
  // CHECK-NEXT: {{^}}disposal {
  // CHECK-NEXT: destroyed
  // CHECK-NEXT: {{^}}} disposal
  // CHECK-NEXT: {{^}}disposal {
  // CHECK-NEXT: {{^}}} disposal
  {
    const auto only = std::make_shared<Loud>();
  }
}

void futures() {
  std::puts("futures");
  std::promise<Value> promise;
  std::future<Value> future = promise.get_future();
  const Value value;
  // CHECK: futures
  // CHECK: future try {
  // CHECK: {{^}}} future try, orders nothing
  future.wait_for(std::chrono::seconds(0));
  std::puts("set");
  // CHECK: set
  // CHECK: copied
  // CHECK: {{^}}future set {
  // CHECK-NEXT: {{^}}} future set
  promise.set_value(value);
  std::puts("wait");
  // CHECK: wait
  // CHECK: {{^}}future wait {
  // CHECK: {{^}}} future wait{{$}}
  future.wait();
  // CHECK-NEXT: {{^}}future try {
  // CHECK: {{^}}} future try{{$}}
  future.wait_for(std::chrono::seconds(0));
}

void conditions() {
  std::puts("conditions");
  std::mutex mutex;
  std::condition_variable changed;
  // CHECK: conditions
  // CHECK-NEXT: condition loop
  std::unique_lock lock(mutex);  // to wait with, so that the wait begins here
  changed.wait(lock, [] { return true; });
  // CHECK-NEXT: condition loop
  changed.wait_for(lock, std::chrono::seconds(1), [] { return true; });
  bool is_ready = std::getenv("PATH") != nullptr;
  // CHECK-NEXT: condition loop
  while (!is_ready) changed.wait(lock);
  std::puts("once");
  // CHECK-NEXT: once
  if (!is_ready) changed.wait(lock);  // no loop
  // CHECK-NEXT: end
  std::puts("end");
}

int main() {
  barriers();
  latches();
  semaphores();
  shared_pointers();
  futures();
  conditions();
  std::printf("%d\n", library_depth);
  // CHECK: {{^}}0{{$}}
}
