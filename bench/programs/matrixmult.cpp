// The product of two square matrices by divide and conquer: the product's rows are split in two halves, each
// of which is computed by a thread of its own, which splits them again; the halves are joined before the
// whole is.
//
// Size: rows; the work grows with its third power. Small: 300.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "kernel.h"
#include "matrix.h"

namespace kernel::matrixmult {
namespace {

constexpr kernel::Sizes kSizes{.normal = 1400, .small = 300};

void multiply_rows(const Matrix& left, const Matrix& right, Matrix& product, kernel::Range rows) {
  for (std::size_t row = rows.begin; row < rows.end; ++row)
    for (std::size_t inner = 0; inner < left.side(); ++inner) {
      const double factor = left.at(row, inner);
      for (std::size_t column = 0; column < left.side(); ++column)
        product.at(row, column) += factor * right.at(inner, column);
    }
}

// In as many parts as there are threads to compute them; those that only wait come on top.
void multiply(const Matrix& left, const Matrix& right, Matrix& product, kernel::Range rows,
              std::size_t threads) {
  if (threads == 1) return multiply_rows(left, right, product, rows);
  const std::size_t upper_threads = threads / 2;
  const std::size_t middle = rows.begin + (rows.end - rows.begin) * upper_threads / threads;
  std::thread upper([&] { multiply(left, right, product, {rows.begin, middle}, upper_threads); });
  std::thread lower([&] { multiply(left, right, product, {middle, rows.end}, threads - upper_threads); });
  upper.join();
  lower.join();
}

// The largest difference between (left · right) · vector and left · (right · vector). Where the product is
// wrong, it is zero for next to no vector.
double error_of(const Matrix& left, const Matrix& right, const Matrix& product, uint64_t seed) {
  kernel::Random random(seed);
  std::vector<double> vector(left.side());
  for (double& element : vector) element = random.uniform();
  const std::vector<double> expected = left.times(right.times(vector));
  const std::vector<double> actual = product.times(vector);
  double worst = 0;
  for (std::size_t row = 0; row < left.side(); ++row)
    worst = std::max(worst, std::abs(actual[row] - expected[row]));
  return worst;
}

}  // namespace

std::string run(const kernel::Program& program) {
  const std::size_t side = program.size();
  const Matrix left = Matrix::random(side, 1);
  const Matrix right = Matrix::random(side, 2);
  Matrix product(side);
  multiply(left, right, product, {0, side}, program.threads());

  double worst = 0;
  for (uint64_t seed = 3; seed < 6; ++seed) worst = std::max(worst, error_of(left, right, product, seed));
  program.check_close("the largest error of a row", worst, 0.0, 1e-9);
  return kernel::format("%zu x %zu, largest error %.3g", side, side, worst);
}

}  // namespace kernel::matrixmult

KERNEL_MAIN(matrixmult, kernel::Bug::kNone);
