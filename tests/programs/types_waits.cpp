// Predicates that the library calls while somebody waits for a condition. None of the fields x… may be
// proven; `right` holds what differs by a word from the wrong ones. The argument says which of the wrong
// programs runs; none: the right ones.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "twins.h"

struct Gate {
  std::mutex mutex;
  std::mutex another;
  std::condition_variable changed;
  int x1 = 0;
  int x2 = 0;
  int x3 = 0;
  int x4 = 0;
  int x5 = 0;
  int x6 = 0;
  int x7 = 0;
  int x8 = 0;
  int right1 = 0;
  int right2 = 0;
  int right3 = 0;
  int right4 = 0;
  int right5 = 0;
  int right6 = 0;
  int right7 = 0;

  bool is_open() const { return right4 >= 0; }
};

// 1 Nobody holds the lock who writes.
void wait1(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return gate.x1 >= 0; });
}
void change1(Gate& gate) { ++gate.x1; }
void right1(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return gate.right1 >= 0; });
  ++gate.right1;
}

// 2 The lock of one gate, the field of another one.
void wait2(Gate& gate, Gate& other) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return other.x2 >= 0; });
}
void change2(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x2;
}
void right2(Gate& gate, Gate& other) {
  std::unique_lock<std::mutex> lock(other.mutex);
  gate.changed.wait_for(lock, std::chrono::seconds(1), [&] { return other.right2 >= 0; });
  ++other.right2;
}

// 3 The closure is called once more, without the lock.
void wait3(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  const auto is_open = [&] { return gate.x3 >= 0; };
  gate.changed.wait(lock, is_open);
  lock.unlock();
  while (!is_open()) {
  }
}
void change3(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x3;
}
void right3(Gate& gate, int a, int b, int c) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  const auto is_open = [&gate, a, b, c] { return gate.right3 >= a + b + c; };
  gate.changed.wait(lock, is_open);
  gate.changed.wait_until(lock, std::chrono::system_clock::now(), is_open);
  ++gate.right3;
}

// 4 What it has captured is another gate by then.
struct IsOpen {
  Gate* gate;
  bool operator()() const { return gate->x4 >= 0; }
};
void wait4(Gate& gate, Gate& other) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  IsOpen is_open{&gate};
  if (gate.right1 >= 0) is_open.gate = &other;
  gate.changed.wait(lock, is_open);
}
void change4(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x4;
}
void right4(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return gate.is_open(); });
  ++gate.right4;
}

// 5 A reference to the field, which is known to be one only here.
void wait5(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  int& field = gate.x5;
  gate.changed.wait(lock, [&field] { return field >= 0; });
  lock.unlock();
  ++field;
}
void change5(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x5;
}
struct IsRight {
  Gate* gate;
  bool operator()() const { return gate->right5 >= 0; }
};
void right5(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, IsRight{&gate});
  ++gate.right5;
}

// 6 The predicate gives the lock back for a while.
void wait6(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] {
    lock.unlock();
    const bool is_open = gate.x6 >= 0;
    twins::let_second_pass();
    lock.lock();
    return is_open;
  });
}
void change6(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x6;
}
void right6(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] {
    lock.unlock();
    lock.lock();
    const bool is_open = gate.right6 >= 0;
    return is_open;
  });
  ++gate.right6;
}

// 7 Somebody else calls the predicate, too.
struct IsSeven {
  Gate* gate;
  bool operator()() const { return gate->x7 >= 0; }
};
void wait7(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, IsSeven{&gate});
}
void look7(Gate& gate) {
  if (!IsSeven{&gate}()) __builtin_trap();
}
void change7(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x7;
}

// 8 With another lock than that of those who write.
void wait8(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.another);
  gate.changed.wait(lock, [&] { return gate.x8 >= 0; });
}
void change8(Gate& gate) {
  const std::lock_guard<std::mutex> lock(gate.mutex);
  ++gate.x8;
}
void right7(Gate& gate) {
  std::unique_lock<std::mutex> lock(gate.another);
  gate.changed.wait(lock, [&] { return gate.right7 >= 0; });
  ++gate.right7;
}

int main(int argc, char** argv) {
  Gate gate;
  Gate other;
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  if (is("unlocked")) twins::one_by_one([&] { wait1(gate); }, [&] { change1(gate); });
  if (is("other")) twins::one_by_one([&] { wait2(gate, other); }, [&] { change2(other); });
  if (is("again")) twins::one_by_one([&] { wait3(gate); }, [&] { change3(gate); });
  if (is("changed")) twins::one_by_one([&] { wait4(gate, other); }, [&] { change4(other); });
  if (is("reference")) twins::one_by_one([&] { wait5(gate); }, [&] { change5(gate); });
  if (is("released")) twins::one_by_one([&] { wait6(gate); }, [&] { change6(gate); });
  if (is("elsewhere")) twins::one_by_one([&] { wait7(gate), look7(gate); }, [&] { change7(gate); });
  if (is("wrong")) twins::one_by_one([&] { wait8(gate); }, [&] { change8(gate); });
  const auto all_right = [&] {
    right1(gate);
    right2(gate, other);
    right3(gate, 0, 0, 0);
    right4(gate);
    right5(gate);
    right6(gate);
    right7(gate);
  };
  if (argc == 1) twins::one_by_one(all_right, all_right);
}
