// A system of linear equations by LU factorization with partial pivoting. In each step one thread looks for
// the pivot and swaps its row up, then all eliminate below it; rows are dealt out in turn, so that the
// shrinking work stays even. Barriers separate the two halves of a step.
//
// Size: equations; the work grows with its third power. Small: 400.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"
#include "matrix.h"

namespace kernel::lufact {
namespace {

constexpr kernel::Sizes kSizes{.normal = 1500, .small = 400};

void swap_rows(Matrix& matrix, std::size_t one, std::size_t other) {
  for (std::size_t column = 0; column < matrix.side(); ++column)
    std::swap(matrix.at(one, column), matrix.at(other, column));
}

// Becomes L (below the diagonal, its own being 1) and U of the matrix with its rows exchanged.
class Factorization {
 public:
  Factorization(const Matrix& matrix, std::size_t threads)
      : lu_(matrix),
        pivots_(matrix.side()),
        threads_(threads),
        barrier_(static_cast<std::ptrdiff_t>(threads)) {}

  // What each thread of the team calls, once.
  void factorize(std::size_t thread) {
    for (std::size_t step = 0; step < lu_.side(); ++step) {
      if (thread == 0) choose_pivot(step);
      barrier_.arrive_and_wait();
      for (std::size_t row = step + 1; row < lu_.side(); ++row)
        if (row % threads_ == thread) eliminate(step, row);
      barrier_.arrive_and_wait();
    }
  }

  // Once the team has ended.
  std::vector<double> solve(std::vector<double> right) const {
    const std::size_t side = lu_.side();
    for (std::size_t row = 0; row < side; ++row) std::swap(right[row], right[pivots_[row]]);
    for (std::size_t row = 0; row < side; ++row)
      for (std::size_t column = 0; column < row; ++column) right[row] -= lu_.at(row, column) * right[column];
    for (std::size_t row = side; row-- > 0;) {
      for (std::size_t column = row + 1; column < side; ++column)
        right[row] -= lu_.at(row, column) * right[column];
      right[row] /= lu_.at(row, row);
    }
    return right;
  }

 private:
  void choose_pivot(std::size_t step) {
    std::size_t best = step;
    for (std::size_t row = step + 1; row < lu_.side(); ++row)
      if (std::abs(lu_.at(row, step)) > std::abs(lu_.at(best, step))) best = row;
    pivots_[step] = best;
    if (best != step) swap_rows(lu_, best, step);
  }

  void eliminate(std::size_t step, std::size_t row) {
    const double factor = lu_.at(row, step) / lu_.at(step, step);
    lu_.at(row, step) = factor;
    for (std::size_t column = step + 1; column < lu_.side(); ++column)
      lu_.at(row, column) -= factor * lu_.at(step, column);
  }

  Matrix lu_;
  std::vector<std::size_t> pivots_;  // the row that step i exchanged with row i
  std::size_t threads_;
  std::barrier<> barrier_;
};

}  // namespace

std::string run(const kernel::Program& program) {
  const std::size_t side = program.size();
  const Matrix matrix = Matrix::random(side, 1);
  // The right-hand side whose solution is all ones.
  const std::vector<double> right = matrix.times(std::vector<double>(side, 1.0));

  Factorization factorization(matrix, program.threads());
  kernel::run_team(program.threads(), [&](std::size_t thread) { factorization.factorize(thread); });

  const std::vector<double> solution = factorization.solve(right);
  const std::vector<double> product = matrix.times(solution);
  double worst = 0;
  for (std::size_t row = 0; row < side; ++row) {
    const double residual = product[row] - right[row];
    program.check_close("a residual", residual, 0.0, 1e-9);
    program.check_close("an unknown", solution[row], 1.0, 1e-6);
    worst = std::max(worst, std::abs(residual));
  }
  return kernel::format("%zu equations, largest residual %.3g", side, worst);
}

}  // namespace kernel::lufact

KERNEL_MAIN(lufact, kernel::Bug::kNone);
