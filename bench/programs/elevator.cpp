// Elevators that serve calls on the floors of a house: a shared board of calls with one mutex, elevators that
// are a thread's own. Small critical sections, little data: after the elevator of S4's Table 1.
//
// Size: passengers, all elevators together. Small: a fiftieth.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 200'000, .small = 4'000};
constexpr int kFloors = 1500;

// Where passengers wait and where they want to go.
class Board {
 public:
  explicit Board(std::size_t passengers) : left_(passengers), random_(7) {}

  // Somebody to carry; false: all have been carried.
  bool next_call(int& from, int& to) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (left_ == 0) return false;
    --left_;
    draw(from, to);
    return true;
  }

  void arrived(int floors) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++carried_;
    travelled_ += floors;
  }

  std::size_t carried() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return carried_;
  }
  long travelled() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return travelled_;
  }

 private:
  // The caller holds mutex_.
  void draw(int& from, int& to) {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    from = static_cast<int>((random_ >> 33) % kFloors);
    to = static_cast<int>((random_ >> 43) % kFloors);
  }

  std::mutex mutex_;
  std::size_t left_;
  uint64_t random_;
  std::size_t carried_ = 0;
  long travelled_ = 0;
};

// One thread's elevator.
class Elevator {
 public:
  void carry(int from, int to) {
    move_to(from);
    doors_ += 2;
    move_to(to);
    doors_ += 2;
  }
  int travelled() const { return travelled_; }
  void forget() { travelled_ = 0; }
  long doors() const { return doors_; }

 private:
  void move_to(int floor) {
    while (floor_ != floor) {
      floor_ += floor_ < floor ? 1 : -1;
      ++travelled_;
      wear_ = wear_ * 3 + floor_;
    }
  }

  int floor_ = 0;
  int travelled_ = 0;
  long doors_ = 0;
  unsigned wear_ = 0;
};

// The floors between where passengers wait and where they go; elevators that come from elsewhere travel more.
long least_travelled(std::size_t passengers) {
  Board board(passengers);
  long floors = 0;
  int from = 0;
  int to = 0;
  while (board.next_call(from, to)) floors += from < to ? to - from : from - to;
  return floors;
}

void serve(Board& board, Elevator& elevator) {
  int from = 0;
  int to = 0;
  while (board.next_call(from, to)) {
    elevator.forget();
    elevator.carry(from, to);
    board.arrived(elevator.travelled());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("elevator", argc, argv, kSizes);
  Board board(program.size());
  kernel::run_team(program.threads(), [&](std::size_t) {
    Elevator elevator;
    serve(board, elevator);
  });
  program.check_equal("the number of passengers carried", board.carried(), program.size());
  const long least = least_travelled(program.size());
  const long most = least + static_cast<long>(program.size()) * kFloors;
  program.check(least <= board.travelled() && board.travelled() <= most,
                "the elevators travelled " + std::to_string(board.travelled()) + " floors, should be from " +
                    std::to_string(least) + " to " + std::to_string(most));
  std::printf("elevator: %zu passengers, %ld floors\n", program.size(), board.travelled());
  return 0;
}
