// Files that were cut off, damaged or forged: a valid prefix or a clear error, never a crash, never other
// events.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/text.h"
#include "trace/binary_reader.h"
#include "trace/binary_writer.h"
#include "trace/chunk_codec.h"
#include "trace/text_reader.h"

namespace heddle {
namespace {

// Three threads, a lock, stacks; small chunks, so that the file has many.
struct Sample {
  Sample() {
    std::string text;
    for (int i = 0; i < 60; ++i)
      text += fmt::format("T{}|{}(x{})|f:{} < main:1\n", i % 7 % 3, i % 4 == 0 ? "w" : "r", i % 5, i % 6);
    TextReader reader("t", text);
    BinaryWriter writer(bytes, {.chunk_events = 8, .longest_wait = 20});
    for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next()) {
      events.insert(events.end(), batch.events.begin(), batch.events.end());
      writer.write(batch, reader.names());
    }
    writer.finish();
  }

  std::string bytes;
  std::vector<Event> events;
};

struct Outcome {
  std::vector<Event> events;  // delivered before the end or the error
  std::string error;          // empty: read to the end
  std::string note;
};

Outcome read(std::string_view bytes) {
  Outcome outcome;
  try {
    BinaryReader reader("t", bytes);
    for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
      outcome.events.insert(outcome.events.end(), batch.events.begin(), batch.events.end());
    outcome.note = reader.note();
  } catch (const InputError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

bool is_prefix(const std::vector<Event>& part, const std::vector<Event>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

struct Chunk {
  std::size_t offset;
  ChunkHeader header;
};

// Up to and with the index.
std::vector<Chunk> chunks_of(const std::string& bytes) {
  std::vector<Chunk> chunks;
  std::size_t offset = kFileHeaderSize;
  do {
    chunks.push_back({offset, get_chunk_header(std::string_view(bytes).substr(offset, kChunkHeaderSize))});
    offset += kChunkHeaderSize + chunks.back().header.stored_size;
  } while (chunks.back().header.kind != ChunkKind::kIndex);
  return chunks;
}

// A forger's file: the chunks of `bytes`, those with events changed by `change`, with checksums that fit, and
// without index.
template <typename Change>
std::string forged(const std::string& bytes, Change change) {
  std::string result = file_header();
  ChunkPacker packer;
  for (const Chunk& chunk : chunks_of(bytes)) {
    if (chunk.header.kind == ChunkKind::kIndex) break;
    ChunkHeader header = chunk.header;
    std::string payload(header.payload_size, '\0');
    const std::string_view stored =
        std::string_view(bytes).substr(chunk.offset + kChunkHeaderSize, header.stored_size);
    EXPECT_TRUE(unpack(header, stored, payload));
    if (header.kind == ChunkKind::kEvents) change(header, payload);
    result += packer.pack(header, payload, payload.size());
  }
  return result;
}

// The plane's bytes in an events payload; empty when it is not stored.
std::span<char> plane(const ChunkHeader& header, std::string& payload, Column column, std::size_t byte = 0) {
  const auto bit = column * kPlanesPerColumn + byte;
  if ((header.detail >> bit & 1) == 0) return {};
  const auto before = static_cast<std::size_t>(std::popcount(header.detail & ((1u << bit) - 1)));
  return {payload.data() + before * header.count, header.count};
}

TEST(BinaryDamage, SampleIsWorthDamaging) {
  const Sample sample;
  const auto chunks = chunks_of(sample.bytes);
  EXPECT_GE(std::count_if(chunks.begin(), chunks.end(),
                          [](const Chunk& c) { return c.header.kind == ChunkKind::kEvents; }),
            6);
  const Outcome outcome = read(sample.bytes);
  EXPECT_EQ(outcome.events, sample.events);
  EXPECT_EQ(outcome.error + outcome.note, "");
}

TEST(BinaryDamage, CutAnywhereGivesThePrefixOfWholeChunks) {
  const Sample sample;
  const auto chunks = chunks_of(sample.bytes);
  const std::size_t index_end = chunks.back().offset + kChunkHeaderSize + chunks.back().header.stored_size;
  std::size_t longest = 0;
  for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const std::string cut = sample.bytes.substr(0, size);
    const Outcome outcome = read(cut);
    if (size < kBinaryMagic.size()) {
      EXPECT_EQ(outcome.error, "t: not a binary trace");
      continue;
    }
    if (size < kFileHeaderSize) {
      EXPECT_EQ(outcome.error, "t: cut off within the first 16 bytes; nothing can be read");
      continue;
    }
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(is_prefix(outcome.events, sample.events));
    EXPECT_GE(outcome.events.size(), longest) << "a longer file gives no fewer events";
    longest = outcome.events.size();
    // The first position that no whole chunk can hold is where the prefix ends.
    std::vector<bool> lost(sample.events.size() + 1, false);
    lost.back() = true;
    std::size_t kept = 0;
    for (const Chunk& chunk : chunks)
      if (chunk.header.kind == ChunkKind::kEvents &&
          chunk.offset + kChunkHeaderSize + chunk.header.stored_size > size)
        for (std::size_t i = chunk.header.first; i <= chunk.header.last; ++i)
          if (sample.events[i].thread == chunk.header.thread) lost[i] = true;
    while (!lost[kept]) ++kept;
    EXPECT_EQ(outcome.events.size(), kept);
    if (size < index_end) {
      EXPECT_EQ(outcome.note,
                fmt::format("t was cut off: {} could be read, later ones are lost", counted(kept, "event")));
    } else {
      EXPECT_EQ(outcome.note, "") << "nothing but the trailer is missing";
    }
  }
  EXPECT_EQ(longest, sample.events.size());
}

// main acts once, then only A does: main's event must not wait in a buffer until the end.
TEST(BinaryDamage, AQuietThreadDoesNotTakeTheOthersAlong) {
  constexpr std::size_t kEvents = 200'000;
  constexpr BinaryWriter::Limits kLimits;
  Names names;
  std::vector<Event> events(kEvents);
  for (Event& event : events) event.thread = 1;
  events[0].thread = 0;
  for (const char* name : {"main", "A"}) names.table(Space::kThread).append(name);
  names.table(Space::kVariable).append("x");
  for (Event& event : events) event.object = 0;
  std::string bytes;
  BinaryWriter writer(bytes, kLimits);
  writer.write({0, events}, names);
  writer.finish();
  for (const Chunk& chunk : chunks_of(bytes)) {
    if (chunk.header.kind != ChunkKind::kEvents) continue;
    const Outcome outcome = read(bytes.substr(0, chunk.offset + kChunkHeaderSize + chunk.header.stored_size));
    EXPECT_EQ(outcome.error, "");
    EXPECT_GE(outcome.events.size() + std::size_t{3} * kLimits.chunk_events, chunk.header.last + 1);
  }
  // Without its last chunk with events.
  EXPECT_GE(read(bytes.substr(0, chunks_of(bytes).back().offset - 1)).events.size(),
            kEvents - kLimits.chunk_events);
}

TEST(BinaryDamage, NoFlippedByteGoesUnnoticed) {
  const Sample sample;
  std::size_t errors = 0;
  for (std::size_t i = 0; i < sample.bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      SCOPED_TRACE(testing::Message() << "byte " << i << " flipped by " << flip);
      std::string damaged = sample.bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const Outcome outcome = read(damaged);
      EXPECT_TRUE(is_prefix(outcome.events, sample.events));
      EXPECT_TRUE(outcome.events == sample.events || !outcome.error.empty() || !outcome.note.empty());
      errors += outcome.error.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(errors, 1000u) << "with a good index, a damaged chunk is an error";
}

TEST(BinaryDamage, ErrorNamesFileAndOffset) {
  Sample sample;
  const std::size_t offset = chunks_of(sample.bytes)[0].offset;
  sample.bytes[offset + kChunkHeaderSize] ^= 1;
  EXPECT_EQ(read(sample.bytes).error, "t: chunk at offset 16: it is damaged (its checksum does not match)");
}

TEST(BinaryDamage, VersionsAreToldApart) {
  Sample sample;
  sample.bytes[kBinaryMagic.size()] = 10;
  EXPECT_EQ(
      read(sample.bytes).error,
      "t: has trace format version 10, but this Heddle reads versions 1 to 9; use the Heddle that wrote "
      "it, or record again");
  sample.bytes[kBinaryMagic.size()] = 1;
  EXPECT_EQ(read(sample.bytes).events, sample.events);
  sample.bytes[kBinaryMagic.size() + 4] = 2;
  EXPECT_EQ(read(sample.bytes).error, "t: has unknown flags 0x2 at offset 12");
}

TEST(BinaryDamage, ZerosAfterACrashEndTheTrace) {
  const Sample sample;
  const std::size_t size = chunks_of(sample.bytes)[14].offset;
  const Outcome outcome = read(sample.bytes.substr(0, size) + std::string(10000, '\0'));
  EXPECT_EQ(outcome.error, "");
  EXPECT_NE(outcome.note, "");
  EXPECT_GT(outcome.events.size(), 0u);
  EXPECT_TRUE(is_prefix(outcome.events, sample.events));
}

TEST(BinaryDamage, ForgedFilesWithoutChangesAreReadable) {
  const Sample sample;
  EXPECT_EQ(read(forged(sample.bytes, [](ChunkHeader&, std::string&) {})).events, sample.events);
}

TEST(BinaryDamage, ForgedFieldsAreRefused) {
  const Sample sample;
  const auto error_of = [&](auto change) { return read(forged(sample.bytes, change)).error; };
  const auto set = [](Column column, std::size_t byte, int value) {
    return [=](ChunkHeader& header, std::string& payload) {
      const std::span<char> bytes = plane(header, payload, column, byte);
      if (bytes.size() > 1) bytes[1] = static_cast<char>(value);
    };
  };
  const auto contains = [](const std::string& error, std::string_view part) {
    EXPECT_NE(error.find(part), std::string::npos) << "\"" << error << "\" does not say \"" << part << "\"";
    EXPECT_NE(error.find("t: chunk at offset "), std::string::npos) << error;
  };
  contains(error_of(set(kHeadColumn, 0, static_cast<int>(kStoredOperations))),
           fmt::format("operation {} does not exist", kStoredOperations));
  contains(error_of(set(kHeadColumn, 0, 200)), "operation 200 does not exist");
  contains(error_of(set(kHeadColumn, 0, static_cast<int>(Operation::kAtomicRead))),
           "'ar' with memory order 0");
  contains(error_of(set(kHeadColumn, 0, static_cast<int>(Operation::kAcquire))), "'acq' with operand");
  contains(error_of(set(kObjectColumn, 0, 0)), "without operand");
  contains(error_of(set(kObjectColumn, 0, 6)), "with operand 5, which the file does not name");
  contains(error_of(set(kSiteColumn, 0, 99)), "with site 98, which the file does not name");
  contains(error_of([](ChunkHeader& header, std::string&) { header.thread = 3; }), "it is of thread 3");
  contains(error_of([&](ChunkHeader& header, std::string&) {
             if (header.last + 1 == sample.events.size()) ++header.last;
           }),
           "its last event is not at the position");
  contains(error_of([](ChunkHeader& header, std::string& payload) {
             const std::span<char> gaps = plane(header, payload, kGapColumn);
             if (!gaps.empty()) ++gaps[0];
           }),
           "its first event is not at the position");
  contains(error_of([first = true](ChunkHeader& header, std::string&) mutable {
             if (header.thread != 0) return;
             if (!first) header.last -= header.first, header.first = 0;
             first = false;
           }),
           "does not follow the thread's last one");
}

TEST(BinaryDamage, TwoEventsAtOnePositionAreRefused) {
  const Sample sample;
  const Outcome outcome = read(forged(sample.bytes, [](ChunkHeader& header, std::string&) {
    if (header.thread == 1 && header.first < 8) --header.first, --header.last;
  }));
  EXPECT_NE(outcome.error.find("two events have the same position"), std::string::npos) << outcome.error;
}

TEST(BinaryDamage, ForgedSizesAllocateNothing) {
  const Sample sample;
  // Each change makes a header no writer produces; the scan must stop in front of the first such chunk.
  const auto events_of = [&](auto change) {
    std::string bytes = sample.bytes.substr(0, chunks_of(sample.bytes).back().offset);
    for (const Chunk& chunk : chunks_of(sample.bytes)) {
      ChunkHeader header = chunk.header;
      if (header.kind != ChunkKind::kEvents) continue;
      change(header);
      header.checksum = chunk_checksum(
          header, std::string_view(bytes).substr(chunk.offset + kChunkHeaderSize, header.stored_size));
      std::string encoded;
      put_chunk_header(encoded, header);
      bytes.replace(chunk.offset, kChunkHeaderSize, encoded);
      break;
    }
    const Outcome outcome = read(bytes);
    EXPECT_EQ(outcome.error, "");
    EXPECT_NE(outcome.note, "");
    return outcome.events.size();
  };
  EXPECT_EQ(events_of([](ChunkHeader& h) { h.payload_size = 0xFFFFFFFF; }), 0u);
  EXPECT_EQ(events_of([](ChunkHeader& h) { h.count = 0xFFFFFFFF; }), 0u);
  EXPECT_EQ(events_of([](ChunkHeader& h) { h.count = 0; }), 0u);
  EXPECT_EQ(events_of([](ChunkHeader& h) { h.detail |= 1u << kPlanes; }), 0u);
  EXPECT_EQ(events_of([](ChunkHeader& h) { h.last = UINT64_MAX; }), 0u);
  EXPECT_EQ(events_of([](ChunkHeader& h) { h.kind = static_cast<ChunkKind>(9); }), 0u);
  EXPECT_EQ(events_of([](ChunkHeader& h) {
              h.kind = ChunkKind::kStrings;
              h.detail = 0;
              h.thread = 0;
              h.last = h.first + h.count - 1;
              h.payload_size = kMostStringBytes;
            }),
            0u);
}

}  // namespace
}  // namespace heddle
