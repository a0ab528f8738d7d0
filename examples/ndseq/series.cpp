// The first Fourier coefficients of e^x on [0, 2], each one an integral by Simpson's rule: iterations that
// share nothing.
#include <heddle/heddle.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kPairs = 12;
constexpr int kIntervals = 200;
constexpr double kPi = 3.14159265358979;

struct Pair {
  double cosine = 0;
  double sine = 0;
};

Pair integrate(int k) {
  const double step = 2.0 / kIntervals;
  Pair sum;
  for (int i = 0; i <= kIntervals; ++i) {
    const double weight = i == 0 || i == kIntervals ? 1 : i % 2 == 1 ? 4 : 2;
    const double value = weight * std::exp(step * i) * step / 3;
    sum.cosine += value * std::cos(kPi * k * step * i);
    sum.sine += value * std::sin(kPi * k * step * i);
  }
  return sum;
}

}  // namespace

int main() {
  std::vector<Pair> series(kPairs);
  heddle::parallel_for(0, kPairs, [&](int k) { series[static_cast<std::size_t>(k)] = integrate(k); });
  heddle::focus(series);
  double error = 0;
  for (int k = 0; k < kPairs; ++k) {
    const double cosine = (std::exp(2.0) - 1) / (1 + kPi * kPi * k * k);  // in closed form
    const Pair& pair = series[static_cast<std::size_t>(k)];
    error = std::max({error, std::abs(pair.cosine - cosine), std::abs(pair.sine + kPi * k * cosine)});
  }
  std::printf("the largest error is %.2g\n", error);
  return error < 1e-4 ? 0 : 1;
}
