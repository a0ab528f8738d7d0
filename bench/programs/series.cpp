// The Fourier coefficients of e^x on [0, 2], each one an integral computed by Simpson's rule. Nearly all of
// the work is arithmetic on locals; the only shared writes are the results.
//
// Size: pairs of coefficients; the work grows with its square. Small: 150.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "kernel.h"

namespace kernel::series {
namespace {

constexpr kernel::Sizes kSizes{.normal = 1050, .small = 150};

constexpr double kPeriod = 2.0;
// Of the fastest oscillation one period is resolved by this many intervals, which decides the accuracy.
constexpr std::size_t kIntervalsPerPeriod = 32;

struct Coefficients {
  double cosine = 0;
  double sine = 0;
};

double signal(double x) { return std::exp(x); }

// The integrals of signal(x) cos(πkx) and signal(x) sin(πkx) over one period. `intervals` is even.
Coefficients integrate(std::size_t k, std::size_t intervals) {
  const double step = kPeriod / static_cast<double>(intervals);
  const double frequency = std::numbers::pi * static_cast<double>(k);
  Coefficients sum;
  for (std::size_t i = 0; i <= intervals; ++i) {
    const double x = step * static_cast<double>(i);
    const double weight = i == 0 || i == intervals ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0);
    const double value = weight * signal(x);
    sum.cosine += value * std::cos(frequency * x);
    sum.sine += value * std::sin(frequency * x);
  }
  return {.cosine = sum.cosine * step / 3, .sine = sum.sine * step / 3};
}

// The same integrals in closed form.
Coefficients exact(std::size_t k) {
  const double frequency = std::numbers::pi * static_cast<double>(k);
  const double cosine = (std::exp(kPeriod) - 1) / (1 + frequency * frequency);
  return {.cosine = cosine, .sine = -frequency * cosine};
}

}  // namespace

std::string run(const kernel::Program& program) {
  const std::size_t count = program.size();
  std::vector<Coefficients> series(count);

  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(count, program.threads(), thread);
    for (std::size_t k = mine.begin; k < mine.end; ++k) series[k] = integrate(k, count * kIntervalsPerPeriod);
  });

  double worst = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Coefficients expected = exact(k);
    // Simpson's error relative to the pair's magnitude is (step · frequency)^4 / 180, so below 1e-5.
    const double tolerance = 1e-5 * std::hypot(expected.cosine, expected.sine);
    program.check_close("a cosine coefficient", series[k].cosine, expected.cosine, tolerance);
    program.check_close("a sine coefficient", series[k].sine, expected.sine, tolerance);
    worst = std::max(
        {worst, std::abs(series[k].cosine - expected.cosine), std::abs(series[k].sine - expected.sine)});
  }
  return kernel::format("%zu pairs of coefficients, largest error %.3g", count, worst);
}

}  // namespace kernel::series

KERNEL_MAIN(series, kernel::Bug::kNone);
