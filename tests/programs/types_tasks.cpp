// What is moved out of a container, what a function returns, and closures that are handed on. None of the
// fields x… may be proven, nor the elements of containers e…; `right` holds what differs by a word from the
// wrong ones. The argument says which of the wrong programs runs; none: the right ones.
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "twins.h"

using Task = std::function<void()>;

struct Result {
  int right2 = 0;
  int x4 = 0;
  std::string text;
};

struct Hub {
  std::mutex mutex;
  std::deque<Task> right1;
  std::deque<Task> e1;
  std::deque<Task> e2;
  std::deque<std::string> e3;
  std::deque<std::string> right3;
  std::atomic<Result*> latest = nullptr;
  int x7 = 0;
  int right7 = 0;
};

// 1 Taken with the lock, and without.
void push1(Hub& hub, Task task) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  hub.e1.push_back(std::move(task));
}
std::optional<Task> pop1(Hub& hub) {
  if (hub.e1.empty()) return std::nullopt;
  std::optional<Task> task = std::move(hub.e1.front());
  hub.e1.pop_front();
  return task;
}
void push_right(Hub& hub, Task task) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  hub.right1.push_back(std::move(task));
}
std::optional<Task> pop_right(Hub& hub) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  if (hub.right1.empty()) return std::nullopt;
  std::optional<Task> task = std::move(hub.right1.front());
  hub.right1.pop_front();
  return task;
}

// 2 Called where it lies, when the lock has been given back.
void call2(Hub& hub) {
  std::unique_lock<std::mutex> lock(hub.mutex);
  if (hub.e2.empty()) hub.e2.emplace_back([] {});
  const Task& task = std::move(hub.e2.front());
  lock.unlock();
  task();
}
void change2(Hub& hub) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  hub.e2.front() = nullptr;
}

// 3 Not moved, but looked at later.
void look3(Hub& hub, volatile char& first) {
  std::unique_lock<std::mutex> lock(hub.mutex);
  if (hub.e3.empty()) hub.e3.emplace_back("a text that is too long to be kept in the string");
  const std::optional<std::string_view> text = hub.e3.front();
  lock.unlock();
  first = text->front();
}
void change3(Hub& hub) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  hub.e3.front()[0] = 'A';
}
std::string right3(Hub& hub) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  if (hub.right3.empty()) hub.right3.emplace_back("a text that is too long to be kept in the string");
  std::optional<std::string> text = std::move(hub.right3.front());
  hub.right3.pop_front();
  return *text;
}

// 4 The object that is returned is known to others before it is.
Result make4(Hub& hub) {
  Result result;
  hub.latest.store(&result, std::memory_order_release);
  ++result.x4;
  twins::let_second_pass();
  return result;
}
Result make_right() {
  Result result;
  ++result.right2;
  return result;
}

// Not to be left out because nobody asks for the sum.
void add(volatile int& number) { number = number + 1; }

// 5 Two threads have the closure itself, one of them by reference. 6 Both call the same function.
void refer5() {
  auto count = [n = 0]() mutable { add(n); };
  const Task task = std::ref(count);
  std::thread other([&] { schedule::at(1, [&] { task(); }); });
  schedule::at(0, [&] { count(); });
  other.join();
}
void call6() {
  const Task task = [n = 0]() mutable { add(n); };
  std::thread other([&] { schedule::at(1, [&] { task(); }); });
  schedule::at(0, [&] { task(); });
  other.join();
}

// 7 What a task does, it does without the lock that it was handed over with.
void push7(Hub& hub) {
  push_right(hub, [&hub] { ++hub.x7; });
  push_right(hub, [&hub] {
    const std::lock_guard<std::mutex> lock(hub.mutex);
    ++hub.right7;
  });
}
void change7(Hub& hub) {
  const std::lock_guard<std::mutex> lock(hub.mutex);
  ++hub.x7;
  ++hub.right7;
}

int main(int argc, char** argv) {
  Hub hub;
  char first = 0;
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  if (is("taken")) twins::one_by_one([&] { push1(hub, [] {}); }, [&] { (*pop1(hub))(); });
  if (is("called")) twins::one_by_one([&] { call2(hub); }, [&] { change2(hub); });
  if (is("looked")) twins::one_by_one([&] { look3(hub, first); }, [&] { change3(hub); });
  if (is("returned"))
    twins::one_by_one([&] { make4(hub); }, [&] { ++hub.latest.load(std::memory_order_acquire)->x4; });
  if (is("referred")) refer5();
  if (is("shared")) call6();
  if (is("unlocked")) {
    push7(hub);
    twins::one_by_one([&] { (*pop_right(hub))(); }, [&] { change7(hub); });
  }
  const auto all_right = [&] {
    push_right(hub, [&hub] { right3(hub); });
    (*pop_right(hub))();
    if (make_right().right2 != 1) __builtin_trap();
  };
  if (argc == 1) twins::one_by_one(all_right, all_right);
}
