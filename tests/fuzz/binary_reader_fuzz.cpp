// The binary reader and the check that follows it, on any bytes.
#include "trace/binary_reader.h"

#include "base/error.h"
#include "sample_traces.h"
#include "target.h"
#include "trace/binary_writer.h"
#include "trace/chunk_codec.h"
#include "trace/text_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    heddle::BinaryReader reader("input", std::string_view(reinterpret_cast<const char*>(data), size));
    heddle::fuzz::read_all(reader);
  } catch (const heddle::InputError&) {
    // the right answer to a bad input
  }
  return 0;
}

namespace heddle::fuzz {

namespace {

std::string binary(const std::string& text, BinaryWriter::Limits limits) {
  TextReader reader("seed", text);
  std::string bytes;
  BinaryWriter writer(bytes, limits);
  for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
    writer.write(batch, reader.names());
  writer.finish();
  return bytes;
}

// One with variables that have parts.
std::string recording() {
  Names names;
  names.table(Space::kThread).append("main");
  for (const char* name : {"x", "y", "x#2", "x#3", "x#4", "x#5"}) names.table(Space::kVariable).append(name);
  names.parts() = {{2, 0}, {3, 0}, {4, 3}, {5, 3}};
  std::vector<Event> events(12);
  for (uint32_t i = 0; i < events.size(); ++i) events[i].object = i % 6;
  std::string bytes;
  BinaryWriter writer(bytes, {.chunk_events = 4});
  writer.write({0, events}, names);
  writer.finish();
  return bytes;
}

void put_at(std::string& bytes, std::size_t offset, const ChunkHeader& header) {
  std::string encoded;
  put_chunk_header(encoded, header);
  bytes.replace(offset, encoded.size(), encoded);
}

// Calls visit(offset, header) for the chunks of a file as far as their sizes make sense. Returns where they
// end.
template <typename Visit>
std::size_t for_each_chunk(const std::string& bytes, Visit visit) {
  std::size_t offset = kFileHeaderSize;
  while (offset + kChunkHeaderSize <= bytes.size()) {
    const ChunkHeader header = get_chunk_header(std::string_view(bytes).substr(offset, kChunkHeaderSize));
    if (header.kind == ChunkKind::kIndex || header.stored_size > bytes.size() - offset - kChunkHeaderSize)
      break;
    visit(offset, header);
    offset += kChunkHeaderSize + header.stored_size;
  }
  return offset;
}

// Replaces whatever follows the chunks by an index of them.
void add_index(std::string& bytes) {
  std::string index;
  ChunkHeader header;
  header.kind = ChunkKind::kIndex;
  bytes.resize(for_each_chunk(bytes, [&](std::size_t, const ChunkHeader& chunk) {
    put_chunk_header(index, chunk);
    ++header.count;
  }));
  const std::size_t offset = bytes.size();
  header.stored_size = header.payload_size = static_cast<uint32_t>(index.size());
  header.checksum = chunk_checksum(header, index);
  put_chunk_header(bytes, header);
  bytes += index;
  put_number(bytes, uint64_t{offset});
  bytes += kTrailerMagic;
}

// Of a file of that version.
std::string header_of(uint32_t version) {
  std::string header(kBinaryMagic);
  put_number(header, version);
  return header + file_header().substr(header.size());
}

// The same file without compression, so that mutations reach what the chunks hold.
std::string uncompressed(const std::string& bytes) {
  std::string result = file_header();
  for_each_chunk(bytes, [&](std::size_t offset, ChunkHeader header) {
    std::string payload(header.payload_size, '\0');
    unpack(header, std::string_view(bytes).substr(offset + kChunkHeaderSize, header.stored_size), payload);
    header.stored_size = header.payload_size;
    header.checksum = chunk_checksum(header, payload);
    put_chunk_header(result, header);
    result += payload;
  });
  add_index(result);
  return result;
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    const std::string bytes = binary(sample_trace(seed, 4 + seed * 4),
                                     {.chunk_events = 4 + 3 * seed, .longest_wait = 10 + 6 * seed});
    result.push_back(bytes);
    result.push_back(uncompressed(bytes));
  }
  result.push_back(binary(sample_trace(3, 1500), {}));
  result.push_back(recording());
  result.push_back(uncompressed(recording()));
  for (uint32_t version = kOldestVersion; version < kBinaryVersion; ++version)
    result.push_back(uncompressed(result[1]).replace(0, kFileHeaderSize, header_of(version)));
  return result;
}

std::vector<std::string> tokens() {
  return {file_header(), header_of(kOldestVersion), std::string(kTrailerMagic), std::string(16, '\0')};
}

void repair(std::string& input, uint64_t choice) {
  if (input.size() < kFileHeaderSize) return;
  // Nearly always of a version that is read, mostly of the present one.
  if (choice % 8 != 0)
    input.replace(0, kFileHeaderSize, choice % 8 == 1 ? header_of(kOldestVersion) : file_header());
  for_each_chunk(input, [&](std::size_t offset, ChunkHeader header) {
    header.checksum =
        chunk_checksum(header, std::string_view(input).substr(offset + kChunkHeaderSize, header.stored_size));
    put_at(input, offset, header);
  });
  if (choice / 8 % 2 == 0) add_index(input);
}

}  // namespace heddle::fuzz

#ifdef HEDDLE_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(uint8_t* data, std::size_t size, std::size_t room);

// Half of the time, mutations come with the checksums that fit.
extern "C" std::size_t LLVMFuzzerCustomMutator(uint8_t* data, std::size_t size, std::size_t room,
                                               unsigned choice) {
  size = LLVMFuzzerMutate(data, size, room);
  if (choice % 2 == 0) return size;
  std::string input(reinterpret_cast<const char*>(data), size);
  heddle::fuzz::repair(input, choice / 2);
  input.resize(std::min(input.size(), room));
  std::copy(input.begin(), input.end(), data);
  return input.size();
}
#endif
