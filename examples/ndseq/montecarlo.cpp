// The price of an option from random paths. A path's constructor writes what it was made with to static
// members that nobody uses: iterations interfere there all the time, and it does not matter.
#include <heddle/heddle.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "interleave.h"

constexpr int kPaths = 8;
constexpr int kSteps = 12;

class Path {
 public:
  explicit Path(int number) : state_(static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15 + 1) {
    last_number = number;
    if (number == 0) {
      interleave::end_turn();
      interleave::wait_for(2);
    }
    // What was read is written, and that is all.
    first_number = last_number;
  }

  double final_price() {
    double price = 100;
    for (int step = 0; step < kSteps; ++step) price *= std::exp(0.02 * normal() - 0.0002);
    return price;
  }

  static int last_number;
  static int first_number;

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<double>((state_ >> 11) + 1) * 0x1p-53;
  }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }

  uint64_t state_;
};
int Path::last_number;
int Path::first_number;

int main() {
  std::vector<double> prices(kPaths);
  heddle::parallel_for(0, kPaths, [&](int number) {
    if (number == 1) interleave::wait_for(1);
    Path path(number);
    prices[static_cast<std::size_t>(number)] = path.final_price();
    if (number == 1) interleave::end_turn();
  });
  heddle::focus(prices);
  double sum = 0;
  for (const double price : prices) sum += price;
  std::printf("the mean is %.1f\n", sum / kPaths);
  return sum > 90 * kPaths && sum < 110 * kPaths ? 0 : 1;
}
