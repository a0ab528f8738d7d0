#include "trace/binary_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/error.h"
#include "trace/series.h"

namespace heddle {

namespace {

// Names are written with the next events, or when this many bytes of one space wait.
constexpr std::size_t kMostWaitingText = std::size_t{1024} * 1024;

// So many names that differ in a number are written as such.
constexpr uint32_t kManyNumbered = 64;

// Threads that take turns are often written one right after the other.
constexpr std::size_t kMostSpare = 8;

uint32_t stored_id(uint32_t id) { return id + 1; }  // kNoId becomes 0

uint32_t head_of(const Event& event) {
  return static_cast<uint32_t>(event.operation) | static_cast<uint32_t>(event.order) << 8 |
         static_cast<uint32_t>(event.tries) << 31 | static_cast<uint32_t>(event.size) << 16;
}

}  // namespace

BinaryWriter::BinaryWriter(const std::string& path, Limits limits)
    : file_(std::make_unique<OutputFile>(path)), limits_(limits) {
  write_bytes(file_header());
}

BinaryWriter::BinaryWriter(std::string& memory, Limits limits) : memory_(&memory), limits_(limits) {
  write_bytes(file_header());
}

void BinaryWriter::write(const EventBatch& batch, const Names& names) {
  take_names(names);
  for (const Event& event : batch.events) take_event(event);
}

void BinaryWriter::take_names(const Names& names) {
  for (std::size_t s = 0; s < kSpaces; ++s) {
    const auto space = static_cast<Space>(s);
    const StringTable& table = names.table(space);
    Strings& strings = strings_[s];
    for (auto id = strings.written + strings.waiting(); id < table.size(); ++id) {
      if (const StringTable::Numbered numbered = table.numbered_from(id); numbered.count >= kManyNumbered) {
        take_numbered(space, numbered);
        id += numbered.count - 1;
        continue;
      }
      const std::string_view text = table[id];
      if (text.size() > kMostStringBytes / 2)
        throw InputError(fmt::format("a name of {} bytes is too long for a trace file", text.size()));
      write_numbered(space);
      if (strings.lengths.size() == kMostPerChunk || strings.texts.size() + text.size() > kMostWaitingText)
        write_strings(space);
      strings.lengths.push_back(static_cast<uint32_t>(text.size()));
      strings.texts += text;
    }
  }
  const SiteTable& sites = names.sites();
  for (auto id = static_cast<uint32_t>(sites_written_ + sites_.size()); id < sites.size(); ++id) {
    if (sites_.size() == kMostPerChunk) write_names();
    sites_.push_back(sites[id]);
  }
  const std::vector<VariablePart>& parts = names.parts();
  for (std::size_t i = parts_written_ + parts_.size(); i < parts.size(); ++i) {
    if (parts_.size() == kMostPerChunk) write_names();
    parts_.push_back(parts[i]);
  }
}

void BinaryWriter::take_event(const Event& event) {
  if (event.operation >= Operation::kNested && event.operation != kSeries)
    throw std::logic_error("an event that has no place in a file");
  if (event.thread >= threads_.size()) threads_.resize(event.thread + 1);
  Thread& thread = threads_[event.thread];
  const EventIndex position = next_position_++;
  const bool begins = thread.rows.empty();
  if (begins) {
    if (!spare_.empty()) {
      thread.rows = std::move(spare_.back());
      spare_.pop_back();
    }
    thread.first = position;
    thread.last = position - 1;
  }
  thread.rows.push_back({static_cast<uint32_t>(position - thread.last - 1), head_of(event),
                         stored_id(event.object), stored_id(event.site), stored_id(event.value),
                         stored_id(event.local)});
  thread.last = position;
  if (begins) {
    waiting_.push_back({position, event.thread});
    ++threads_waiting_;
    find_next_overdue();
  }
  if (thread.rows.size() == limits_.chunk_events) write_thread(event.thread);
  while (position >= overdue_at_) write_thread(waiting_.front().thread);
}

bool BinaryWriter::waits(const Waiting& waiting) const {
  const Thread& thread = threads_[waiting.thread];
  return !thread.rows.empty() && thread.first == waiting.since;
}

// Threads that take turns fill their chunks before the first is overdue (the one more is a thread that has
// just been written and goes on). With more of them than longest_wait has room for, chunks get smaller
// instead.
void BinaryWriter::find_next_overdue() {
  while (!waiting_.empty() && !waits(waiting_.front())) waiting_.pop_front();
  if (waiting_.empty()) {
    overdue_at_ = next_position_ + limits_.longest_wait;
    return;
  }
  const uint64_t wait =
      std::min<uint64_t>(limits_.longest_wait, uint64_t{limits_.chunk_events} * (threads_waiting_ + 1));
  overdue_at_ = waiting_.front().since + wait;
}

// A reader that stops anywhere must know the names of all events before that point.
void BinaryWriter::write_names() {
  for (std::size_t s = 0; s < kSpaces; ++s) {
    write_strings(static_cast<Space>(s));
    write_numbered(static_cast<Space>(s));
  }
  write_sites();
  write_parts();
}

void BinaryWriter::write_strings(Space space) {
  Strings& strings = strings_[static_cast<std::size_t>(space)];
  if (strings.lengths.empty()) return;
  payload_.clear();
  for (const uint32_t length : strings.lengths) put_number(payload_, length);
  payload_ += strings.texts;
  ChunkHeader header;
  header.kind = ChunkKind::kStrings;
  header.detail = static_cast<uint32_t>(space);
  header.count = static_cast<uint32_t>(strings.lengths.size());
  header.first = strings.written;
  header.last = header.first + header.count - 1;
  write_chunk(header, payload_, payload_.size());
  strings.written += header.count;
  strings.lengths.clear();
  strings.texts.clear();
}

void BinaryWriter::take_numbered(Space space, StringTable::Numbered names) {
  write_strings(space);
  Strings& strings = strings_[static_cast<std::size_t>(space)];
  while (names.count > 0) {
    if (strings.all_numbered == kMostPerChunk || strings.numbered.size() > kMostWaitingText)
      write_numbered(space);
    const uint32_t count = std::min(names.count, kMostPerChunk - strings.all_numbered);
    put_number(strings.numbered, count);
    put_number(strings.numbered, names.number);
    put_number(strings.numbered, static_cast<uint32_t>(names.before.size()));
    strings.numbered += names.before;
    strings.all_numbered += count;
    names.number += count;
    names.count -= count;
  }
}

void BinaryWriter::write_numbered(Space space) {
  Strings& strings = strings_[static_cast<std::size_t>(space)];
  if (strings.all_numbered == 0) return;
  ChunkHeader header;
  header.kind = ChunkKind::kNumbered;
  header.detail = static_cast<uint32_t>(space);
  header.count = strings.all_numbered;
  header.first = strings.written;
  header.last = header.first + header.count - 1;
  write_chunk(header, strings.numbered, strings.numbered.size());
  strings.written += header.count;
  strings.all_numbered = 0;
  strings.numbered.clear();
}

void BinaryWriter::write_sites() {
  if (sites_.empty()) return;
  payload_.clear();
  for (const SiteTable::Site& site : sites_) put_number(payload_, stored_id(site.frame));
  for (const SiteTable::Site& site : sites_) put_number(payload_, stored_id(site.caller));
  ChunkHeader header;
  header.kind = ChunkKind::kSites;
  header.count = static_cast<uint32_t>(sites_.size());
  header.first = sites_written_;
  header.last = header.first + header.count - 1;
  write_chunk(header, payload_, payload_.size());
  sites_written_ += header.count;
  sites_.clear();
}

void BinaryWriter::write_parts() {
  if (parts_.empty()) return;
  payload_.clear();
  for (const VariablePart& part : parts_) put_number(payload_, part.variable);
  for (const VariablePart& part : parts_) put_number(payload_, part.whole);
  ChunkHeader header;
  header.kind = ChunkKind::kParts;
  header.count = static_cast<uint32_t>(parts_.size());
  header.first = parts_written_;
  header.last = header.first + header.count - 1;
  write_chunk(header, payload_, payload_.size());
  parts_written_ += header.count;
  parts_.clear();
}

void BinaryWriter::write_thread(ThreadId id) {
  Thread& thread = threads_[id];
  if (thread.rows.empty()) return;
  write_names();

  Row used{};  // every bit set in some row
  for (const Row& row : thread.rows)
    for (std::size_t c = 0; c < kColumns; ++c) used[c] |= row[c];

  const std::size_t count = thread.rows.size();
  ChunkHeader header;
  header.thread = id;
  header.count = static_cast<uint32_t>(count);
  header.first = thread.first;
  header.last = thread.last;
  payload_.clear();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const std::size_t column = plane / kPlanesPerColumn;
    const std::size_t shift = plane % kPlanesPerColumn * 8;
    if ((used[column] >> shift & 0xFF) == 0) continue;
    header.detail |= 1u << plane;
    const std::size_t start = payload_.size();
    payload_.resize(start + count);
    char* to = payload_.data() + start;
    const Row* rows = thread.rows.data();
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<char>(rows[i][column] >> shift & 0xFF);
  }
  write_chunk(header, payload_, count);
  thread.rows.clear();
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(thread.rows));
  thread.rows = {};
  --threads_waiting_;
  find_next_overdue();
}

void BinaryWriter::write_all_threads() {
  for (ThreadId id = 0; id < threads_.size(); ++id) write_thread(id);
}

void BinaryWriter::write_chunk(ChunkHeader& header, std::string_view payload, std::size_t piece) {
  write_bytes(packer_.pack(header, payload, piece));
  put_chunk_header(index_, header);
  ++chunks_;
}

void BinaryWriter::write_bytes(std::string_view bytes) {
  if (file_) {
    file_->write(bytes);
  } else {
    memory_->append(bytes);
  }
  offset_ += bytes.size();
}

void BinaryWriter::finish() {
  write_all_threads();
  write_names();
  const uint64_t index_offset = offset_;
  // An index too large for a chunk is left out; the file is then read like one that was cut off here.
  if (index_.size() <= UINT32_MAX) {
    ChunkHeader header;
    header.kind = ChunkKind::kIndex;
    header.count = chunks_;
    write_bytes(packer_.pack(header, index_, index_.size()));
  }
  std::string trailer;
  put_number(trailer, index_offset);
  trailer += kTrailerMagic;
  write_bytes(trailer);
  if (file_) file_->commit();
}

}  // namespace heddle
