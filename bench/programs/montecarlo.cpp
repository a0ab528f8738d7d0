// Prices an option by simulating paths of the share's price and averaging what the option would pay: an Asian
// call on the geometric mean of the prices, because its price is known in closed form. Paths are simulated in
// batches; each batch has sums of its own, which are added in order when the team has ended, because the sum
// of floating-point numbers depends on it.
//
// Size: batches of 50 paths; the work is proportional. Small: 50.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 2500, .small = 50};

constexpr std::size_t kPathsPerBatch = 50;
constexpr std::size_t kDates = 250;  // at which the price is looked at, for the mean

struct Market {
  double start_price = 100;
  double strike = 100;
  double interest = 0.04;
  double volatility = 0.25;
  double years = 1;

  double discount() const { return std::exp(-interest * years); }
};

// One possible development of the price, from normally distributed steps.
class PricePath {
 public:
  explicit PricePath(const Market& market) : market_(market), prices_(kDates) {}

  void simulate(kernel::Random& random) {
    const double step = market_.years / static_cast<double>(kDates);
    const double drift = (market_.interest - market_.volatility * market_.volatility / 2) * step;
    const double scale = market_.volatility * std::sqrt(step);
    double price = market_.start_price;
    for (std::size_t date = 0; date < kDates; date += 2) {
      // Box and Muller: two uniform numbers make two normal ones.
      const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
      const double angle = 2 * std::numbers::pi * random.uniform();
      price *= std::exp(drift + scale * radius * std::cos(angle));
      prices_[date] = price;
      price *= std::exp(drift + scale * radius * std::sin(angle));
      prices_[date + 1] = price;
    }
  }

  // What the option pays for this path, in today's money.
  double payoff() const {
    double sum = 0;
    for (const double price : prices_) sum += std::log(price);
    const double mean = std::exp(sum / static_cast<double>(prices_.size()));
    return mean > market_.strike ? market_.discount() * (mean - market_.strike) : 0;
  }

 private:
  Market market_;
  std::vector<double> prices_;  // an even number of them
};

static_assert(kDates % 2 == 0);

struct Sums {
  std::size_t paths = 0;
  double payoff = 0;
  double payoff_squared = 0;

  void add(double value) {
    ++paths;
    payoff += value;
    payoff_squared += value * value;
  }
};

// What all batches found together.
class Estimate {
 public:
  explicit Estimate(const std::vector<Sums>& batches) {
    for (const Sums& batch : batches) {
      sums_.paths += batch.paths;
      sums_.payoff += batch.payoff;
      sums_.payoff_squared += batch.payoff_squared;
    }
  }

  std::size_t paths() const { return sums_.paths; }
  double price() const { return sums_.payoff / static_cast<double>(sums_.paths); }
  double standard_error() const {
    const double paths = static_cast<double>(sums_.paths);
    const double mean = sums_.payoff / paths;
    return std::sqrt((sums_.payoff_squared / paths - mean * mean) / paths);
  }

 private:
  Sums sums_;
};

Sums simulate_batch(const Market& market, std::size_t number) {
  // Seeded by the batch, so that the paths do not depend on who simulates them.
  kernel::Random random(number);
  PricePath path(market);
  Sums sums;
  for (std::size_t i = 0; i < kPathsPerBatch; ++i) {
    path.simulate(random);
    sums.add(path.payoff());
  }
  return sums;
}

double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

// The logarithm of the mean is normally distributed, so this is the formula of Black and Scholes with its
// moments.
double exact_price(const Market& market) {
  const double dates = static_cast<double>(kDates);
  const double mean =
      std::log(market.start_price) + (market.interest - market.volatility * market.volatility / 2) *
                                         market.years * (dates + 1) / (2 * dates);
  const double deviation =
      market.volatility * std::sqrt(market.years * (dates + 1) * (2 * dates + 1) / (6 * dates * dates));
  const double exercise = (mean - std::log(market.strike)) / deviation;
  return market.discount() *
         (std::exp(mean + deviation * deviation / 2) * normal_distribution(exercise + deviation) -
          market.strike * normal_distribution(exercise));
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("montecarlo", argc, argv, kSizes);
  const Market market;
  std::vector<Sums> batches(program.size());
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(program.size(), program.threads(), thread);
    for (std::size_t batch = mine.begin; batch < mine.end; ++batch)
      batches[batch] = simulate_batch(market, batch);
  });
  const Estimate estimate(batches);

  program.check_equal("the number of paths", estimate.paths(), program.size() * kPathsPerBatch);
  program.check_close("the price", estimate.price(), exact_price(market), 4 * estimate.standard_error());
  std::printf("montecarlo: %zu paths, price %.4f +- %.4f, exactly %.4f\n", estimate.paths(), estimate.price(),
              estimate.standard_error(), exact_price(market));
  return 0;
}
