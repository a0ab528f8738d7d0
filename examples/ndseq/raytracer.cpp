// An image of one sphere, and a checksum that all rows add to. `raytracer` holds a lock for that, but each
// row another one, so that sums get lost; `raytracer fixed` the same for all.
#include <heddle/heddle.h>

#include <cmath>
#include <cstdio>
#include <mutex>
#include <vector>

#include "interleave.h"

namespace {

constexpr int kSide = 16;
double image[kSide][kSide];
long checksum = 0;
bool is_fixed = false;
std::mutex common_mutex;

double trace(int row, int column) {
  const double x = 2.0 * column / kSide - 1;
  const double y = 2.0 * row / kSide - 1;
  const double square = 1 - x * x - y * y;
  return square <= 0 ? 0 : std::sqrt(square);
}

class Row {
 public:
  explicit Row(int row) : row_(row) {}

  void render() {
    long sum = 0;
    for (int column = 0; column < kSide; ++column) {
      image[row_][column] = trace(row_, column);
      sum += std::lround(image[row_][column] * 255);
    }
    const std::lock_guard<std::mutex> locked(is_fixed ? common_mutex : own_mutex_);
    const long before = checksum;
    if (!is_fixed && row_ == kSide / 2) {
      interleave::end_turn();
      interleave::wait_for(2);
    }
    checksum = before + sum;
  }

 private:
  int row_;
  std::mutex own_mutex_;
};

}  // namespace

int main(int count, char**) {
  is_fixed = count > 1;
  heddle::parallel_for(0, kSide, [](int row) {
    const bool comes_between = !is_fixed && row == kSide / 2 + 1;
    if (comes_between) interleave::wait_for(1);
    Row(row).render();
    if (comes_between) interleave::end_turn();
  });
  heddle::focus(image);
  heddle::focus(checksum);
  std::printf("checksum %ld\n", checksum);
}
