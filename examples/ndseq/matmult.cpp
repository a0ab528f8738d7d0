// The product of a sparse matrix and a vector: iterations that read the same vector, and write elements of
// their own.
#include <heddle/heddle.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int kRows = 32;
constexpr int kEntries = 5;  // in each row

struct Entry {
  int column;
  int value;
};
// Those of a row lie in different columns.
Entry entry(int row, int number) { return {(row * 7 + number * 6) % kRows, row - 3 * number + 1}; }

}  // namespace

int main() {
  std::vector<Entry> matrix;
  std::vector<long> vector;
  for (int row = 0; row < kRows; ++row) {
    vector.push_back(row * row - 40);
    for (int number = 0; number < kEntries; ++number) matrix.push_back(entry(row, number));
  }
  std::vector<long> product(kRows);
  heddle::parallel_for(0, kRows, [&](int row) {
    const auto here = static_cast<std::size_t>(row);
    for (std::size_t i = here * kEntries; i < (here + 1) * kEntries; ++i)
      product[here] += matrix[i].value * vector[static_cast<std::size_t>(matrix[i].column)];
  });
  heddle::focus(product);

  // The same, with all columns looked at.
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    long sum = 0;
    for (int column = 0; column < kRows; ++column)
      for (int number = 0; number < kEntries; ++number)
        if (entry(row, number).column == column) sum += entry(row, number).value * (column * column - 40L);
    wrong += sum != product[static_cast<std::size_t>(row)] ? 1 : 0;
  }
  std::printf("%d of %d rows are wrong\n", wrong, kRows);
  return wrong == 0 ? 0 : 1;
}
