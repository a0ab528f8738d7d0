// What a library offers that is compiled without Heddle.
#pragma once

#include <vector>

struct Shelf {
  std::vector<long>* boxes;
};

long peek(const long* cell) noexcept;
void poke(long* cell, long value) noexcept;
long next_ticket() noexcept;
long top_of(const Shelf& shelf) noexcept;
void put_on(Shelf& shelf, long value) noexcept;
long applied(long (*function)(long), long value) noexcept;
[[gnu::const]] long twice(long value) noexcept;
[[gnu::pure]] long read_only(const long* cell) noexcept;

// Variables that both sides know by name, and memory that was handed over before.
extern long of_program;
extern long of_library;
void poke_of_program(long value) noexcept;
void poke_of_library(long value) noexcept;
void keep(long* cell) noexcept;
void poke_kept(long value) noexcept;
// Lies: it keeps the pointer for its thread.
[[gnu::const]] long keep_for_thread(long* cell) noexcept;
void poke_kept_for_thread(long value) noexcept;
// Others may have their turn before it does it.
long poke_after(void (*pause)(), long* cell, long value) noexcept;
// Looks at the cell before and behind that; asks about what it saw first.
[[gnu::pure]] long peek_again(void (*pause)(), bool (*ask)(long), const long* cell) noexcept;
long poke_after_and_throw(void (*pause)(), long* cell, long value);
