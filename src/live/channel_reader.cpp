#include "live/channel_reader.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"
#include "trace/event.h"

namespace heddle {

using runtime::Channel;
using runtime::Chunk;
using runtime::Record;

namespace {

// Records handed out at once: they fit into the cache.
constexpr std::size_t kMostAtOnce = 1024;

// How long it sleeps when there is nothing to read: at first, and at most. A program that has been silent for
// long stays so; one that never has much to tell need not be asked often.
constexpr std::chrono::microseconds kShortNap{100};
constexpr std::chrono::microseconds kNap{2'000};
constexpr std::chrono::microseconds kLongNap{8'000};
constexpr std::chrono::microseconds kSilentFor{100'000};

// A program that ends says so; one that is killed does not, so it is looked for when it has been silent.
constexpr std::chrono::microseconds kAskAfter{10'000};

}  // namespace

ChannelReader::ChannelReader(Connection& connection) : connection_(connection), nap_(kShortNap) {
  const int memory = connection.take_memory();
  struct stat status;
  void* shared = MAP_FAILED;
  if (::fstat(memory, &status) == 0 && status.st_size == static_cast<off_t>(sizeof(Channel)))
    shared = ::mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  ::close(memory);
  if (shared == MAP_FAILED) throw SystemError("cannot share memory with the checked program");
  channel_ = static_cast<Channel*>(shared);
}

ChannelReader::~ChannelReader() { ::munmap(channel_, sizeof(Channel)); }

std::span<const ChannelReader::ToldRecord> ChannelReader::next(const std::function<void()>& idle) {
  using namespace std::chrono_literals;
  if (records_.size() >= kMostAtOnce) nap_ = kShortNap;
  records_.clear();
  auto paused = 0us;  // since the program was asked whether it is there
  auto silent = 0us;
  while (!has_ended_) {
    while (records_.size() < kMostAtOnce && read_ticket(next_ticket_)) ++next_ticket_;
    if (!records_.empty()) {
      channel_->consumed.store(next_ticket_, std::memory_order_release);
      return records_;
    }
    // Asked before the last look, so that nothing told before the end is missed.
    const bool has_said_all =
        channel_->state.load() == runtime::kProgramEnded || (paused >= kAskAfter && connection_.is_over());
    if (paused >= kAskAfter) paused = 0us;
    if (read_ticket(next_ticket_)) {
      ++next_ticket_;
      continue;
    }
    if (has_said_all) {
      read_what_is_left();
      has_ended_ = true;
      return records_;
    }
    if (idle) idle();
    std::this_thread::sleep_for(nap_);
    paused += nap_;
    silent += nap_;
    nap_ = std::min(nap_ * 2, silent < kSilentFor ? kNap : kLongNap);
  }
  return {};
}

// False: it was not told yet.
bool ChannelReader::read_ticket(uint64_t ticket) {
  const uint64_t entry = channel_->board[ticket % Channel::kPlaces].load(std::memory_order_acquire);
  if (entry >> 16 != ((ticket + 1) & (~uint64_t{0} >> 16))) return false;
  const auto chunk = static_cast<uint32_t>(entry & 0xFFFF);
  const uint32_t number = channel_->chunk(chunk).stream;
  if (number >= kMostStreams) return true;
  Stream& from = stream(number);
  if (from.chunk != chunk) {
    if (from.chunk != Channel::kChunks) {
      read_stream(number, from, ~uint64_t{0});
      release(from.chunk);
    }
    from.chunk = chunk;
    from.read = 0;
  }
  read_stream(number, from, ticket + 1);
  return true;
}

// Up to the record with this ticket, or all there are.
void ChannelReader::read_stream(uint32_t number, Stream& stream, uint64_t last_ticket) {
  const Chunk& chunk = channel_->chunk(stream.chunk);
  const uint32_t filled = std::min(chunk.filled.load(std::memory_order_acquire), Chunk::kRecords);
  bool has_ended = false;
  while (stream.read < filled) {
    const Record record = chunk.records[stream.read++];
    // What is in race with an access is told after it.
    if (record.operation() == runtime::kToldRaceEarlier && record.extra != number)
      read_unordered(record.extra);
    if (record.operation() == runtime::kToldFor) {
      stream.told_for = static_cast<uint32_t>(std::min<uint64_t>(record.name, kMostStreams));
    } else if (record.operation() != runtime::kToldNothing) {
      const uint32_t told_for = std::exchange(stream.told_for, kMostStreams);
      records_.push_back({told_for < kMostStreams ? told_for : number, record});
    }
    has_ended |= record.operation() == static_cast<uint8_t>(Operation::kThreadEnd);
    if (record.ticket == last_ticket) break;
  }
  if (has_ended) {
    release(stream.chunk);
    stream = {};
  }
}

void ChannelReader::read_unordered(uint32_t number) {
  if (number >= streams_.size() || streams_[number].chunk == Channel::kChunks) return;
  Stream& from = streams_[number];
  const Chunk& chunk = channel_->chunk(from.chunk);
  const uint32_t filled = std::min(chunk.filled.load(std::memory_order_acquire), Chunk::kRecords);
  for (; from.read < filled; ++from.read) {
    const Record& record = chunk.records[from.read];
    // A race belongs to the access that comes next, which has a ticket.
    if (record.ticket != 0 || record.operation() == runtime::kToldRaceEarlier) return;
    records_.push_back({number, record});
  }
}

// The program is over: records whose threads did not live to put them on the board, and those without ticket.
void ChannelReader::read_what_is_left() {
  const uint64_t tickets = channel_->tickets.load();
  for (uint64_t ticket = next_ticket_; ticket < tickets && ticket < next_ticket_ + Channel::kPlaces; ++ticket)
    read_ticket(ticket);
  for (uint32_t number = 0; number < streams_.size(); ++number)
    if (streams_[number].chunk != Channel::kChunks) read_stream(number, streams_[number], ~uint64_t{0});
}

void ChannelReader::release(uint32_t chunk) {
  channel_->used_chunks[chunk / 64].fetch_and(~(uint64_t{1} << chunk % 64), std::memory_order_release);
}

ChannelReader::Stream& ChannelReader::stream(uint32_t number) {
  if (number >= streams_.size())
    streams_.resize(std::max<std::size_t>(number + std::size_t{1}, streams_.size() * 2));
  return streams_[number];
}

std::vector<uint64_t> ChannelReader::stack(uint32_t context, std::size_t most) const {
  std::vector<uint64_t> result;
  while (context != 0 && context < Channel::kContexts && result.size() < most) {
    const runtime::Context& here = channel_->context[context];
    result.push_back(here.pc);
    context = here.caller;
  }
  return result;
}

void ChannelReader::name_blocks(std::vector<SpecBlock> blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [](const SpecBlock& a, const SpecBlock& b) { return a.begin < b.begin; });
  auto at =
      static_cast<uint32_t>(Channel::kTextBytes);  // from the end: the program writes from the beginning
  for (const SpecBlock& block : blocks) {
    const auto size = static_cast<uint32_t>(block.name.size() + 1);
    if (channel_->spec_blocks == Channel::kSpecBlocks || at - Channel::kTextBytes / 2 < size) return;
    at -= size;
    std::memcpy(channel_->text + at, block.name.c_str(), size);
    channel_->spec_block[channel_->spec_blocks++] = {block.begin, block.end, block.kind, at};
  }
}

std::string ChannelReader::text(uint64_t offset) const {
  if (offset >= Channel::kTextBytes) return {};
  const char* const begin = channel_->text + offset;
  return std::string(begin, ::strnlen(begin, Channel::kTextBytes - offset));
}

}  // namespace heddle
