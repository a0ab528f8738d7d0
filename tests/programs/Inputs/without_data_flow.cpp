// Compiled without Heddle: what it does to memory nobody tells.
#include "without_data_flow.h"

namespace {
long tickets = 0;
long* kept = nullptr;
thread_local long* kept_for_thread = nullptr;
}  // namespace
long of_library = 0;

long peek(const long* cell) noexcept { return *cell; }
void poke(long* cell, long value) noexcept { *cell = value; }
long next_ticket() noexcept { return tickets++; }
long top_of(const Shelf& shelf) noexcept { return shelf.boxes->front(); }
void put_on(Shelf& shelf, long value) noexcept { shelf.boxes->front() = value; }
long applied(long (*function)(long), long value) noexcept { return function(value); }
long twice(long value) noexcept { return 2 * value; }
long read_only(const long* cell) noexcept { return *cell; }

void poke_of_program(long value) noexcept { of_program = value; }
void poke_of_library(long value) noexcept { of_library = value; }
void keep(long* cell) noexcept { kept = cell; }
void poke_kept(long value) noexcept { *kept = value; }
long keep_for_thread(long* cell) noexcept {
  kept_for_thread = cell;
  return 0;
}
void poke_kept_for_thread(long value) noexcept { *kept_for_thread = value; }
long poke_after(void (*pause)(), long* cell, long value) noexcept {
  pause();
  return *cell = value;
}
long peek_again(void (*pause)(), bool (*ask)(long), const long* cell) noexcept {
  if (ask(*cell)) return 0;
  pause();
  return *cell;
}
long poke_after_and_throw(void (*pause)(), long* cell, long value) {
  pause();
  throw* cell = value;
}
