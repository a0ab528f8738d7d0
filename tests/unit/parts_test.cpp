// Variables of a recording that turned out to be several: in files, and as readers hand them out.
#include "trace/parts.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "trace/binary_reader.h"
#include "trace/binary_writer.h"
#include "trace/text_writer.h"

namespace heddle {
namespace {

struct Recording {
  Recording() {
    names.table(Space::kThread).append("T0");
    names.table(Space::kLock).append("m");
    for (const char* name : {"x", "y", "x.low", "x.high", "x.top"})
      names.table(Space::kVariable).append(name);
  }
  void add(Operation operation, uint32_t object) {
    Event event;
    event.operation = operation;
    event.object = object;
    events.push_back(event);
  }
  std::string bytes(std::size_t batch = 100) {
    std::string result;
    BinaryWriter writer(result, {.chunk_events = 2, .longest_wait = 4});
    for (std::size_t i = 0; i < events.size(); i += batch)
      writer.write({i, std::span(events).subspan(i, std::min(batch, events.size() - i))}, names);
    writer.finish();
    return result;
  }

  Names names;
  std::vector<Event> events;
};

std::string text_of(const std::string& bytes) {
  BinaryReader reader("t", bytes);
  std::string text;
  uint64_t events = 0;
  for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next()) {
    EXPECT_EQ(batch.first, events);
    events += batch.events.size();
    for (const Event& event : batch.events) text += operation_text(event, reader.names()) + " ";
  }
  return text;
}

std::string error_of(const std::string& bytes) {
  try {
    text_of(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Parts, WhatWasDoneToTheWholeWasDoneToItsInnermostParts) {
  Recording recording;
  recording.add(Operation::kWrite, 0);
  recording.add(Operation::kRead, 1);
  recording.add(Operation::kAcquire, 0);  // another space with the same id
  recording.add(Operation::kRead, 3);
  recording.add(Operation::kFree, 2);
  recording.names.parts() = {{2, 0}, {3, 0}, {4, 3}};
  // x.high has just one part here: a name of its own for the same bytes.
  EXPECT_EQ(text_of(recording.bytes()), "w(x.low) w(x.top) r(y) acq(m) r(x.top) free(x.low) ");
}

TEST(Parts, AreInTheFileBeforeTheEventsThatKnowThem) {
  Recording recording;
  recording.add(Operation::kWrite, 0);
  recording.add(Operation::kWrite, 1);
  recording.add(Operation::kWrite, 2);
  recording.add(Operation::kWrite, 3);
  recording.names.parts() = {{2, 0}, {3, 0}};
  const std::string bytes = recording.bytes();
  const std::string whole = text_of(bytes);
  EXPECT_EQ(whole, "w(x.low) w(x.high) w(y) w(x.low) w(x.high) ");
  for (std::size_t size = kFileHeaderSize; size < bytes.size(); ++size) {
    const std::string text = text_of(bytes.substr(0, size));
    EXPECT_TRUE(whole.starts_with(text)) << "cut at " << size << ": " << text;
  }
}

TEST(Parts, ImpossibleOnesAreRefused) {
  const auto error_with = [](std::vector<VariablePart> parts) {
    Recording recording;
    for (int i = 0; i < 80; ++i) recording.names.table(Space::kVariable).append("z");
    recording.add(Operation::kWrite, 0);
    recording.names.parts() = std::move(parts);
    return error_of(recording.bytes());
  };
  EXPECT_EQ(error_with({{2, 0}, {3, 0}}), "");
  EXPECT_NE(error_with({{0, 2}}).find("part of a later one"), std::string::npos);
  EXPECT_NE(error_with({{2, 2}}).find("part of a later one"), std::string::npos);
  EXPECT_NE(error_with({{2, 0}, {2, 1}}).find("part of two others"), std::string::npos);
  EXPECT_NE(error_with({{999, 0}}).find("a variable the file does not name"), std::string::npos);
  // Two parts, which have as many as there may be all in all, and one more.
  std::vector<VariablePart> many = {{1, 0}, {2, 0}};
  for (uint32_t i = 0; i < Parts::kMost; ++i) many.push_back({3 + i, 1 + i % 2});
  EXPECT_EQ(error_with(many), "");
  many.push_back({3 + Parts::kMost, 1});
  EXPECT_NE(error_with(many).find("more parts than bytes"), std::string::npos);
}

}  // namespace
}  // namespace heddle
