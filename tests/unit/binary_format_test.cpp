// Round trips through the binary format: what is written is what is read, in order, whatever the chunks.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "base/error.h"
#include "import/open_trace.h"
#include "trace/binary_format.h"
#include "trace/binary_reader.h"
#include "trace/binary_writer.h"
#include "trace/chunk_codec.h"
#include "trace/text_reader.h"
#include "trace/text_writer.h"

namespace heddle {
namespace {

struct Trace {
  std::vector<Event> events;
  Names names;
};

std::string written(Trace& trace, BinaryWriter::Limits limits = {}) {
  std::string bytes;
  BinaryWriter writer(bytes, limits);
  constexpr std::size_t kBatch = 100;
  for (std::size_t i = 0; i < trace.events.size(); i += kBatch) {
    const std::size_t count = std::min(kBatch, trace.events.size() - i);
    writer.write({i, std::span(trace.events).subspan(i, count)}, trace.names);
  }
  writer.finish();
  return bytes;
}

std::vector<Event> all_events(TraceSource& source) {
  std::vector<Event> events;
  for (EventBatch batch = source.next(); !batch.empty(); batch = source.next()) {
    EXPECT_EQ(batch.first, events.size());
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  }
  EXPECT_TRUE(source.next().empty()) << "a source that has ended stays so";
  return events;
}

std::string text_of(TraceSource& source) {
  std::string text;
  for (const Event& event : all_events(source)) text += event_text(event, source.names()) + "\n";
  return text;
}

void expect_same(const Trace& trace, const std::string& bytes) {
  BinaryReader reader("t", bytes);
  EXPECT_EQ(all_events(reader), trace.events);
  EXPECT_EQ(reader.note(), "");
  EXPECT_EQ(reader.summary().events, trace.events.size());
  EXPECT_TRUE(reader.summary().complete);
  for (std::size_t s = 0; s < kSpaces; ++s) {
    const StringTable& expected = trace.names.table(static_cast<Space>(s));
    const StringTable& found = reader.names().table(static_cast<Space>(s));
    ASSERT_EQ(found.size(), expected.size());
    for (uint32_t id = 0; id < expected.size(); ++id) ASSERT_EQ(found[id], expected[id]);
  }
  ASSERT_EQ(reader.names().sites().size(), trace.names.sites().size());
  for (SiteId site = 0; site < trace.names.sites().size(); ++site)
    ASSERT_EQ(reader.names().site_text(site), trace.names.site_text(site));
}

// A trace with every operation and every optional field at random.
Trace random_trace(uint64_t seed, std::size_t count, uint32_t threads, uint32_t names_per_space) {
  Trace trace;
  std::mt19937_64 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (std::size_t s = 0; s < kSpaces; ++s) {
    const auto space = static_cast<Space>(s);
    const uint32_t size = space == Space::kThread ? threads : names_per_space;
    for (uint32_t i = 0; i < size; ++i) trace.names.table(space).intern(fmt::format("{}_{}", s, i));
  }
  for (uint32_t i = 0; i < names_per_space; ++i)
    trace.names.sites().append({below(names_per_space), i == 0 || below(2) == 0 ? kNoId : below(i)});
  for (std::size_t i = 0; i < count; ++i) {
    Event event;
    event.thread = below(threads);
    event.operation = static_cast<Operation>(below(kStoredOperations));
    const OperationInfo& operation = info(event.operation);
    const bool optional =
        operation.operands == Operands::kOptionalName || operation.operands == Operands::kBlock;
    if (operation.space == Space::kThread) {
      event.object = below(threads);
    } else if (operation.space != Space::kNone && !(optional && below(2) == 0)) {
      event.object = below(names_per_space);
    }
    if (operation.operands == Operands::kOrder || operation.operands == Operands::kFence)
      event.order = static_cast<MemoryOrder>(1 + below(kMemoryOrders - 1));
    if (operation.operands == Operands::kSync && below(2) == 0)
      event.order = below(2) == 0 ? MemoryOrder::kRelease : MemoryOrder::kAcquire;
    if (operation.operands == Operands::kAcquisition || operation.operands == Operands::kEndOfLife)
      event.tries = below(2) == 0;
    if (operation.operands == Operands::kAcquisition && !event.tries && below(2) == 0)
      event.order = MemoryOrder::kAcqRel;
    const bool access = operation.space == Space::kVariable &&
                        (operation.operands == Operands::kRead || operation.operands == Operands::kWrite ||
                         operation.operands == Operands::kOrder);
    if (access && below(4) == 0) event.value = below(names_per_space);
    if ((access || operation.operands == Operands::kAssign) && below(4) == 0)
      event.local = below(names_per_space);
    if (below(2) == 0) event.size = below(32768) & 0x7FFF;
    if (below(4) != 0) event.site = below(names_per_space);
    trace.events.push_back(event);
  }
  return trace;
}

TEST(BinaryFormat, EveryOperationSurvivesTheRoundTrip) {
  const std::string text =
      "T0|r(x)|1\nT0|r(x,5)|1\nT0|r(x)>l|1\nT0|r(x,5)>l|\nT0|w(x)|a.cpp:3\nT0|w(x,-1)|\nT0|w(x)<l|\n"
      "T0|ar(x,relaxed)|\nT0|aw(x,release)|\nT0|armw(x,acq_rel)|\nT0|acasfail(x,acquire)|\n"
      "T0|acq(m)|\nT0|rel(m)|\nT0|acq_sh(m,try)|\nT0|rel_sh(m)|\nT0|acq(m,together)|\nT0|fork(T1)|\nT1|start|"
      "\nT1|stop|\nT0|join("
      "T1)|"
      "\n"
      "T0|begin|\nT0|begin(Account::withdraw)|\nT0|begin(f,deterministic)|\nT0|end|\nT0|end(f)|\n"
      "T0|arrive(b)|\nT0|leave(b)|\nT0|post(s)|\nT0|wait(s)|\nT0|sync(s)|\nT0|sync(s,release)|\nT0|sync(s,"
      "acquire)|\nT0|notify(c)|\nT0|wake(c)|\n"
      "T0|fence|\nT0|fence(release)|\nT0|commit(x)|\nT0|alloc(x)|\nT0|free(x)|\nT0|task(k)|\nT0|endtask|\n"
      "T0|nd|\nT0|endnd|\nT0|set(l)|\nT0|set(l,a,b)|\nT0|br(l)|\nT0|focus(x)|\n"
      "main thread|w(y)|bank.cpp:3 in f < bank.cpp:9 in main\n";
  TextReader original("t", text);
  std::string bytes;
  BinaryWriter writer(bytes, {});
  for (EventBatch batch = original.next(); !batch.empty(); batch = original.next())
    writer.write(batch, original.names());
  writer.finish();
  BinaryReader reader("t", bytes);
  EXPECT_EQ(text_of(reader), text);
}

TEST(BinaryFormat, RandomTracesSurviveWhateverTheChunks) {
  std::mt19937_64 random(1);
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto count = static_cast<std::size_t>(random() % 5000);
    const auto threads = static_cast<uint32_t>(1 + random() % 20);
    const auto names = static_cast<uint32_t>(1 + random() % (seed % 20 == 0 ? 70000 : 300));
    Trace trace = random_trace(seed, count, threads, names);
    const auto chunk = static_cast<uint32_t>(1 + random() % 700);
    const auto wait = static_cast<uint32_t>(1 + random() % 2000);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", chunks of " << chunk << ", waits of " << wait);
    expect_same(trace, written(trace, {chunk, wait}));
  }
}

