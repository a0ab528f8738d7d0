// A square matrix of real numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.h"

namespace kernel {

class Matrix {
 public:
  explicit Matrix(std::size_t side) : side_(side), cells_(side * side) {}

  std::size_t side() const { return side_; }
  double& at(std::size_t row, std::size_t column) { return cells_[row * side_ + column]; }
  double at(std::size_t row, std::size_t column) const { return cells_[row * side_ + column]; }

  // From -0.5 up to 0.5.
  static Matrix random(std::size_t side, uint64_t seed) {
    Matrix matrix(side);
    Random random(seed);
    for (double& cell : matrix.cells_) cell = random.uniform() - 0.5;
    return matrix;
  }

  std::vector<double> times(const std::vector<double>& vector) const {
    std::vector<double> product(side_);
    for (std::size_t row = 0; row < side_; ++row)
      for (std::size_t column = 0; column < side_; ++column) product[row] += at(row, column) * vector[column];
    return product;
  }

 private:
  std::size_t side_;
  std::vector<double> cells_;
};

}  // namespace kernel
