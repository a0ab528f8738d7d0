// Accesses that lie where their type does not allow it, as x86 lets them: before there is a second thread,
// while there is one (in race, if asked for), and after it has ended.
#include <cstring>
#include <thread>

#include "schedule.h"

namespace {

alignas(64) char bytes[64];

template <class Value>
void use(std::size_t offset) {
  *reinterpret_cast<volatile Value*>(bytes + offset) = *reinterpret_cast<volatile Value*>(bytes + offset + 1);
}

void use_all() {
  for (std::size_t offset = 0; offset < 16; ++offset) {
    use<short>(offset);
    use<int>(offset);
    use<long>(offset);
    use<float>(offset);
    use<double>(offset);
  }
}

}  // namespace

int main(int count, char**) {
  const bool is_race = count > 1;
  use_all();
  std::thread other([=] { schedule::at(0, is_race ? [] { use<long>(3); } : use_all); });
  schedule::wait_for(1);
  if (is_race) use<int>(1);
  other.join();
  use_all();
}