TEST(BinaryFormat, FullSizedChunksSurvive) {
  Trace trace = random_trace(5, 300000, 3, 400);
  expect_same(trace, written(trace));
}

TEST(BinaryFormat, ThousandsOfThreadsSurvive) {
  Trace trace = random_trace(2, 200000, 2000, 10);
  expect_same(trace, written(trace, {4096, 50000}));
}

TEST(BinaryFormat, EmptyTraceSurvives) {
  Trace trace;
  const std::string bytes = written(trace);
  expect_same(trace, bytes);
  EXPECT_EQ(bytes.size(), kFileHeaderSize + kChunkHeaderSize + kTrailerSize);
}

TEST(BinaryFormat, NamesThatRepeatOrHoldAnyBytesSurvive) {
  Trace trace = random_trace(4, 10, 2, 3);
  for (const std::string_view text :
       {std::string_view(""), std::string_view("a\0b", 3), std::string_view("\xff\n|")})
    trace.names.table(Space::kValue).append(text);
  trace.names.table(Space::kValue).append("a");
  trace.names.table(Space::kValue).append("a");
  // So repetitive that zstd would shrink it further than a reader believes.
  trace.names.table(Space::kValue).append(std::string(3 << 20, 'x'));
  expect_same(trace, written(trace));
}

