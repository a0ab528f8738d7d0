// Laplace's equation on a square by red-black successive over-relaxation. Cells are coloured like a chess
// board: a red one is computed from its black neighbours and the other way round, so that all cells of one
// colour can be relaxed at the same time. Each thread has a band of rows; a barrier separates the colours.
//
// Broken, after S0's Table 1: the barrier is made by hand, of numbers that are volatile and not atomic. On
// x86-64 a load and a store of 64 bits are one step each and the result is right all the same; nothing
// promises it.
//
// Size: interior cells along a side; the work grows with its third power. Small: 145.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "kernel.h"

namespace kernel::sor {
namespace {

constexpr kernel::Sizes kSizes{.normal = 540, .small = 145};

// A square of cells whose outermost ring is the boundary.
class Grid {
 public:
  explicit Grid(std::size_t interior) : side_(interior + 2), cells_(side_ * side_, 0.0) {
    for (std::size_t i = 0; i < side_; ++i) {
      at(0, i) = solution(0, i);
      at(side_ - 1, i) = solution(side_ - 1, i);
      at(i, 0) = solution(i, 0);
      at(i, side_ - 1) = solution(i, side_ - 1);
    }
  }

  double& at(std::size_t row, std::size_t column) { return cells_[row * side_ + column]; }
  double at(std::size_t row, std::size_t column) const { return cells_[row * side_ + column]; }

  // x² - y² solves not only the equation but also its discrete form, exactly.
  double solution(std::size_t row, std::size_t column) const {
    const double scale = 1.0 / static_cast<double>(side_ - 1);
    const double x = scale * static_cast<double>(column);
    const double y = scale * static_cast<double>(row);
    return x * x - y * y;
  }

  // Relaxes the cells of one colour, 0 or 1, in an interior row.
  void relax_row(std::size_t row, std::size_t colour, double omega) {
    for (std::size_t column = 1 + (row + colour) % 2; column + 1 < side_; column += 2) {
      const double mean =
          0.25 * (at(row - 1, column) + at(row + 1, column) + at(row, column - 1) + at(row, column + 1));
      at(row, column) += omega * (mean - at(row, column));
    }
  }

  double largest_error() const {
    double worst = 0;
    for (std::size_t row = 0; row < side_; ++row)
      for (std::size_t column = 0; column < side_; ++column)
        worst = std::max(worst, std::abs(at(row, column) - solution(row, column)));
    return worst;
  }

 private:
  std::size_t side_;
  std::vector<double> cells_;
};

// Threads that have bands next to each other wait for each other, and for nobody else. A data race: volatile
// makes neither an operation atomic nor what was written before it visible.
class VolatileBarrier {
 public:
  explicit VolatileBarrier(std::size_t threads) : arrived_(threads) {}

  void arrive_and_wait(std::size_t thread) {
    const uint64_t phase = arrived_[thread].phases + 1;
    arrived_[thread].phases = phase;
    if (thread > 0) wait_for(thread - 1, phase);
    if (thread + 1 < arrived_.size()) wait_for(thread + 1, phase);
  }

 private:
  struct alignas(64) Arrivals {
    volatile uint64_t phases = 0;
  };

  void wait_for(std::size_t neighbour, uint64_t phase) const {
    while (arrived_[neighbour].phases < phase) std::this_thread::yield();
  }

  std::vector<Arrivals> arrived_;  // by thread
};

// Relaxes the cells of both colours in the interior rows of one thread, as often as is asked for.
template <typename Wait>
void sweep(Grid& grid, kernel::Range rows, std::size_t sweeps, double omega, Wait wait) {
  for (std::size_t i = 0; i < sweeps; ++i) {
    for (std::size_t colour = 0; colour < 2; ++colour) {
      for (std::size_t row = rows.begin; row < rows.end; ++row) grid.relax_row(row + 1, colour, omega);
      wait();
    }
  }
}

}  // namespace

std::string run(const kernel::Program& program) {
  const std::size_t interior = program.size();
  // With the best omega each sweep shrinks the error by 1 - 2π / size: four times `size` sweeps by e^-25.
  const double omega = 2 / (1 + std::sin(std::numbers::pi / static_cast<double>(interior + 1)));
  const std::size_t sweeps = 4 * interior;

  Grid grid(interior);
  std::barrier barrier(static_cast<std::ptrdiff_t>(program.threads()));
  VolatileBarrier no_barrier(program.threads());
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(interior, program.threads(), thread);
    if (program.is_broken())
      sweep(grid, mine, sweeps, omega, [&] { no_barrier.arrive_and_wait(thread); });
    else
      sweep(grid, mine, sweeps, omega, [&] { barrier.arrive_and_wait(); });
  });

  const double error = grid.largest_error();
  program.check_close("the largest error of a cell", error, 0.0, 1e-9);
  return kernel::format("%zu x %zu cells, %zu sweeps, largest error %.3g", interior, interior, sweeps, error);
}

}  // namespace kernel::sor

KERNEL_MAIN(sor, kernel::Bug::kKnown);
