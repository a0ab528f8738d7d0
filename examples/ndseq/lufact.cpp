// LU factorization with partial pivoting: one step after the other, and in each the rows below the pivot at
// the same time. They read the pivot's row, which was written before their loop.
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace {

constexpr int kSide = 12;
using Row = std::array<double, kSide + 1>;  // the last column is the right-hand side
std::array<Row, kSide> matrix;

// The unknowns are 1, 2, 3 …
void make_equations() {
  uint32_t random = 1;
  for (int row = 0; row < kSide; ++row)
    for (int column = 0; column < kSide; ++column) {
      random = random * 1664525 + 1013904223;
      const double cell = static_cast<double>(random >> 24) - 128;
      matrix[row][column] = cell;
      matrix[row][kSide] += cell * (column + 1);
    }
}

void eliminate(const Row& pivot, Row& row, int step) {
  const double factor = row[step] / pivot[step];
  row[step] = factor;
  for (int column = step + 1; column <= kSide; ++column) row[column] -= factor * pivot[column];
}

}  // namespace

int main() {
  make_equations();
  for (int step = 0; step < kSide; ++step) {
    int best = step;
    for (int row = step + 1; row < kSide; ++row)
      if (std::abs(matrix[row][step]) > std::abs(matrix[best][step])) best = row;
    std::swap(matrix[best], matrix[step]);
    heddle::parallel_for(step + 1, kSide, [&](int row) { eliminate(matrix[step], matrix[row], step); });
  }
  heddle::focus(matrix);

  std::array<double, kSide> unknowns{};
  double error = 0;
  for (int row = kSide - 1; row >= 0; --row) {
    unknowns[row] = matrix[row][kSide];
    for (int column = row + 1; column < kSide; ++column)
      unknowns[row] -= matrix[row][column] * unknowns[column];
    unknowns[row] /= matrix[row][row];
    error = std::max(error, std::abs(unknowns[row] - (row + 1)));
  }
  std::printf("the largest error is %.2g\n", error);
  return error < 1e-9 ? 0 : 1;
}
