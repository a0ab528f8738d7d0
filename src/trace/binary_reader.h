// Reads the binary trace format: merges the threads' streams back into one trace.
//
// Every event knows its position in the trace, and positions are dense. So the merge needs no comparisons:
// for a window of consecutive positions, each open chunk writes its events to their slots. Chunks are opened
// when the window reaches their first event and closed after their last; memory does not grow with the trace.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/binary_format.h"
#include "trace/byte_source.h"
#include "trace/chunk_cursor.h"
#include "trace/parts.h"
#include "trace/series.h"
#include "trace/source.h"

namespace heddle {

// What `heddle trace info` tells about a file.
struct BinaryInfo {
  struct Chunks {
    uint64_t chunks = 0;
    uint64_t entries = 0;        // events, strings, sites
    uint64_t stored_bytes = 0;   // in the file, headers included
    uint64_t payload_bytes = 0;  // decompressed
  };

  uint32_t version = 0;
  bool complete = false;                    // false: the file was cut off
  uint64_t bytes = 0;                       // size of the file
  uint64_t events = 0;                      // in complete chunks
  uint32_t threads = 0;                     // named
  std::array<Chunks, kChunkKinds> by_kind;  // by index_of(kind)
};

class BinaryReader : public TraceSource {
 public:
  // Whether a file that starts with `bytes` is for this reader; kBinaryMagic.size() bytes decide.
  static bool recognizes(std::string_view bytes) { return bytes.starts_with(kBinaryMagic); }

  // The file must be a regular one.
  explicit BinaryReader(std::unique_ptr<InputFile> file);
  explicit BinaryReader(const std::string& path) : BinaryReader(std::make_unique<InputFile>(path)) {}
  // Reads from memory, which must stay; `name` stands for the file in messages.
  BinaryReader(std::string name, std::string_view content);

  EventBatch next() override;  // with parts in the place of their wholes
  const Names& names() const override { return names_; }
  std::string where(EventIndex index) const override;
  std::string note() const override;
  double progress() const override;

  BinaryInfo summary() const { return info_; }

 private:
  struct Chunk {
    uint64_t offset = 0;
    ChunkHeader header;
  };

  void open();
  void read_file_header();
  bool load_index();
  void scan_chunks();
  void take_chunks();
  void check_order_of(const Chunk& chunk, std::vector<uint64_t>& next_of_thread) const;
  void load_strings(const Chunk& chunk);
  void load_numbered(const Chunk& chunk);
  // Where the chunk's names go.
  StringTable& table_of(const Chunk& chunk);
  void load_sites(const Chunk& chunk);
  void load_parts(const Chunk& chunk);
  // The stored bytes of a chunk, checked against its checksum.
  std::string_view stored_bytes(const Chunk& chunk);
  std::string_view payload_of(const Chunk& chunk);
  // The next events as they stand in the file.
  EventBatch next_stored();
  // The next ones of those, with what series did in their place.
  EventBatch next_told();
  void open_chunks_before(EventIndex end);
  std::size_t window_size() const;
  [[noreturn]] void fail(uint64_t offset, const std::string& what) const;

  std::string name_;  // the file, for messages
  std::unique_ptr<ByteSource> bytes_;
  Names names_;
  EventLimits limits_;  // of the events, by names_
  Parts parts_;
  SeriesReader series_{names_};
  EventBatch stored_;         // of which series are replaced …
  std::size_t replaced_ = 0;  // … so many events so far
  std::vector<Event> told_;   // the latest batch, with what series did in their place
  uint64_t parts_loaded_ = 0;
  BinaryInfo info_;
  std::vector<Chunk> chunks_;                       // all at first, then those with events, by first position
  std::size_t next_chunk_ = 0;                      // the first of chunks_ not opened yet
  EventIndex end_ = 0;                              // no event has this position or a later one
  EventIndex position_ = 0;                         // where the next window starts
  bool ended_ = false;                              // all that can be delivered has been
  std::vector<std::unique_ptr<ChunkCursor>> open_;  // chunks with events left
  std::vector<std::unique_ptr<ChunkCursor>> closed_;  // for reuse
  std::vector<Event> window_;                         // the latest batch, as it is stored
  std::vector<Event> resolved_;                       // and as it is handed out, where there are parts
  EventIndex handed_out_ = 0;                         // of those
  std::string payload_;                               // of the latest chunk with names
};

}  // namespace heddle
