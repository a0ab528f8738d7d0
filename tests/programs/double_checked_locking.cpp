// Something made when it is first needed, by whoever comes first: the pointer is looked at once without the
// lock. That needs a pointer whose store releases and whose load acquires.
#include <atomic>
#include <mutex>

#include "twins.h"

namespace {

struct Settings {
  int size = 7;  // here: make
};

std::mutex mutex;

Settings* plain = nullptr;
Settings& settings_by_plain_pointer() {
  if (plain == nullptr) {  // here: plain_check
    const std::lock_guard<std::mutex> locked(mutex);
    if (plain == nullptr) plain = new Settings;  // here: plain_store
  }
  return *plain;
}

std::atomic<Settings*> shared{nullptr};
template <std::memory_order kLoad, std::memory_order kStore>
Settings& settings() {
  Settings* made = shared.load(kLoad);
  if (made == nullptr) {
    const std::lock_guard<std::mutex> locked(mutex);
    made = shared.load(std::memory_order_relaxed);
    if (made == nullptr) {
      made = new Settings;
      shared.store(made, kStore);
    }
  }
  return *made;
}

template <class Get>
void two_users(Get get) {
  const auto use = [=] {
    if (get().size != 7) std::puts("not yet made");  // here: use
  };
  std::thread a([=] { schedule::at(0, use); });
  std::thread b([=] { schedule::at(1, use); });
  a.join();
  b.join();
}

const twins::Cases kCases = {
    {"plain", [] { two_users(settings_by_plain_pointer); }},
    {"relaxed", [] { two_users(settings<std::memory_order_relaxed, std::memory_order_relaxed>); }},
    {"released", [] { two_users(settings<std::memory_order_acquire, std::memory_order_release>); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
