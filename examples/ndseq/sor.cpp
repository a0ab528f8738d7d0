// Laplace's equation on a square by red-black over-relaxation: where the program that this is after has a
// barrier, a parallel loop ends and the next begins. The rows of a loop write cells of one colour and read
// those of the other.
#include <heddle/heddle.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

constexpr int kInterior = 7;
constexpr int kSweeps = 30;
double grid[kInterior + 2][kInterior + 2];

// x² - y² solves the discrete equation exactly.
double solution(int row, int column) { return column * column - row * row; }

void relax_row(int row, int colour, double omega) {
  for (int column = 1 + (row + colour) % 2; column <= kInterior; column += 2) {
    const double around =
        grid[row - 1][column] + grid[row + 1][column] + grid[row][column - 1] + grid[row][column + 1];
    grid[row][column] += omega * (around / 4 - grid[row][column]);
  }
}

}  // namespace

int main() {
  for (int i = 0; i < kInterior + 2; ++i)
    for (const int edge : {0, kInterior + 1}) {
      grid[edge][i] = solution(edge, i);
      grid[i][edge] = solution(i, edge);
    }
  const double omega = 2 / (1 + std::sin(3.14159265358979 / (kInterior + 1)));
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (int colour = 0; colour < 2; ++colour)
      heddle::parallel_for(1, kInterior + 1, [&](int row) { relax_row(row, colour, omega); });
  heddle::focus(grid);
  double error = 0;
  for (int row = 0; row < kInterior + 2; ++row)
    for (int column = 0; column < kInterior + 2; ++column)
      error = std::max(error, std::abs(grid[row][column] - solution(row, column)));
  std::printf("the largest error is %.2g\n", error);
  return error < 1e-6 ? 0 : 1;
}
