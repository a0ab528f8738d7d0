// What a checked program tells, in order (runtime/channel.h). The monitor's end of the channel.
//
// The program may have overwritten anything in the memory it shares with us, so nothing there is believed
// that could lead out of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "live/listener.h"
#include "runtime/channel.h"

namespace heddle {

class ChannelReader {
 public:
  // Takes the memory of the connection, which must outlive it. Throws SystemError when it cannot be shared.
  explicit ChannelReader(Connection& connection);
  ~ChannelReader();
  ChannelReader(const ChannelReader&) = delete;
  ChannelReader& operator=(const ChannelReader&) = delete;

  struct ToldRecord {
    uint32_t stream;  // the thread
    runtime::Record record;
  };

  // The next records: at least one, and as many as are there; none when the program is over. Valid until the
  // next call. `idle` is called again and again while there are none.
  std::span<const ToldRecord> next(const std::function<void()>& idle = {});

  // A stack number's return addresses, innermost first, at most `most`.
  std::vector<uint64_t> stack(uint32_t context, std::size_t most) const;
  // The text at an offset of the channel's texts.
  std::string text(uint64_t offset) const;

  runtime::Channel& channel() { return *channel_; }

  // Functions of the program's file that are blocks, before it is answered. Those that there is no room for
  // are left out.
  struct SpecBlock {
    uint64_t begin;
    uint64_t end;
    uint32_t kind;  // HeddleBlockKind
    std::string name;
  };
  void name_blocks(std::vector<SpecBlock> blocks);

  // Threads that a program may have in its life; a number from here on is not from the runtime.
  static constexpr uint32_t kMostStreams = 1U << 26;

 private:
  struct Stream {
    uint32_t chunk = runtime::Channel::kChunks;  // being read; kChunks: none yet
    uint32_t read = 0;                           // records of it
    uint32_t told_for = kMostStreams;            // whose the next one is, if not its own
  };

  bool read_ticket(uint64_t ticket);
  void read_stream(uint32_t number, Stream& stream, uint64_t last_ticket);
  // What the thread has told without ticket since its last ticket that was read.
  void read_unordered(uint32_t number);
  void read_what_is_left();
  void release(uint32_t chunk);
  Stream& stream(uint32_t number);

  runtime::Channel* channel_;
  const Connection& connection_;
  uint64_t next_ticket_ = 0;
  bool has_ended_ = false;
  std::chrono::microseconds nap_;  // when there is nothing to read
  std::vector<Stream> streams_;    // by number
  std::vector<ToldRecord> records_;
};

}  // namespace heddle
