// Two tills sell at the same time, and no sale is lost.
#include <cstdio>
#include <latch>
#include <thread>

#include "stock.h"

int main() {
  constexpr int kPieces = 200'000;
  constexpr int kSales = 50'000;
  Stock stock(kPieces);
  std::latch open(2);
  const auto serve = [&] {
    open.arrive_and_wait();
    for (int i = 0; i < kSales; ++i) stock.sell();
  };
  std::thread till(serve);
  serve();
  till.join();
  std::printf("%d left, expected %d\n", stock.left(), kPieces - 2 * kSales);
  return stock.left() == kPieces - 2 * kSales ? 0 : 1;
}
