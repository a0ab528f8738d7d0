// Iterations that no sequential run equals, and their correct twins. The other one's turn comes between the
// look and the act.
#include <heddle/heddle.h>

#include <atomic>
#include <barrier>
#include <cstdarg>
#include <list>
#include <map>
#include <mutex>
#include <string_view>

#include "interleave.h"

namespace {

std::mutex mutex;
std::map<int, int> owners = {{1, 1}, {5, 5}};
std::list<int> queue;
union {
  long whole = 0;
  int halves[2];
} memory;
std::barrier meeting(2);
int seen[2];
int sums[2];

void look_and_act(int i, bool (*look)(), void (*act)(int i)) {
  if (i == 1) interleave::wait_for(1);
  bool is_there = false;
  {
    const std::lock_guard<std::mutex> locked(mutex);
    is_there = look();
  }
  if (i == 0) {
    interleave::end_turn();
    interleave::wait_for(2);
  }
  {
    const std::lock_guard<std::mutex> locked(mutex);
    if (!is_there) act(i);
  }
  if (i == 1) interleave::end_turn();
}

bool has_owner() { return owners.count(3) > 0; }  // line: look
void set_owner(int i) { owners.emplace(3, i); }   // line: act

bool is_queued() { return queue.begin() != queue.end(); }
void add_to_queue(int i) { queue.push_back(i); }

// What was done to the whole counts against its halves.
bool is_set() { return memory.whole != 0; }
void set_half(int i) { memory.halves[i] = 1; }

// Of several loads in a row, the last one counts.
std::atomic<int> stock{0};
int times = 3;
bool is_in_stock() {
  int found = 0;
  for (int left = times; left > 0; --left) found = stock.load(std::memory_order_relaxed);
  return found != 0;
}
void stock_up(int i) { stock = i + 1; }

// A value may go through arguments that no callee has a name for.
int total = 0;
[[gnu::noinline]] int first_of(int count, ...) {
  std::va_list arguments;
  va_start(arguments, count);
  const int first = va_arg(arguments, int);
  va_end(arguments);
  return first;
}
void in_arguments(int i) {
  if (i == 1) interleave::wait_for(1);
  int before = 0;
  {
    const std::lock_guard<std::mutex> locked(mutex);
    before = total;
  }
  if (i == 0) {
    interleave::end_turn();
    interleave::wait_for(2);
  }
  {
    const std::lock_guard<std::mutex> locked(mutex);
    total = first_of(1, before) + 1;
  }
  if (i == 1) interleave::end_turn();
}

void in_map(int i) { look_and_act(i, has_owner, set_owner); }
void in_list(int i) { look_and_act(i, is_queued, add_to_queue); }
void loaded(int i) { look_and_act(i, is_in_stock, stock_up); }
void in_halves(int i) { look_and_act(i, is_set, set_half); }
void together(int i) {
  const std::lock_guard<std::mutex> locked(mutex);
  if (!has_owner()) set_owner(i);
  if (!is_queued()) add_to_queue(i);
  if (!is_set()) set_half(i);
}
// A sum that is used where it may be left out, and then elsewhere, needs nothing of what may be left out.
// What that has counted does, and then it matters that the other iteration came in between.
int visits = 0;
volatile int copies[2];
bool has_visits() { return visits > 0; }
void visit(int i) { visits = i + 1; }
int sum_with_body(int i, bool is_count_wanted) {
  const int sum = total + memory.halves[0];
  int count = 0;
  if (HEDDLE_MAYBE) {
    copies[i] = sum;
    look_and_act(i, has_visits, visit);
    count = 1;
  }
  return is_count_wanted ? count : sum;
}
void left_out(int i) { seen[i] = sum_with_body(i, false); }
void kept(int i) { seen[i] = sum_with_body(i, true); }

// What a loop has written is not what was read before it: that depends on the first look.
long cells[8];
int rounds = 8;
[[gnu::noinline]] long cell(int number) { return cells[number]; }
void rewritten(int i) {
  if (i == 1) interleave::wait_for(1);
  long before = 0;
  {
    const std::lock_guard<std::mutex> locked(mutex);
    before = total;
    total += i;
  }
  interleave::end_turn();
  if (i == 1) return;
  interleave::wait_for(2);
  const std::lock_guard<std::mutex> locked(mutex);
  seen[1] = total;
  cells[3] = 1;
  const long first = cell(3);
  for (int j = 0; j < rounds; ++j)
    if (cells[j] < 100) cells[j * 5 % 8] = before;
  seen[0] = static_cast<int>(first + cell(3));
}

// One after the other, in two threads, but nothing says so: a race. Who only counts does no harm.
template <class Act>
void in_turn(int i, Act act) {
  if (i == 1) interleave::wait_for(1);
  act();
  interleave::end_turn();
  if (i == 0) interleave::wait_for(2);
}
void race(int i) {
  in_turn(i, [i] { total += i; });  // line: race
}
void harmless_race(int i) {
  in_turn(i, [] { ++visits; });
  const std::lock_guard<std::mutex> locked(mutex);
  total += i;
}
void meet(int i) {
  seen[i] = i;
  meeting.arrive_and_wait();  // line: meet
  sums[i] = seen[0] + seen[1];
}

}  // namespace

int main(int, char** arguments) {
  const std::map<std::string_view, void (*)(int)> cases = {
      {"map", in_map},        {"list", in_list}, {"halves", in_halves}, {"arguments", in_arguments},
      {"together", together}, {"meet", meet},    {"race", race},        {"harmless_race", harmless_race},
      {"left_out", left_out}, {"kept", kept},    {"loaded", loaded},    {"rewritten", rewritten}};
  heddle::parallel_for(0, 2, cases.at(arguments[1]));
  heddle::focus(owners);
  heddle::focus(queue);
  heddle::focus(stock);
  heddle::focus(memory);
  heddle::focus(total);
  heddle::focus(seen);
  heddle::focus(sums);
}
