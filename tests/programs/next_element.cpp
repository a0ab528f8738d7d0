// A loop that uses the element after the present one, and asks for it whether it is the last. Where the
// optimizer has made two loops of it, one of them for vectors, it hands the place of that element on from one
// round of the other to the next. The first argument says which of the elements another thread writes at the
// same time: the first, second or last that the loop only reads, or the ones before and after all that it
// uses; the second one how many rounds there are.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "schedule.h"

alignas(64) double elements[1200];

[[gnu::noinline]] void add_next(double* to, const double* from, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i + 1 < count; i += 2) to[i] += 0.5 * (from[i + 1] - to[i]);
}

int main(int argc, char** argv) {
  const char* const which = argc > 1 ? argv[1] : "";
  const std::size_t rounds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 300;
  constexpr std::size_t kFirst = 3;
  const std::size_t end = kFirst + 2 * rounds;
  std::size_t written = kFirst - 1;
  if (std::strcmp(which, "first") == 0) written = kFirst + 1;
  if (std::strcmp(which, "second") == 0) written = kFirst + 3;
  if (std::strcmp(which, "last") == 0) written = end - 1;
  if (std::strcmp(which, "after") == 0) written = end;
  std::thread user([&] { schedule::at(0, [&] { add_next(elements, elements, kFirst, end); }); });
  std::thread other([&] { schedule::at(1, [&] { *const_cast<volatile double*>(elements + written) = 1; }); });
  user.join();
  other.join();
}
