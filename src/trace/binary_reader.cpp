#include "trace/binary_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "trace/chunk_codec.h"

namespace heddle {

namespace {

constexpr std::size_t kSmallWindow = 1024;  // events; fits the first-level cache
constexpr std::size_t kLargeWindow = 65536;
constexpr std::size_t kEventsPerVisit = 16;  // that a window should have for each open chunk, on average

std::unique_ptr<InputFile> require_regular(std::unique_ptr<InputFile> file) {
  if (!file->is_regular())
    throw InputError(
        fmt::format("{}: a binary trace cannot be read from a pipe; save it to a file first", file->path()));
  return file;
}

}  // namespace

BinaryReader::BinaryReader(std::unique_ptr<InputFile> file)
    : name_(file->path()), bytes_(std::make_unique<FileBytes>(require_regular(std::move(file)))) {
  open();
}

BinaryReader::BinaryReader(std::string name, std::string_view content)
    : name_(std::move(name)), bytes_(std::make_unique<MemoryBytes>(content)) {
  open();
}

void BinaryReader::open() {
  info_.bytes = bytes_->size();
  read_file_header();
  if (!load_index()) scan_chunks();
  take_chunks();
}

void BinaryReader::read_file_header() {
  const std::string_view header = bytes_->read(0, kFileHeaderSize);
  if (!recognizes(header)) throw InputError(fmt::format("{}: not a binary trace", name_));
  if (header.size() < kFileHeaderSize)
    throw InputError(
        fmt::format("{}: cut off within the first {} bytes; nothing can be read", name_, kFileHeaderSize));
  info_.version = get_number<uint32_t>(header.data() + kBinaryMagic.size());
  if (info_.version < kOldestVersion || info_.version > kBinaryVersion)
    throw InputError(
        fmt::format("{}: has trace format version {}, but this Heddle reads versions {} to {}; use the "
                    "Heddle that wrote it, or record again",
                    name_, info_.version, kOldestVersion, kBinaryVersion));
  if (const auto flags = get_number<uint32_t>(header.data() + kBinaryMagic.size() + 4); flags != 0)
    throw InputError(
        fmt::format("{}: has unknown flags {:#x} at offset {}", name_, flags, kBinaryMagic.size() + 4));
}

// The index is the headers of all chunks; where each stands follows from the sizes before it. False when the
// file does not end in a good index, which is no error: it was cut off.
bool BinaryReader::load_index() {
  const uint64_t size = bytes_->size();
  if (size < kFileHeaderSize + kChunkHeaderSize + kTrailerSize) return false;
  const std::string_view trailer = bytes_->read(size - kTrailerSize, kTrailerSize);
  if (trailer.size() != kTrailerSize || trailer.substr(8) != kTrailerMagic) return false;
  const auto index_offset = get_number<uint64_t>(trailer.data());
  if (index_offset < kFileHeaderSize || index_offset > size - kTrailerSize - kChunkHeaderSize) return false;
  const std::string_view header_bytes = bytes_->read(index_offset, kChunkHeaderSize);
  if (header_bytes.size() != kChunkHeaderSize) return false;
  const Chunk index{index_offset, get_chunk_header(header_bytes)};
  if (index.header.kind != ChunkKind::kIndex || !flaw_of(index.header).empty() ||
      index.header.stored_size != size - kTrailerSize - kChunkHeaderSize - index_offset)
    return false;
  std::string_view entries;
  try {
    entries = payload_of(index);
  } catch (const InputError&) {
    return false;
  }
  uint64_t offset = kFileHeaderSize;
  chunks_.reserve(index.header.count + 1);
  for (; !entries.empty(); entries.remove_prefix(kChunkHeaderSize)) {
    const ChunkHeader header = get_chunk_header(entries);
    if (!flaw_of(header).empty() || header.kind == ChunkKind::kIndex || offset >= index_offset) break;
    chunks_.push_back({offset, header});
    offset += kChunkHeaderSize + header.stored_size;
  }
  if (!entries.empty() || offset != index_offset) {
    chunks_.clear();
    return false;
  }
  chunks_.push_back(index);
  info_.complete = true;
  return true;
}

// Goes from chunk to chunk as long as they are intact. Ends at the index if only what follows it is damaged.
void BinaryReader::scan_chunks() {
  const uint64_t size = bytes_->size();
  uint64_t offset = kFileHeaderSize;
  while (size - offset >= kChunkHeaderSize) {
    const std::string_view bytes = bytes_->read(offset, kChunkHeaderSize);
    if (bytes.size() != kChunkHeaderSize) return;
    const Chunk chunk{offset, get_chunk_header(bytes)};
    if (!flaw_of(chunk.header).empty() || chunk.header.stored_size > size - offset - kChunkHeaderSize) return;
    try {
      stored_bytes(chunk);
    } catch (const InputError&) {
      return;
    }
    chunks_.push_back(chunk);
    offset += kChunkHeaderSize + chunk.header.stored_size;
    if (chunk.header.kind == ChunkKind::kIndex) {
      info_.complete = true;
      return;
    }
  }
}

// Loads the names, and keeps the chunks with events in the order in which the merge needs them.
void BinaryReader::take_chunks() {
  for (const Chunk& chunk : chunks_) {
    BinaryInfo::Chunks& kind = info_.by_kind[index_of(chunk.header.kind)];
    ++kind.chunks;
    kind.entries += chunk.header.count;
    kind.stored_bytes += kChunkHeaderSize + chunk.header.stored_size;
    kind.payload_bytes += chunk.header.payload_size;
    if (chunk.header.kind == ChunkKind::kStrings) load_strings(chunk);
    if (chunk.header.kind == ChunkKind::kNumbered) load_numbered(chunk);
  }
  for (const Chunk& chunk : chunks_)
    if (chunk.header.kind == ChunkKind::kSites) load_sites(chunk);
  for (const Chunk& chunk : chunks_)
    if (chunk.header.kind == ChunkKind::kParts) load_parts(chunk);
  if (const std::string_view flaw = parts_.complete(); !flaw.empty())
    throw InputError(fmt::format("{}: damaged: {}", name_, flaw));
  info_.threads = names_.table(Space::kThread).size();
  info_.events = info_.by_kind[index_of(ChunkKind::kEvents)].entries;
  limits_ = EventLimits(names_);

  std::erase_if(chunks_, [](const Chunk& chunk) { return chunk.header.kind != ChunkKind::kEvents; });
  std::vector<uint64_t> next_of_thread(info_.threads);
  for (const Chunk& chunk : chunks_) {
    check_order_of(chunk, next_of_thread);
    end_ = std::max(end_, chunk.header.last + 1);
  }
  if (info_.complete && end_ != info_.events)
    throw InputError(fmt::format("{}: damaged: it holds {}, but their positions go up to {}", name_,
                                 counted(info_.events, "event"), end_ - 1));
  std::sort(chunks_.begin(), chunks_.end(),
            [](const Chunk& a, const Chunk& b) { return a.header.first < b.header.first; });
}

void BinaryReader::check_order_of(const Chunk& chunk, std::vector<uint64_t>& next_of_thread) const {
  const ChunkHeader& header = chunk.header;
  if (header.thread >= next_of_thread.size())
    fail(chunk.offset, fmt::format("it is of thread {}, which the file does not name", header.thread));
  uint64_t& next = next_of_thread[header.thread];
  if (header.first < next)
    fail(chunk.offset, fmt::format("its first event, {}, does not follow the thread's last one, {}",
                                   header.first, next - 1));
  next = header.last + 1;
}

StringTable& BinaryReader::table_of(const Chunk& chunk) {
  StringTable& table = names_.table(static_cast<Space>(chunk.header.detail));
  if (chunk.header.first != table.size())
    fail(chunk.offset,
         fmt::format("its first name is number {}, but {} is next", chunk.header.first, table.size()));
  return table;
}

void BinaryReader::load_numbered(const Chunk& chunk) {
  StringTable& table = table_of(chunk);
  uint32_t left = chunk.header.count;
  for (std::string_view payload = payload_of(chunk); !payload.empty();) {
    if (payload.size() < kNumberedHeadSize) fail(chunk.offset, "its names end too early");
    const auto count = get_number<uint32_t>(payload.data());
    const auto number = get_number<uint32_t>(payload.data() + 4);
    const auto length = get_number<uint32_t>(payload.data() + 8);
    payload.remove_prefix(kNumberedHeadSize);
    if (length > payload.size()) fail(chunk.offset, "a name is longer than the chunk");
    if (count == 0 || count > left || number > UINT32_MAX - count)
      fail(chunk.offset, "its names are not as many as it says");
    table.append_numbered(payload.substr(0, length), number, count);
    payload.remove_prefix(length);
    left -= count;
  }
  if (left != 0) fail(chunk.offset, "its names are not as many as it says");
}

void BinaryReader::load_strings(const Chunk& chunk) {
  StringTable& table = table_of(chunk);
  const std::string_view payload = payload_of(chunk);
  std::string_view texts = payload.substr(std::size_t{4} * chunk.header.count);
  for (std::size_t i = 0; i < chunk.header.count; ++i) {
    const auto length = get_number<uint32_t>(payload.data() + 4 * i);
    if (length > texts.size()) fail(chunk.offset, "a name is longer than the chunk");
    table.append(texts.substr(0, length));
    texts.remove_prefix(length);
  }
  if (!texts.empty()) fail(chunk.offset, "there are bytes after its last name");
}

void BinaryReader::load_sites(const Chunk& chunk) {
  SiteTable& sites = names_.sites();
  if (chunk.header.first != sites.size())
    fail(chunk.offset,
         fmt::format("its first site is number {}, but {} is next", chunk.header.first, sites.size()));
  const char* const payload = payload_of(chunk).data();
  const uint32_t frames = names_.table(Space::kFrame).size();
  for (std::size_t i = 0; i < chunk.header.count; ++i) {
    const SiteTable::Site site{get_number<uint32_t>(payload + 4 * i) - 1,
                               get_number<uint32_t>(payload + 4 * (chunk.header.count + i)) - 1};
    if (site.frame >= frames)
      fail(chunk.offset, fmt::format("site {} has a frame the file does not name", sites.size()));
    if (site.caller != kNoId && site.caller >= sites.size())
      fail(chunk.offset, fmt::format("site {} is called from a later one", sites.size()));
    sites.append(site);
  }
}

void BinaryReader::load_parts(const Chunk& chunk) {
  if (chunk.header.first != parts_loaded_)
    fail(chunk.offset,
         fmt::format("its first part is number {}, but {} is next", chunk.header.first, parts_loaded_));
  const char* const payload = payload_of(chunk).data();
  const uint32_t variables = names_.table(Space::kVariable).size();
  for (std::size_t i = 0; i < chunk.header.count; ++i, ++parts_loaded_) {
    const VariablePart part{get_number<uint32_t>(payload + 4 * i),
                            get_number<uint32_t>(payload + 4 * (chunk.header.count + i))};
    if (part.variable >= variables)
      fail(chunk.offset, fmt::format("part {} is a variable the file does not name", parts_loaded_));
    if (const std::string_view flaw = parts_.add(part); !flaw.empty()) fail(chunk.offset, std::string(flaw));
  }
}

std::string_view BinaryReader::stored_bytes(const Chunk& chunk) {
  const std::string_view bytes = bytes_->read(chunk.offset, kChunkHeaderSize + chunk.header.stored_size);
  if (bytes.size() != kChunkHeaderSize + chunk.header.stored_size)
    fail(chunk.offset, "the file ends within it");
  const std::string_view stored = bytes.substr(kChunkHeaderSize);
  if (get_chunk_header(bytes) != chunk.header ||
      chunk_checksum(chunk.header, stored) != chunk.header.checksum)
    fail(chunk.offset, "it is damaged (its checksum does not match)");
  return stored;
}

std::string_view BinaryReader::payload_of(const Chunk& chunk) {
  const std::string_view stored = stored_bytes(chunk);
  payload_.resize(chunk.header.payload_size);
  if (!unpack(chunk.header, stored, payload_)) fail(chunk.offset, "it cannot be decompressed");
  return payload_;
}

void BinaryReader::open_chunks_before(EventIndex end) {
  for (; next_chunk_ < chunks_.size() && chunks_[next_chunk_].header.first < end; ++next_chunk_) {
    const Chunk& chunk = chunks_[next_chunk_];
    const std::string_view stored = stored_bytes(chunk);
    if (closed_.empty()) closed_.push_back(std::make_unique<ChunkCursor>());
    open_.push_back(std::move(closed_.back()));
    closed_.pop_back();
    if (!unpack(chunk.header, stored, open_.back()->open(chunk.header, chunk.offset, limits_)))
      fail(chunk.offset, "it cannot be decompressed");
  }
}

// Each open chunk is visited once a window: with many of them, a larger window keeps the visits worth their
// cost.
std::size_t BinaryReader::window_size() const {
  const std::size_t wanted = std::clamp(open_.size() * kEventsPerVisit, kSmallWindow, kLargeWindow);
  return static_cast<std::size_t>(std::min<uint64_t>(wanted, end_ - position_));
}

EventBatch BinaryReader::next() {
  if (names_.table(Space::kRun).size() == 0 && parts_.empty()) return next_stored();
  EventBatch told = next_told();
  if (!parts_.empty()) {
    parts_.resolve(told.events, resolved_, names_);
    told.events = resolved_;
  }
  told.first = handed_out_;
  handed_out_ += told.events.size();
  return told;
}

EventBatch BinaryReader::next_told() {
  if (names_.table(Space::kRun).size() == 0) return next_stored();
  told_.clear();
  while (told_.empty()) {  // a series may come to nothing
    if (replaced_ == stored_.events.size()) {
      stored_ = next_stored();
      replaced_ = 0;
      if (stored_.empty()) break;
    }
    for (; replaced_ < stored_.events.size() && told_.size() < kLargeWindow; ++replaced_) {
      const Event& event = stored_.events[replaced_];
      if (event.operation != kSeries) {
        told_.push_back(event);
      } else if (!series_.add_events(event, told_)) {
        throw InputError(fmt::format("{}: damaged: event {} is a series that cannot be", name_,
                                     stored_.first + replaced_));
      }
    }
  }
  return {stored_.first, told_};
}

EventBatch BinaryReader::next_stored() {
  if (ended_ || position_ == end_) return {position_, {}};
  window_.resize(window_size());
  for (Event& event : window_) event.thread = kNoId;  // marks an empty slot
  open_chunks_before(position_ + window_.size());

  std::size_t written = 0;
  for (std::size_t i = 0; i < open_.size();) {
    try {
      written += open_[i]->scatter(position_, window_);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", name_, error.what()));
    }
    if (open_[i]->exhausted()) {
      closed_.push_back(std::move(open_[i]));
      open_[i] = std::move(open_.back());
      open_.pop_back();
    } else {
      ++i;
    }
  }

  // Every slot filled and no more events than slots: none was written twice.
  const auto empty = [](const Event& event) { return event.thread == kNoId; };
  const auto first_empty = std::find_if(window_.begin(), window_.end(), empty);
  const auto filled =
      window_.size() - static_cast<std::size_t>(std::count_if(first_empty, window_.end(), empty));
  if (written != filled)
    throw InputError(fmt::format("{}: damaged: two events have the same position, between {} and {}", name_,
                                 position_, position_ + window_.size() - 1));
  if (first_empty != window_.end()) {
    const auto missing = static_cast<std::size_t>(first_empty - window_.begin());
    if (info_.complete)
      throw InputError(fmt::format("{}: damaged: event {} is missing", name_, position_ + missing));
    window_.resize(missing);
    ended_ = true;
  }
  const EventBatch batch{position_, window_};
  position_ += window_.size();
  return batch;
}

std::string BinaryReader::where(EventIndex index) const { return fmt::format("{}: event {}", name_, index); }

std::string BinaryReader::note() const {
  if (info_.complete) return {};
  return fmt::format("{} was cut off: {} could be read, later ones are lost", name_,
                     counted(position_, "event"));
}

double BinaryReader::progress() const {
  return end_ == 0 ? 1 : static_cast<double>(position_) / static_cast<double>(end_);
}

void BinaryReader::fail(uint64_t offset, const std::string& what) const {
  throw InputError(fmt::format("{}: chunk at offset {}: {}", name_, offset, what));
}

}  // namespace heddle
