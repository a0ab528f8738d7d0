// Laplace's equation on a square by red-black successive over-relaxation. Cells are coloured like a chess
// board: a red one is computed from its black neighbours and the other way round, so that all cells of one
// colour can be relaxed at the same time. Each thread has a band of rows; a barrier separates the colours.
//
// Size: interior cells along a side; the work grows with its third power. Small: 145.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "kernel.h"

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

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("sor", argc, argv, kSizes);
  const std::size_t interior = program.size();
  // With the best omega each sweep shrinks the error by 1 - 2π / size: four times `size` sweeps by e^-25.
  const double omega = 2 / (1 + std::sin(std::numbers::pi / static_cast<double>(interior + 1)));
  const std::size_t sweeps = 4 * interior;

  Grid grid(interior);
  std::barrier barrier(static_cast<std::ptrdiff_t>(program.threads()));
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(interior, program.threads(), thread);
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t colour = 0; colour < 2; ++colour) {
        for (std::size_t i = mine.begin; i < mine.end; ++i) grid.relax_row(i + 1, colour, omega);
        barrier.arrive_and_wait();
      }
    }
  });

  const double error = grid.largest_error();
  program.check_close("the largest error of a cell", error, 0.0, 1e-9);
  std::printf("sor: %zu x %zu cells, %zu sweeps, largest error %.3g\n", interior, interior, sweeps, error);
  return 0;
}
