// Constructors and virtual functions are defined in another file.
#include <coroutine>
#include <mutex>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

class Account {
 public:
  Account();
  virtual int risk();
  int balance();
  Task later();

 private:
  std::mutex lock_;
  int balance_;
};

// CHECK-LABEL: define {{.*}} @_ZN7Account7balanceEv
// CHECK: call void @heddle_begin_block(ptr {{.*}}@heddle_block._ZN7Account7balanceEv, ptr {{.*}}%0)
// CHECK: call void @heddle_end_block(ptr {{.*}}@heddle_block._ZN7Account7balanceEv)
int Account::balance() { return ++balance_; }

// CHECK-LABEL: define {{.*}} @_ZN7Account5laterEv
// CHECK-NOT: call void @heddle_begin_block
Task Account::later() { co_return; }
