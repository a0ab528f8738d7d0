// The building blocks that every event goes through, one by one: build/bench/bin/heddle_micro.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/string_table.h"
#include "core/lockset.h"
#include "core/vector_clock.h"
#include "trace/synthetic.h"
#include "trace/text_reader.h"
#include "trace/text_writer.h"
#include "trace/well_formed.h"

namespace heddle {
namespace {

// Threads take turns releasing and acquiring one lock, so that every join brings news.
void clock_hand_over(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  std::vector<ThreadClock> threads;
  for (ThreadId id = 0; id < count; ++id) threads.emplace_back(id);
  VectorClock lock;
  std::size_t turn = 0;
  for ([[maybe_unused]] auto _ : state) {
    ThreadClock& thread = threads[turn];
    thread.join(lock);
    lock = thread.publish();
    turn = turn + 1 == count ? 0 : turn + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(clock_hand_over)->Arg(2)->Arg(8)->Arg(64)->Arg(512);

// A thread takes and gives back a lock that nobody else wants: the join brings no news.
void clock_reacquire(benchmark::State& state) {
  ThreadClock thread(0);
  VectorClock lock;
  for ([[maybe_unused]] auto _ : state) {
    thread.join(lock);
    lock = thread.publish();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(clock_reacquire);

// One acquire and one release of a set met before.
void lockset_add_remove(benchmark::State& state) {
  LocksetTable table;
  Random random(1);
  for ([[maybe_unused]] auto _ : state) {
    const uint32_t lock = random.below(64);
    const LocksetId one = table.add(kEmptyLockset, lock, false);
    const LocksetId two = table.add(one, lock + 1, false);
    benchmark::DoNotOptimize(table.remove(table.remove(two, lock + 1), lock));
  }
  state.SetItemsProcessed(state.iterations() * 4);
}
BENCHMARK(lockset_add_remove);

void lockset_intersect(benchmark::State& state) {
  LocksetTable table;
  std::vector<LocksetId> sets;
  for (uint32_t lock = 0; lock < 64; ++lock) {
    sets.push_back(table.add(kEmptyLockset, lock, false));
    sets.push_back(table.add(sets.back(), lock + 1, false));
  }
  Random random(1);
  for ([[maybe_unused]] auto _ : state) {
    const LocksetId first = sets[random.below(static_cast<uint32_t>(sets.size()))];
    benchmark::DoNotOptimize(table.intersect(first, sets[random.below(static_cast<uint32_t>(sets.size()))]));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(lockset_intersect);

void intern_known(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < count; ++i) texts.push_back(fmt::format("x{}", i));
  StringTable table;
  for (const std::string& text : texts) table.intern(text);
  Random random(1);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(table.intern(texts[random.below(count)]));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(intern_known)->Arg(8)->Arg(10'000)->Arg(1'000'000);

// A trace of the base line in memory, as text and as events.
struct Sample {
  Sample() : trace({.events = 200'000}) {
    for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next()) {
      events.insert(events.end(), batch.events.begin(), batch.events.end());
      for (const Event& event : batch.events) text += event_text(event, trace.names()) + "\n";
    }
  }
  SyntheticTrace trace;
  std::vector<Event> events;
  std::string text;
};

const Sample& sample() {
  static const Sample kept;
  return kept;
}

void text_parse(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    TextReader reader("sample", sample().text);
    for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
      benchmark::DoNotOptimize(batch.events.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(sample().events.size()));
}
BENCHMARK(text_parse)->Unit(benchmark::kMillisecond);

void text_write(benchmark::State& state) {
  std::vector<Event> events = sample().events;
  for ([[maybe_unused]] auto _ : state) {
    TextWriter writer("/dev/null");
    writer.write({0, events}, sample().trace.names());
    writer.finish();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(events.size()));
}
BENCHMARK(text_write)->Unit(benchmark::kMillisecond);

void well_formed(benchmark::State& state) {
  std::vector<Event> events = sample().events;
  for ([[maybe_unused]] auto _ : state) {
    WellFormed check;
    check.process({0, events}, sample().trace);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(events.size()));
}
BENCHMARK(well_formed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle
