// The Mandelbrot set, row by row: iterations that share nothing.
#include <heddle/heddle.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int kSide = 24;

int escape_time(double x, double y) {
  double real = 0;
  double imaginary = 0;
  int time = 0;
  while (time < 100 && real * real + imaginary * imaginary < 4) {
    const double next = real * real - imaginary * imaginary + x;
    imaginary = 2 * real * imaginary + y;
    real = next;
    ++time;
  }
  return time;
}

}  // namespace

int main() {
  std::vector<std::vector<int>> times(kSide, std::vector<int>(kSide));
  heddle::parallel_for(times, [&](std::vector<int>& row) {
    const auto y = static_cast<double>(&row - times.data());
    for (int column = 0; column < kSide; ++column)
      row[static_cast<std::size_t>(column)] = escape_time(3.0 * column / kSide - 2.2, 2.4 * y / kSide - 1.2);
  });
  heddle::focus(times);
  int inside = 0;
  for (const std::vector<int>& row : times)
    for (const int time : row) inside += time == 100 ? 1 : 0;
  std::printf("%d of %d points are inside\n", inside, kSide * kSide);
  const double area = 3.0 * 2.4 * inside / (kSide * kSide);  // should be 1.51, for very many points
  return area > 1.4 && area < 1.65 ? 0 : 1;
}
