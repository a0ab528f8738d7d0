// How a checked program tells a monitor what it does: memory that both share.
//
// Every thread writes records into chunks of its own. Those whose place in the order of all threads matters
// (locks, atomics, forks, …) take a *ticket*; the board says in which chunk each ticket's record lies. So the
// monitor reads the board in the order of tickets, and of each thread all records up to that one. The first
// record of every chunk has a ticket. The program never waits for the monitor, unless all chunks or all
// places of the board are in use; nothing is lost. What was told before the program died is there, however it
// died.
//
// One program, one monitor of the same version (runtime/interface.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::runtime {

// Operations of records beyond those of trace/event.h.
enum ChannelOperation : uint8_t {
  kToldNothing = 200,  // the first record of a chunk
  kToldModule,         // a file of code was loaded: address, pc: its end, caller: its bias, name: path's text
  kToldFree,           // memory began a new life: address, name: how many bytes; extra: EndOfLife
  kToldRaceEarlier,  // the next record races with this access, of thread `extra`; size: its operation; name:
                     // its size, twice, plus one when it was told
  kToldRace,         // the next record of the thread, an atomic one, does
  kToldRaceFree,     // that access is unordered with the end of its memory's life, which comes next
  kToldWaiting,      // the thread has to wait for what lies at address; extra: WaitsFor and, above
                     // kWaitsForBits, the stream, plus one, of who has the lock alone; 0: not known
  kToldGaveUp,       // it has waited, and not got it
  kToldConstruct,    // a parallel construct begins; extra: 1, it ends
  // The calm is over (runtime/spans.h):
  kToldCalmIsOver,
  kToldFor,   // the next record of the thread is told for another one: name, its stream
  kToldSpan,  // the block that the thread is in gave something before; address, pc, context: what and where;
              // extra: WhatWasGiven
  kToldKnowsSpan,   // the thread comes after what the block of another one gave so: name, that one's stream
  kToldCameBack,    // what the thread's block gave so comes back with what is told next: name, the stream of
                    // the thread that it comes from, if that is known; caller and, above kGivenBits of extra,
                    // the context: where that one gave it; the rest as of kToldSpan
  kToldDoubt,       // or perhaps comes back
  kToldUnfollowed,  // a function was called that does not say what its result depends on: address
  kToldSeries,  // rounds of a loop (runtime/series.h): address: the first label of its own; name: where its
                // pattern lies in the texts; extra: how many words come in the next records
  kToldSeriesWords,  // pc, name, caller, context and extra: kSeriesWords of them
  kToldOwnRead,   // an iteration, number `extra` of its thread, reads a word of thread_local variables that
                  // it has not written; address: how far below the thread pointer
  kToldOwnWrite,  // it writes it for the first time
  kToldBadJump,   // longjmp would leave an iteration here, or go back into a body: the program ends
};

// What is told of the end of the calm, by whichever thread: the thread does nothing then.
inline bool is_told_of_calm(uint8_t operation) {
  return operation >= kToldCalmIsOver && operation <= kToldDoubt;
}

// Of kToldFree, in recordings; `heddle run` is told of races instead.
enum EndOfLife : uint32_t {
  kIsAnother = 0,  // nobody's doing: it is somebody's new memory
  kIsGone = 1,     // the thread gave it back, at pc
  kIsFreed = 2,    // the same; until the next kToldFree of it, whoever uses it uses what was freed
};

// Of lock acquisitions.
enum HowTaken : uint32_t {
  kWaits = 0,
  kTries = 1,     // it would not have waited for ever
  kTogether = 2,  // with the lock that the thread took just before, which it would have given back to wait
};

// What ends a wait is told by the operation that was waited for, or by kToldGaveUp.
enum WaitsFor : uint32_t {
  kForLock = 0,        // until nobody else has it
  kForSharedLock = 1,  // until nobody else has it alone
  kForCondition = 2,
  kForSemaphore = 3,
  kForBarrier = 4,
  kForThread = 5,  // name: its stream
  kForLatch = 6,
  kForFuture = 7,
};

enum WhatWasGiven : uint32_t {
  kGaveLock = 1,
  kGaveShared = 2,  // that it shared
};
inline constexpr unsigned kGivenBits = 2;

inline constexpr unsigned kWaitsForBits = 8;
inline constexpr uint32_t kSeriesWords = 4;

struct Record {
  uint64_t what;     // operation (8 bits), size (8 bits; 0: `extra` bytes), address (48 bits)
  uint64_t pc;       // return address into the code that did it
  uint64_t name;     // address of a text that says what is accessed; 0: none
  uint64_t caller;   // of the function, when that keeps no frame; 0: it does
  uint32_t context;  // the call stack without the two, by its number; 0: not known
  // Accesses of at most 255 bytes: memory order and, above kOrderBits, the local (runtime/flow.h). Lock
  // acquisitions: HowTaken. Assignments: a label (runtime/flow_labels.cpp); so
  // are name, caller and what is above kLabelBits of the address.
  uint32_t extra;
  uint64_t ticket;  // plus one; 0: it has none

