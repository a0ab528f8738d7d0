// An image of one sphere, and a checksum that all rows add to. `raytracer` holds the lock to read it and
// again to write it, but not between, so that sums get lost though no race detector says so; `raytracer
// fixed` holds it throughout.
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
std::mutex checksum_mutex;

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
    add_to_checksum(sum);
  }

 private:
  void add_to_checksum(long sum) const {
    std::unique_lock<std::mutex> lock(checksum_mutex);
    const long before = checksum;
    if (!is_fixed) {
      lock.unlock();
      if (row_ == kSide / 2) {
        interleave::end_turn();
        interleave::wait_for(2);
      }
      lock.lock();
    }
    checksum = before + sum;
  }

  int row_;
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
  long expected = 0;
  for (const auto& row : image)
    for (const double light : row) expected += std::lround(light * 255);
  std::printf("checksum %ld, should be %ld\n", checksum, expected);
  return is_fixed && checksum != expected ? 1 : 0;
}
