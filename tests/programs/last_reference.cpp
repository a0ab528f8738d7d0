// Whoever drops the last reference to an object destroys it. Which thread that is, the schedule decides, so
// that it cannot be a part of what a block does; unless no other thread ever had a reference.
#include <heddle/heddle.h>

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>

#include "twins.h"

using twins::let_second_pass;
using twins::two;

namespace {

// The textbook's thread pool: a task is shared by whoever adds it and whoever runs it.
class Pool {
 public:
  std::future<int> add(std::function<int()> body) {
    auto task = std::make_shared<std::packaged_task<int()>>(std::move(body));
    std::future<int> result = task->get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.emplace([task] { (*task)(); });
    }
    let_second_pass();
    return result;
  }  // here: last
  void run_one() {
    std::function<void()> task;
    {
      const std::lock_guard lock(mutex_);
      task = std::move(tasks_.front());
      tasks_.pop();
    }
    task();
  }

 private:
  std::mutex mutex_;
  std::queue<std::function<void()>> tasks_;
};

void pool() {
  Pool pool;
  two([&] { std::printf("%d\n", pool.add([] { return 3; }).get()); }, [&] { pool.run_one(); });
}

// What destroys the object has blocks of its own, and drops the last reference to another one.
class Log {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++lines_;
  }

 private:
  std::mutex mutex_;
  int lines_ = 0;
};
Log log_of_all;

struct Part {
  int value = 0;
  std::shared_ptr<Part> next;
  ~Part() { log_of_all.add(); }
};

std::shared_ptr<Part> chain_of(int length) {
  std::shared_ptr<Part> first;
  for (int i = 0; i < length; ++i) {
    auto part = std::make_shared<Part>();
    part->next = std::move(first);
    first = std::move(part);
  }
  return first;
}

void chain() {
  std::shared_ptr<Part> given;
  std::mutex mutex;
  two(
      [&] {
        HEDDLE_ATOMIC("give");
        const std::shared_ptr<Part> mine = chain_of(3);
        {
          const std::lock_guard lock(mutex);
          given = mine;
        }
        log_of_all.add();
        let_second_pass();
      },
      [&] {
        std::shared_ptr<Part> taken;
        {
          const std::lock_guard lock(mutex);
          taken = std::move(given);
        }
        for (Part* part = taken.get(); part != nullptr; part = part->next.get()) part->value = 1;
        taken.reset();
        log_of_all.add();
      });
}

// Nobody else ever has a reference: what the last one does is the block's own doing, like all the rest.
class Account {
 public:
  int look() {
    const std::lock_guard lock(mutex_);
    return balance_;  // here: look
  }
  void add(int amount) {
    const std::lock_guard lock(mutex_);
    balance_ += amount;  // here: add
  }

 private:
  std::mutex mutex_;
  int balance_ = 0;
};
Account account;

void own() {
  two(
      [] {
        HEDDLE_ATOMIC("look and add");
        const int seen = account.look();
        const std::shared_ptr<void> at_end(nullptr, [seen](void*) { account.add(seen); });
        let_second_pass();
      },
      [] { account.add(1); });
}

// In the middle of a block: what comes before and after is still one block.
void own_in_the_middle() {
  two(
      [] {
        HEDDLE_ATOMIC("look and add");
        const int seen = account.look();
        {
          const auto unused = std::make_shared<int>(3);
        }
        let_second_pass();
        account.add(seen);
      },
      [] { account.add(1); });
}

}  // namespace

int main(int count, char** arguments) {
  return twins::run(
      {{"pool", pool}, {"chain", chain}, {"own", own}, {"own_in_the_middle", own_in_the_middle}}, count,
      arguments);
}