  static constexpr uint64_t kAddressMask48 = (uint64_t{1} << 48) - 1;
  static uint64_t pack(uint8_t operation, uint8_t size, uint64_t address) {
    return uint64_t{operation} << 56 | uint64_t{size} << 48 | (address & kAddressMask48);
  }
  static uint64_t pack(uint8_t operation, uint8_t size, const void* address) {
    return pack(operation, size, reinterpret_cast<uint64_t>(address));
  }
  uint8_t operation() const { return static_cast<uint8_t>(what >> 56); }
  uint32_t size() const {
    return (what >> 48 & 0xFF) != 0 ? static_cast<uint32_t>(what >> 48 & 0xFF) : extra;
  }
  uint64_t address() const { return what & kAddressMask48; }
  // Of kToldWaiting:
  WaitsFor waits_for() const { return static_cast<WaitsFor>(extra & ((1U << kWaitsForBits) - 1)); }
  uint32_t holder() const { return extra >> kWaitsForBits; }
};
static_assert(sizeof(Record) == 48);

inline constexpr std::size_t kChunkBytes = 8192;

struct Chunk {
  uint32_t stream;    // the thread, by a number that no other thread has or had
  uint32_t previous;  // chunk of the thread, plus one; 0: this is its first
  std::atomic<uint32_t> filled;
  static constexpr uint32_t kRecords = (kChunkBytes - 64) / sizeof(Record);
  alignas(64) Record records[kRecords];
};
static_assert(sizeof(Chunk) <= kChunkBytes);

// A call stack: a return address, and the stack of the caller.
struct Context {
  uint64_t pc;
  uint32_t caller;  // 0: none
};

// A function that is a block by the word of a spec, in an object that the plug-in has not seen: where it lies
// in the program's file, and its name in Channel::text.
struct SpecBlock {
  uint64_t begin;
  uint64_t end;
  uint32_t kind;  // HeddleBlockKind
  uint32_t name;
};
// The name of such a block, where others have the address of a text in the program.
inline constexpr uint64_t kNameInChannel = uint64_t{1} << 63;

enum ChannelState : uint32_t { kProgramRuns = 0, kProgramEnded = 1 };

struct Channel {
  static constexpr uint32_t kBoardBits = 14;
  static constexpr uint64_t kPlaces = uint64_t{1} << kBoardBits;
  static constexpr uint32_t kChunks = 1U << 16;
  static constexpr uint32_t kContexts = 1U << 22;
  static constexpr uint32_t kTextBytes = 1U << 24;

  alignas(64) std::atomic<uint64_t> tickets;   // taken
  alignas(64) std::atomic<uint64_t> consumed;  // tickets that the monitor is done with
  alignas(64) std::atomic<uint32_t> contexts;  // numbers given, 0 included
  std::atomic<uint32_t> text_bytes;            // used
  std::atomic<uint32_t> state;                 // ChannelState
  std::atomic<uint32_t> questions;             // how often somebody asked what the threads do
  // From the monitor:
  static constexpr uint32_t kTellAll = 0xFFFFFFFF;
  // How many accesses of a stretch are told at most, from now on; kTellAll, from the first: none is left out.
  std::atomic<uint32_t> told_per_stretch;
  // Not 0: only threads, memory and races are told from now on, not what locks and their kin do.
  std::atomic<uint32_t> is_quiet;
  // kCalm by the monitor's word (runtime/calm.h); the program ends it, for good, if need be by the monitor's
  // word, too (runtime/spans.h).
  static constexpr uint32_t kNotCalmYet = 0;
  static constexpr uint32_t kCalm = 1;
  static constexpr uint32_t kCalmShouldEnd = 2;
  static constexpr uint32_t kCalmEnds = 3;
  static constexpr uint32_t kCalmIsOver = 4;
  std::atomic<uint32_t> calm;
  uint32_t is_full;  // with kTellAll: every access is told, not only the first of a stretch
  static constexpr uint32_t kSpecBlocks = 1U << 12;
  uint32_t spec_blocks;  // how many there are, by address
  SpecBlock spec_block[kSpecBlocks];
  alignas(64) std::atomic<uint64_t> used_chunks[kChunks / 64];  // bit sets
  std::atomic<uint64_t> board[kPlaces];                         // ticket plus one, chunk (16 bits)
  Context context[kContexts];
  char text[kTextBytes];
  alignas(4096) char chunks[kChunks * kChunkBytes];

  Chunk& chunk(uint32_t index) { return *reinterpret_cast<Chunk*>(chunks + index * kChunkBytes); }
};

// What a program says when it connects, with the memory's descriptor, and what it is told. The answer comes
// again when the monitor is done.
struct Hello {
  char magic[8];  // kHelloMagic
  uint64_t size;  // of Channel
  int32_t pid;
  uint32_t interface;  // runtime/interface.h
};
inline constexpr char kHelloMagic[8] = {'H', 'E', 'D', 'D', 'L', 'E', '0', '1'};
struct Answer {
  uint32_t findings;
  uint32_t exit_code;  // with findings
};

}  // namespace heddle::runtime
