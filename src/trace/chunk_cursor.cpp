#include "trace/chunk_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "trace/series.h"

namespace heddle {

namespace {

constexpr uint32_t kOperationMask = 0x3F;
constexpr uint32_t kBeyondOperation = 0xC0;  // bits of the head no operation sets
constexpr uint32_t kBeyondOrder = 0xF800;    // and no order; the highest bit of all is Event::tries
static_assert(kStoredOperations <= kOperationMask + 1 && kMemoryOrders <= 8);

constexpr uint32_t key_of(uint32_t head) {
  return (head & kOperationMask) | (head >> 2 & 0x1C0) | (head >> 22 & 0x200);
}
static_assert(key_of(0x0502) == (2 | 5 << 6) && key_of(0x8000'0006) == (6 | 1 << 9));

bool takes_order(Operands operands) { return operands == Operands::kOrder || operands == Operands::kFence; }

bool may_have_order(Operands operands, MemoryOrder order) {
  if (operands == Operands::kSync)
    return order == MemoryOrder::kPlain || order == MemoryOrder::kRelease || order == MemoryOrder::kAcquire;
  if (operands == Operands::kAcquisition)
    return order == MemoryOrder::kPlain || order == MemoryOrder::kAcqRel;
  return takes_order(operands) == (order != MemoryOrder::kPlain);
}

// Whether the highest bit may be set.
bool takes_mark(Operands operands) {
  return operands == Operands::kAcquisition || operands == Operands::kEndOfLife;
}

bool takes_value(Operands operands) {
  return operands == Operands::kRead || operands == Operands::kWrite || operands == Operands::kOrder;
}

bool needs_object(Operands operands) {
  switch (operands) {
    case Operands::kName:
    case Operands::kAcquisition:
    case Operands::kEndOfLife:
    case Operands::kSync:
    case Operands::kRead:
    case Operands::kWrite:
    case Operands::kOrder:
    case Operands::kAssign:
    case Operands::kNumber: return true;
    case Operands::kNone:
    case Operands::kOptionalName:
    case Operands::kBlock:
    case Operands::kFence: return false;
  }
  return false;
}

}  // namespace

EventLimits::EventLimits(const Names& names) : most_site_(names.sites().size()) {
  if (const uint32_t runs = names.table(Space::kRun).size(); runs > 0)
    object_[static_cast<uint32_t>(kSeries)] = {1, runs - 1};
  most_local_[static_cast<uint32_t>(kSeries)] = names.table(Space::kLocal).size();
  for (std::size_t i = 0; i < kStoredOperations; ++i) {
    const OperationInfo& operation = kOperationInfo[i];
    const uint32_t least = needs_object(operation.operands) ? 1 : 0;
    const uint32_t most = operation.space == Space::kNone ? 0 : names.table(operation.space).size();
    for (std::size_t order = 0; order < kMemoryOrders; ++order) {
      if (!may_have_order(operation.operands, static_cast<MemoryOrder>(order))) continue;
      if (least <= most) object_[i | order << 6] = {least, most - least};
    }
    if (takes_mark(operation.operands)) object_[i | 1 << 9] = object_[i];
    if (operation.operands == Operands::kNumber) most_value_[i] = names.table(Space::kValue).size();
    if (takes_value(operation.operands)) {
      most_value_[i] = names.table(Space::kValue).size();
      most_local_[i] = names.table(Space::kLocal).size();
    }
    if (operation.operands == Operands::kAssign) most_local_[i] = names.table(Space::kLocalList).size();
  }
}

bool EventLimits::accepts(const std::array<const uint32_t*, kColumns>& columns, std::size_t count,
                          bool has_value, bool has_local) const {
  const uint32_t* const head = columns[kHeadColumn];
  const uint32_t* const object = columns[kObjectColumn];
  const uint32_t* const site = columns[kSiteColumn];
  uint32_t bad = 0;
  // Two loops, so that the one without table look-ups becomes vector code.
  for (std::size_t i = 0; i < count; ++i) {
    bad |= head[i] & (kBeyondOperation | kBeyondOrder);
    bad |= object[i] == kNoId ? 1u : 0u;  // the one value an impossible operation's range lets through
    bad |= site[i] > most_site_ ? 1u : 0u;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Range range = object_[key_of(head[i])];
    bad |= object[i] - range.least > range.spread ? 1u : 0u;
  }
  if (has_value)
    for (std::size_t i = 0; i < count; ++i)
      bad |= columns[kValueColumn][i] > most_value_[head[i] & kOperationMask] ? 1u : 0u;
  if (has_local)
    for (std::size_t i = 0; i < count; ++i)
      bad |= columns[kLocalColumn][i] > most_local_[head[i] & kOperationMask] ? 1u : 0u;
  return bad == 0;
}

std::string EventLimits::flaw_of(const std::array<uint32_t, kColumns>& event) const {
  const uint32_t head = event[kHeadColumn];
  const uint32_t operation = head & 0xFF;
  const uint32_t order = head >> 8 & 0xFF;
  if (operation == static_cast<uint32_t>(kSeries) && (head >> 8) == 0) {
    if (event[kObjectColumn] == 0 || event[kObjectColumn] > object_[operation].spread + 1 ||
        object_[operation].least == kNoId)
      return "a series that the file does not have";
    return event[kSiteColumn] > most_site_ || event[kValueColumn] != 0 ||
                   event[kLocalColumn] > most_local_[operation]
               ? "a series with fields that it cannot have"
               : std::string();
  }
  if (operation >= kStoredOperations) return fmt::format("operation {} does not exist", operation);
  const OperationInfo& info = kOperationInfo[operation];
  if (order >= kMemoryOrders) return fmt::format("memory order {} does not exist", order);
  if (takes_order(info.operands) != (order != 0))
    return fmt::format("'{}' with memory order {} does not exist", info.spelling, order);
  if (head >> 31 != 0 && !takes_mark(info.operands))
    return fmt::format("'{}' as a try does not exist", info.spelling);
  const auto past = [&](std::string_view what, uint32_t stored) {
    return fmt::format("'{}' with {} {}, which the file does not name", info.spelling, what,
                       int64_t{stored} - 1);
  };
  const Range range = object_[key_of(head)];
  const uint32_t object = event[kObjectColumn];
  if (object == 0 && needs_object(info.operands)) return fmt::format("'{}' without operand", info.spelling);
  if (object - range.least > range.spread || object == kNoId) return past("operand", object);
  if (event[kSiteColumn] > most_site_) return past("site", event[kSiteColumn]);
  if (event[kValueColumn] > most_value_[operation]) return past("value", event[kValueColumn]);
  if (event[kLocalColumn] > most_local_[operation]) return past("local", event[kLocalColumn]);
  return {};
}

std::span<char> ChunkCursor::open(const ChunkHeader& header, uint64_t offset, const EventLimits& limits) {
  header_ = header;
  offset_ = offset;
  limits_ = &limits;
  decoded_ = filled_ = next_ = 0;
  distance_ = 0;
  if (header.payload_size > capacity_) {
    payload_ = std::make_unique_for_overwrite<char[]>(header.payload_size);
    capacity_ = header.payload_size;
  }
  const char* start = payload_.get();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    plane_[plane] = (header.detail >> plane & 1) != 0 ? start : nullptr;
    if (plane_[plane] != nullptr) start += header.count;
  }
  // A column without planes is zero in every block, so it is decoded here once and for all.
  for (std::size_t column = 0; column < kColumns; ++column)
    if ((header.detail >> (column * kPlanesPerColumn) & 0xF) == 0) block_[column].fill(0);
  return {payload_.get(), header.payload_size};
}

void ChunkCursor::decode_column(std::size_t column, std::size_t count) {
  static constexpr std::array<char, kBlock> kZeros{};
  std::array<const uint8_t*, kPlanesPerColumn> plane;
  std::size_t planes = 0;  // up to the highest stored one
  for (std::size_t i = 0; i < kPlanesPerColumn; ++i) {
    const char* const start = plane_[column * kPlanesPerColumn + i];
    if (start != nullptr) planes = i + 1;
    plane[i] = reinterpret_cast<const uint8_t*>(start != nullptr ? start + decoded_ : kZeros.data());
  }
  const uint8_t* const p0 = plane[0];
  const uint8_t* const p1 = plane[1];
  const uint8_t* const p2 = plane[2];
  const uint8_t* const p3 = plane[3];
  uint32_t* const to = block_[column].data();
  switch (planes) {
    case 1:
      for (std::size_t i = 0; i < count; ++i) to[i] = p0[i];
      return;
    case 2:
      for (std::size_t i = 0; i < count; ++i) to[i] = p0[i] | uint32_t{p1[i]} << 8;
      return;
    case 3:
      for (std::size_t i = 0; i < count; ++i) to[i] = p0[i] | uint32_t{p1[i]} << 8 | uint32_t{p2[i]} << 16;
      return;
    case 4:
      for (std::size_t i = 0; i < count; ++i)
        to[i] = p0[i] | uint32_t{p1[i]} << 8 | uint32_t{p2[i]} << 16 | uint32_t{p3[i]} << 24;
      return;
    default: return;  // no plane: open() has filled the column with zeros
  }
}

void ChunkCursor::decode_block() {
  const std::size_t count = std::min<std::size_t>(kBlock, header_.count - decoded_);
  for (std::size_t column = 0; column < kColumns; ++column) decode_column(column, count);

  const auto has = [&](Column column) { return (header_.detail >> (column * kPlanesPerColumn) & 0xF) != 0; };
  const std::array<const uint32_t*, kColumns> columns = {block_[0].data(), block_[1].data(),
                                                         block_[2].data(), block_[3].data(),
                                                         block_[4].data(), block_[5].data()};
  if (!limits_->accepts(columns, count, has(kValueColumn), has(kLocalColumn))) {
    for (std::size_t i = 0; i < count; ++i) {
      std::array<uint32_t, kColumns> event;
      for (std::size_t c = 0; c < kColumns; ++c) event[c] = block_[c][i];
      if (const std::string flaw = limits_->flaw_of(event); !flaw.empty())
        fail(fmt::format("event {} of the chunk: {}", decoded_ + i, flaw));
    }
  }

  uint32_t* const gaps = block_[kGapColumn].data();
  if (!has(kGapColumn)) block_[kGapColumn].fill(0);  // distances of the block before stand there
  if (decoded_ == 0 && gaps[0] != 0) fail("its first event is not at the position it claims");
  uint64_t distance = distance_;
  for (std::size_t i = 0; i < count; ++i) {
    distance += uint64_t{gaps[i]} + 1;
    gaps[i] = static_cast<uint32_t>(distance - 1);
  }
  distance_ = distance;
  decoded_ += static_cast<uint32_t>(count);
  // Distances only grow, so this also says that none in the block was too large for its 32 bits.
  const uint64_t most = header_.last - header_.first + 1;
  if (distance > most || (decoded_ == header_.count && distance != most))
    fail("its last event is not at the position it claims");
  filled_ = static_cast<uint32_t>(count);
  next_ = 0;
}

std::size_t ChunkCursor::scatter(EventIndex base, std::span<Event> window) {
  const uint64_t shift = header_.first - base;  // may wrap around; adding a distance wraps it back
  const ThreadId thread = header_.thread;
  std::size_t written = 0;
  for (;;) {
    if (next_ == filled_) {
      if (decoded_ == header_.count) return written;
      decode_block();
    }
    const uint32_t start = next_;
    uint32_t i = start;
    for (; i < filled_; ++i) {
      const uint64_t slot = shift + block_[kGapColumn][i];
      if (slot >= window.size()) break;
      const uint32_t head = block_[kHeadColumn][i];
      Event event{.operation = static_cast<Operation>(head & 0xFF),
                  .order = static_cast<MemoryOrder>(head >> 8 & 0xFF),
                  .thread = thread,
                  .object = block_[kObjectColumn][i] - 1,
                  .site = block_[kSiteColumn][i] - 1,
                  .value = block_[kValueColumn][i] - 1,
                  .local = block_[kLocalColumn][i] - 1};
      event.size = head >> 16 & 0x7FFF;
      event.tries = head >> 31 != 0;
      window[slot] = event;
    }
    written += i - start;
    next_ = i;
    if (i < filled_) return written;
  }
}

void ChunkCursor::fail(const std::string& what) const {
  throw InputError(fmt::format("chunk at offset {}: {}", offset_, what));
}

}  // namespace heddle
