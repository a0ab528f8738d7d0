// Repeated products of a sparse matrix (compressed rows) and a vector. The matrix moves shares along the
// edges of a random graph: its columns add up to 1, so that the products converge to the vector that it
// leaves unchanged. Each thread computes a band of rows; a barrier separates the products.
//
// Size: rows; the work is proportional. Small: 2400.
#include <array>
#include <barrier>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kernel.h"

namespace kernel::sparse {
namespace {

constexpr kernel::Sizes kSizes{.normal = 120'000, .small = 2'400};

constexpr std::size_t kProducts = 500;
constexpr std::size_t kEntriesPerRow = 10;

class SparseMatrix {
 public:
  explicit SparseMatrix(std::size_t rows) {
    kernel::Random random(1);
    row_begin_.push_back(0);
    for (std::size_t row = 0; row < rows; ++row) {
      // The ring (each row takes from itself and from the next) connects all rows, so that there is one limit
      // only.
      columns_.push_back(row);
      columns_.push_back((row + 1) % rows);
      for (std::size_t entry = 2; entry < kEntriesPerRow; ++entry) columns_.push_back(random.below(rows));
      row_begin_.push_back(columns_.size());
    }
    for (std::size_t entry = 0; entry < columns_.size(); ++entry) values_.push_back(0.5 + random.uniform());
    scale_columns(rows);
  }

  std::size_t rows() const { return row_begin_.size() - 1; }

  // The given rows of out = this · in.
  void multiply(kernel::Range rows, const std::vector<double>& in, std::vector<double>& out) const {
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      double sum = 0;
      for (std::size_t entry = row_begin_[row]; entry < row_begin_[row + 1]; ++entry)
        sum += values_[entry] * in[columns_[entry]];
      out[row] = sum;
    }
  }

 private:
  void scale_columns(std::size_t count) {
    std::vector<double> sums(count, 0.0);
    for (std::size_t entry = 0; entry < columns_.size(); ++entry) sums[columns_[entry]] += values_[entry];
    for (std::size_t entry = 0; entry < columns_.size(); ++entry) values_[entry] /= sums[columns_[entry]];
  }

  std::vector<std::size_t> row_begin_;  // where a row's entries begin; one more than there are rows
  std::vector<std::size_t> columns_;    // of each entry
  std::vector<double> values_;          // of each entry
};

}  // namespace

std::string run(const kernel::Program& program) {
  const SparseMatrix matrix(program.size());
  const std::size_t rows = matrix.rows();

  // Product i reads vectors[i % 2] and writes the other one.
  std::array<std::vector<double>, 2> vectors = {std::vector<double>(rows, 0.0),
                                                std::vector<double>(rows, 0.0)};
  vectors[0][0] = 1.0;
  std::barrier barrier(static_cast<std::ptrdiff_t>(program.threads()));
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(rows, program.threads(), thread);
    for (std::size_t product = 0; product < kProducts; ++product) {
      matrix.multiply(mine, vectors[product % 2], vectors[(product + 1) % 2]);
      barrier.arrive_and_wait();
    }
  });

  // A fixed point whose elements add up to 1: there is no other.
  const std::vector<double>& limit = vectors[kProducts % 2];
  std::vector<double> again(rows);
  matrix.multiply({0, rows}, limit, again);
  double change = 0;
  for (std::size_t row = 0; row < rows; ++row) change += std::abs(again[row] - limit[row]);
  const double sum = std::accumulate(limit.begin(), limit.end(), 0.0);
  program.check_close("the sum of the vector", sum, 1.0, 1e-10);
  program.check_close("what one more product changes", change, 0.0, 1e-10);
  return kernel::format("%zu rows, %zu products, one more changes %.3g", rows, kProducts, change);
}

}  // namespace kernel::sparse

KERNEL_MAIN(sparse, kernel::Bug::kNone);
