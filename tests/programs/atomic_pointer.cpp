// std::atomic<std::shared_ptr>: what it orders and what it does not.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include <heddle/heddle.h>

#include "twins.h"

namespace {

struct Config {
  explicit Config(int given) : version(given) {}
  ~Config() { version = -1; }
  int version;
};
std::atomic<std::shared_ptr<Config>> current;
int beside = 0;

void read_current() {
  const std::shared_ptr<Config> config = current.load();
  if (config != nullptr && config->version < 0) std::abort();  // here: read_version
}

void use_everything() {
  for (int i = 0; i < 200; ++i) {
    read_current();
    current.store(std::make_shared<Config>(i));
    std::shared_ptr<Config> expected = current.load(std::memory_order_acquire);
    current.compare_exchange_strong(expected, std::make_shared<Config>(i));
    current.compare_exchange_weak(expected, std::make_shared<Config>(i), std::memory_order_release,
                                  std::memory_order_relaxed);
    expected = current.exchange(std::make_shared<Config>(i));
  }
}

void replace_if_empty() {
  HEDDLE_ATOMIC("replace_if_empty");
  if (current.load() != nullptr) return;  // here: check
  twins::let_second_pass();
  current.store(std::make_shared<Config>(1));  // here: act
}

void exchange_if_empty() {
  HEDDLE_ATOMIC("exchange_if_empty");
  std::shared_ptr<Config> none;
  twins::let_second_pass();
  current.compare_exchange_strong(none, std::make_shared<Config>(1));
}

const twins::Cases kCases = {
    {"changed_after_it_was_published",
     [] {
       auto config = std::make_shared<Config>(1);
       twins::two(
           [&] {
             current.store(config);
             config->version = 2;  // here: late_write
             twins::let_second_pass();
           },
           read_current);
     }},
    // A load publishes nothing.
    {"load_orders_nothing",
     [] {
       twins::two(
           [] {
             beside = 1;  // here: beside
             current.load();
             twins::let_second_pass();
           },
           [] {
             current.store(std::make_shared<Config>(1));
             if (beside != 1) std::abort();  // here: read_beside
           });
     }},
    {"check_then_act",
     [] { twins::two(replace_if_empty, [] { current.store(std::make_shared<Config>(2)); }); }},

    {"published",
     [] {
       twins::two(
           [] {
             beside = 1;
             current.store(std::make_shared<Config>(1), std::memory_order_release);
             twins::let_second_pass();
           },
           [] {
             read_current();
             if (beside != 1) std::abort();
           });
     }},
    {"exchanged", [] { twins::two(exchange_if_empty, [] { current.store(std::make_shared<Config>(2)); }); }},
    {"everything",
     [] {
       std::vector<std::thread> threads;
       for (int i = 0; i < 3; ++i) threads.emplace_back(use_everything);
       for (std::thread& thread : threads) thread.join();
     }},
    {"waits",
     [] {
       std::thread waiting([] {
         current.wait(nullptr);
         read_current();
         if (beside != 1) std::abort();
       });
       beside = 1;
       current.store(std::make_shared<Config>(1));
       current.notify_all();
       waiting.join();
     }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
