// Writes the binary trace format. A thread's events are written when they fill a chunk, or when the oldest of
// them has waited for too many later ones of other threads. So memory is bounded, and of a file that was cut
// off nearly all can be read: a reader gets no further than the first event that is missing.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "trace/binary_format.h"
#include "trace/chunk_codec.h"
#include "trace/source.h"

namespace heddle {

class BinaryWriter : public TraceSink {
 public:
  // When buffers are written out. Tests make them small to get many chunks.
  struct Limits {
    uint32_t chunk_events = 32 * 1024;    // of one thread, at most kMostPerChunk
    uint32_t longest_wait = 1024 * 1024;  // events that may come while one waits
  };

  explicit BinaryWriter(const std::string& path) : BinaryWriter(path, Limits()) {}
  BinaryWriter(const std::string& path, Limits limits);
  // Appends to `memory` instead of a file.
  BinaryWriter(std::string& memory, Limits limits);

  void write(const EventBatch& batch, const Names& names) override;
  void finish() override;

 private:
  using Row = std::array<uint32_t, kColumns>;  // an event, by Column

  struct Thread {
    EventIndex first = 0;   // position of rows.front()
    EventIndex last = 0;    // position of rows.back()
    std::vector<Row> rows;  // events not written yet
  };
  // A thread that has begun to buffer events.
  struct Waiting {
    EventIndex since = 0;  // position of its first
    ThreadId thread = 0;
  };
  // Names of one space not written yet.
  struct Strings {
    uint32_t written = 0;           // ids below are in the file
    std::vector<uint32_t> lengths;  // of the texts from id `written`
    std::string texts;              // one after the other
    std::string numbered;           // that follow one another in numbers; then there are no others
    uint32_t all_numbered = 0;      // how many those are
    uint32_t waiting() const { return static_cast<uint32_t>(lengths.size()) + all_numbered; }
  };

  void take_names(const Names& names);
  void take_event(const Event& event);
  void write_names();
  void write_strings(Space space);
  // Names that differ in a number only.
  void take_numbered(Space space, StringTable::Numbered names);
  void write_numbered(Space space);
  void write_sites();
  void write_parts();
  void write_thread(ThreadId id);
  void write_all_threads();
  // Whether the thread still waits since then.
  bool waits(const Waiting& waiting) const;
  // Sets overdue_at_.
  void find_next_overdue();
  void write_chunk(ChunkHeader& header, std::string_view payload, std::size_t piece);
  void write_bytes(std::string_view bytes);

  std::unique_ptr<OutputFile> file_;  // null when writing to memory
  std::string* memory_ = nullptr;     // null when writing to a file
  Limits limits_;
  uint64_t offset_ = 0;                  // bytes written
  EventIndex next_position_ = 0;         // of the next event
  std::vector<Thread> threads_;          // by id
  std::deque<Waiting> waiting_;          // by `since`; also those that have been written in the meantime
  uint32_t threads_waiting_ = 0;         // threads with rows
  EventIndex overdue_at_ = 0;            // position at which the first of waiting_ has waited long enough
  std::vector<std::vector<Row>> spare_;  // room of threads written, for the next that need some
  std::array<Strings, kSpaces> strings_;
  std::vector<SiteTable::Site> sites_;  // not written yet
  uint32_t sites_written_ = 0;          // ids below are in the file
  std::vector<VariablePart> parts_;     // not written yet
  uint32_t parts_written_ = 0;          // how many are in the file
  ChunkPacker packer_;
  std::string payload_;  // of the chunk being written
  std::string index_;    // headers of all chunks written
  uint32_t chunks_ = 0;  // how many those are
};

}  // namespace heddle
