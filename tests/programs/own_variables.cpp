// thread_local variables in parallel loops: the sequential version has one of each. The first argument names
// the case.
#include <heddle/heddle.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kIterations = 8;
constexpr unsigned kBytes = 64;
long results[kIterations];

thread_local long counter = 0;
thread_local long scratch[16];
thread_local char text[kBytes];
thread_local std::vector<long> list;
thread_local long constant = 3;

template <class Body>
void for_each_iteration(Body body) {
  heddle::parallel_for(0, kIterations, body);
  heddle::focus(results);
}

// Each finds what the one before on its thread has left.
void counted() {
  for_each_iteration([](int i) { results[i] = ++counter; });
}
void grown() {
  for_each_iteration([](int i) {
    list.push_back(i);
    results[i] = static_cast<long>(list.size());
  });
}
void summed() {
  for_each_iteration([](int i) {
    for (long& element : scratch) element += i;
    results[i] = scratch[3];
  });
}
// Only inner loops do.
void of_inner_loops() {
  for_each_iteration([](int i) {
    counter = i;
    heddle::parallel_for(0, 2, [&](int j) {
      if (j == 0) results[i] = counter;
    });
  });
}

// Each writes it first, or nobody does.
void set_first() {
  for_each_iteration([](int i) {
    counter = i;
    results[i] = ++counter;
  });
}
void filled_first() {
  for_each_iteration([](int i) {
    for (long& element : scratch) element = i;
    long sum = 0;
    for (const long element : scratch) sum += element;
    std::memset(text, i, sizeof(text));
    results[i] = sum + text[i];
  });
}
void never_written() {
  for_each_iteration([](int i) { results[i] = constant; });
}
// What an iteration has written is still its own when a loop inside it is over.
void set_around() {
  for_each_iteration([](int i) {
    scratch[0] = i;
    heddle::parallel_for(0, 2, [&](int j) {
      if (j == 0) scratch[1] = j;
    });
    results[i] = scratch[0];
  });
}

}  // namespace

int main(int, char** arguments) {
  const std::map<std::string, void (*)()> cases = {
      {"counted", counted},
      {"grown", grown},
      {"summed", summed},
      {"of_inner_loops", of_inner_loops},
      {"set_first", set_first},
      {"filled_first", filled_first},
      {"never_written", never_written},
      {"set_around", set_around},
  };
  cases.at(arguments[1])();
}