TEST(BinaryFormat, NamesMayArriveWithTheEventsThatUseThem) {
  Names names;
  std::string bytes;
  BinaryWriter writer(bytes, {.chunk_events = 7, .longest_wait = 50});
  std::string text;
  for (uint32_t i = 0; i < 500; ++i) {
    std::vector<Event> events(1);
    events[0].thread = names.table(Space::kThread).intern(fmt::format("T{}", i % 9));
    events[0].object = names.table(Space::kVariable).intern(fmt::format("x{}", i));
    events[0].site = names.intern_site(fmt::format("f:{} < main:{}", i, i / 2));
    text += event_text(events[0], names) + "\n";
    writer.write({i, events}, names);
  }
  writer.finish();
  BinaryReader reader("t", bytes);
  EXPECT_EQ(text_of(reader), text);
}

TEST(BinaryFormat, SummaryCountsChunksByKind) {
  Trace trace = random_trace(3, 1000, 4, 20);
  const std::string bytes = written(trace, {100, 100000});
  const BinaryInfo info = BinaryReader("t", bytes).summary();
  EXPECT_EQ(info.version, kBinaryVersion);
  EXPECT_EQ(info.bytes, bytes.size());
  EXPECT_EQ(info.threads, 4);
  EXPECT_EQ(info.by_kind[index_of(ChunkKind::kStrings)].chunks, kSpaces);
  EXPECT_EQ(info.by_kind[index_of(ChunkKind::kSites)].entries, 20);
  EXPECT_EQ(info.by_kind[index_of(ChunkKind::kEvents)].entries, 1000);
  EXPECT_GE(info.by_kind[index_of(ChunkKind::kEvents)].chunks, 10);
  EXPECT_EQ(info.by_kind[index_of(ChunkKind::kIndex)].chunks, 1);
  uint64_t stored = kFileHeaderSize + kTrailerSize;
  for (const BinaryInfo::Chunks& kind : info.by_kind) stored += kind.stored_bytes;
  EXPECT_EQ(stored, bytes.size()) << "every byte belongs to something";
}

class BinaryFile : public testing::Test {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / fmt::format("heddle_binary_test.{}", ::getpid())).string();
  ~BinaryFile() override { std::filesystem::remove(path_); }
};

TEST_F(BinaryFile, ContentDecidesTheReader) {
  Trace trace = random_trace(6, 100, 2, 10);
  BinaryWriter writer(path_);
  writer.write({0, trace.events}, trace.names);
  writer.finish();
  const auto binary = open_trace(path_);
  EXPECT_EQ(all_events(*binary), trace.events);
  EXPECT_EQ(binary->where(12), path_ + ": event 12");
  EXPECT_EQ(binary->progress(), 1);

  OutputFile file(path_);
  file.write("T1|w(x)|1\n");
  file.commit();
  EXPECT_EQ(text_of(*open_trace(path_)), "T1|w(x)|1\n");
}

