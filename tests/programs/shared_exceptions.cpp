// Threads that share one exception: whoever drops the last reference destroys it, after what the others did
// while they had one.
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "twins.h"

using schedule::at;

namespace {

struct Failed {
  int code = 3;
  std::string text = "a text that is long enough to have memory of its own";
};

void read(const Failed& failed) {
  if (failed.code != 3 || failed.text[0] != 'a') std::abort();
}

// The first of two threads drops its reference, does something `afterwards`, and the other one drops the
// last.
template <class Afterwards>
void drop_one_after_the_other(Afterwards afterwards) {
  std::exception_ptr first = std::make_exception_ptr(Failed());
  std::exception_ptr second = first;
  std::thread a([&, mine = std::move(first)]() mutable {
    const Failed* place = nullptr;
    at(0, [&] {
      try {
        std::rethrow_exception(mine);
      } catch (const Failed& failed) {
        read(failed);
        place = &failed;
      }
      mine = nullptr;
    });
    at(1, [&] { afterwards(*place); });
  });
  std::thread b([mine = std::move(second)]() mutable {
    at(2, [&] {
      try {
        std::rethrow_exception(mine);
      } catch (const Failed& failed) {
        read(failed);
      }
      mine = nullptr;  // the last
    });
  });
  a.join(), b.join();
}

void read_and_dropped() {
  drop_one_after_the_other([](const Failed&) {});
}
void read_after_it_was_dropped() { drop_one_after_the_other(read); }

// Both have caught it.
void changed() {
  std::exception_ptr shared = std::make_exception_ptr(Failed());
  const auto catch_it = [&](int turn, auto use) {
    return std::thread([shared, turn, use] {
      try {
        schedule::wait_for(turn);
        std::rethrow_exception(shared);
      } catch (Failed& failed) {
        schedule::end_turn();
        at(turn + 2, [&] { use(failed); });
        schedule::wait_for(4);
      }
    });
  };
  std::thread a = catch_it(0, [](Failed& failed) { failed.code = 3; });  // here: change
  std::thread b = catch_it(1, [](Failed& failed) { read(failed); });
  a.join(), b.join();
}

// The first has the exception because it caught it, and goes on reading when it has given it away.
void caught_and_given_away() {
  std::exception_ptr given;
  std::mutex mutex;  // guards given
  std::thread a([&] {
    try {
      throw Failed();
    } catch (const Failed& failed) {
      at(0, [&] {
        const std::lock_guard lock(mutex);
        given = std::current_exception();
      });
      schedule::wait_for(2);
      read(failed);
    }
    schedule::end_turn();
  });
  std::thread b([&] {
    std::exception_ptr mine;
    at(1, [&] {
      const std::lock_guard lock(mutex);
      mine = std::exchange(given, nullptr);
    });
    at(3, [&] { mine = nullptr; });  // the last
  });
  a.join(), b.join();
}

}  // namespace

int main(int count, char** arguments) {
  return twins::run({{"read_and_dropped", read_and_dropped},
                     {"caught_and_given_away", caught_and_given_away},
                     {"read_after_it_was_dropped", read_after_it_was_dropped},
                     {"changed", changed}},
                    count, arguments);
}
