// Two tills sell what is there.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "stock.h"

int main(int argc, char** argv) {
  Stock stock(argc > 1 ? std::atoi(argv[1]) : 200000);
  const auto serve = [&stock] {
    while (stock.sell()) {
    }
  };
  std::thread till(serve);
  serve();
  till.join();
  std::printf("%d left\n", stock.left());
}