TEST_F(BinaryFile, AppearsOnlyWhenFinished) {
  Trace trace = random_trace(6, 100, 2, 10);
  {
    BinaryWriter writer(path_);
    writer.write({0, trace.events}, trace.names);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(BinaryFile, CannotBeReadFromAPipe) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::string bytes;
  BinaryWriter(bytes, {}).finish();
  // Open for reading and writing, so that neither side waits for the other.
  FILE* pipe = std::fopen(path_.c_str(), "r+");
  ASSERT_NE(pipe, nullptr);
  ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), pipe), bytes.size());
  std::fflush(pipe);
  try {
    open_trace(path_);
    ADD_FAILURE() << "read a binary trace from a pipe";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path_ + ": a binary trace cannot be read from a pipe; save it to a file first");
  }
  std::fclose(pipe);
}

// Names that differ in a number only take next to no room, however many there are.
TEST(BinaryFormat, KeepsNumberedNames) {
  constexpr uint32_t kMany = 200'000;
  Names names;
  names.table(Space::kThread).append("T");
  StringTable& variables = names.table(Space::kVariable);
  variables.append("a");
  variables.append_numbered("a#", 2, kMany);
  variables.append("b");
  variables.append_numbered("b#", 2, 5);
  variables.append_numbered("c#", 7, 100);
  variables.append_numbered("a#", kMany + 2, 100);
  variables.append("end");
  std::vector<Event> events;
  for (uint32_t id = 0; id < variables.size(); id += 777) {
    Event& event = events.emplace_back();
    event.operation = Operation::kWrite;
    event.thread = 0;
    event.object = id;
  }
  std::string bytes;
  BinaryWriter writer(bytes, {});
  writer.write({0, events}, names);
  variables.append_numbered("end#", 2, 1000);  // names that come later
  variables.append_numbered("end#", 1002, 1000);
  writer.write({events.size(), {}}, names);
  writer.finish();
  EXPECT_LT(bytes.size(), 8'000);

  BinaryReader reader("t", bytes);
  EXPECT_EQ(reader.next().events.size(), events.size());
  const StringTable& read = reader.names().table(Space::kVariable);
  ASSERT_EQ(read.size(), variables.size());
  for (uint32_t id = 0; id < variables.size(); ++id) ASSERT_EQ(read[id], variables[id]);
}

std::string error_of(const std::string& numbered, uint32_t count) {
  std::string bytes = file_header();
  ChunkHeader header;
  header.kind = ChunkKind::kNumbered;
  header.detail = static_cast<uint32_t>(Space::kVariable);
  header.count = count;
  header.last = count - 1;
  ChunkPacker packer;
  bytes += packer.pack(header, numbered, numbered.size());
  try {
    BinaryReader reader("t", bytes);
    reader.next();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(BinaryFormat, DoesNotBelieveNumberedNames) {
  const auto run = [](uint32_t count, uint32_t number, uint32_t length, std::string_view before) {
    std::string text;
    put_number(text, count);
    put_number(text, number);
    put_number(text, length);
    return text.append(before);
  };
  EXPECT_EQ(error_of(run(10, 1, 2, "x#"), 10), "");
  EXPECT_EQ(error_of(run(9, 1, 2, "x#") + run(1, 1, 2, "y#"), 10), "");
  for (const std::string& bad :
       {run(9, 1, 2, "x#"), run(11, 1, 2, "x#"), run(0, 1, 2, "x#"), run(10, 4294967290, 2, "x#")})
    EXPECT_NE(error_of(bad, 10).find("not as many as it says"), std::string::npos);
  EXPECT_NE(error_of(run(10, 1, 3, "x#"), 10).find("longer than the chunk"), std::string::npos);
  EXPECT_NE(error_of(run(10, 1, 2, "x#y"), 10).find("end too early"), std::string::npos);
}

}  // namespace
}  // namespace heddle
