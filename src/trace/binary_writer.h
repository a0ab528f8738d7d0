// Writes the binary trace format. Memory is bounded: a thread's events are written when they fill a chunk,
// and all threads' when together they fill kMostBuffered.
#pragma once

#include <array>
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
    uint32_t chunk_events = 32 * 1024;       // of one thread, at most kMostPerChunk
    uint32_t buffered_events = 1024 * 1024;  // of all threads
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
  // Names of one space not written yet.
  struct Strings {
    uint32_t written = 0;           // ids below are in the file
    std::vector<uint32_t> lengths;  // of the texts from id `written`
    std::string texts;              // one after the other
  };

  void take_names(const Names& names);
  void take_event(const Event& event);
  void write_names();
  void write_strings(Space space);
  void write_sites();
  void write_thread(ThreadId id);
  void write_all_threads();
  void write_chunk(ChunkHeader& header, std::string_view payload, std::size_t piece);
  void write_bytes(std::string_view bytes);

  std::unique_ptr<OutputFile> file_;  // null when writing to memory
  std::string* memory_ = nullptr;     // null when writing to a file
  Limits limits_;
  uint64_t offset_ = 0;           // bytes written
  EventIndex next_position_ = 0;  // of the next event
  std::vector<Thread> threads_;   // by id
  std::size_t buffered_ = 0;      // rows in all threads_
  std::vector<Row> spare_;        // room of the thread written last, for the next that needs some
  std::array<Strings, kSpaces> strings_;
  std::vector<SiteTable::Site> sites_;  // not written yet
  uint32_t sites_written_ = 0;          // ids below are in the file
  ChunkPacker packer_;
  std::string payload_;  // of the chunk being written
  std::string index_;    // headers of all chunks written
  uint32_t chunks_ = 0;  // how many those are
};

}  // namespace heddle
