#include "runtime/flow_labels.h"

#include "runtime/flow.h"
#include "runtime/memory.h"
#include "runtime/message.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

bool tells_every_step = false;

namespace {

// What values are computed from, each once and none of them 0.
struct Leaves {
  uint32_t of[kMostJoined] = {};
  uint32_t count = 0;

  bool holds(uint32_t label) const {
    for (uint32_t i = 0; i < count; ++i)
      if (of[i] == label) return true;
    return false;
  }
  void add(uint32_t label) {
    if (label != 0 && !holds(label)) of[count++] = label;
  }
};

struct KnownRead {
  const void* address;
  uint64_t stamp;
  uint64_t written;
  uint64_t era;
  uint64_t value;  // of the label
  uint32_t label;
  uint32_t size : 31;
  uint32_t is_decided : 1;  // so is its value: whatever label that had, it counts as none
};

struct alignas(64) KnownLabel {
  uint64_t value;           // the number of the value that it is for: labels are used again
  uint64_t branched;        // the era, plus one, that has branched on it
  uint64_t era;             // that made it, if it is not told yet …
  const void* pc;           // … and where,
  Leaves leaves;            // … and of what; none: it is told
  uint32_t read : 31;       // that it is of, plus one, in KnownLabels::reads; 0: none that is known
  uint32_t is_decided : 1;  // for good
};
static_assert(sizeof(KnownLabel) == 64);

}  // namespace

struct KnownLabels {
  static constexpr uint32_t kLabels = 8192;  // of later ones, which only deep recursion has, nothing is known
  static constexpr uint32_t kSets = 2048;
  static constexpr uint32_t kWays = 4;
  KnownLabel labels[kLabels];
  // By address. All reads of one aligned word are in one set: 2 bytes each, or it and others.
  KnownRead reads[kSets][kWays];
  uint64_t values;
  uint64_t forgotten;  // reads whose label is of that value, or one before

  KnownLabel* find(uint32_t label) { return label < kLabels ? &labels[label] : nullptr; }
};

namespace {

KnownLabels& known() {
  if (flow_thread.known == nullptr)  // zeroed: pages come when touched
    flow_thread.known = static_cast<KnownLabels*>(allocate(sizeof(KnownLabels)));
  return *flow_thread.known;
}

bool is_decided(uint32_t label) {
  const KnownLabel* const of = known().find(label);
  return of != nullptr && of->is_decided != 0;
}

KnownLabel* put_off(uint32_t label) {
  KnownLabel* const of = known().find(label);
  return of != nullptr && of->leaves.count != 0 ? of : nullptr;
}

void assign(Thread& thread, uint32_t label, const Leaves& from, const void* pc) {
  const uint32_t* const of = from.of;
  const uint64_t last = from.count == kMostJoined ? of[5] : 0;
  tell_quickly(thread, {.operation = static_cast<uint8_t>(Operation::kAssign),
                        .address = reinterpret_cast<const void*>(label | last << kLabelBits),
                        .pc = pc,
                        .extra = from.count > 4 ? of[4] : 0,
                        .name = from.count > 0 ? of[0] | uint64_t{from.count > 1 ? of[1] : 0} << 32 : 0,
                        .caller = from.count > 2 ? of[2] | uint64_t{from.count > 3 ? of[3] : 0} << 32 : 0});
}

Leaves without_repetition(LabelList labels) {
  Leaves result;
  for (const uint32_t label : labels)
    if (!is_decided(label)) result.add(label);
  return result;
}

Leaves undecided(const Leaves& leaves) {
  Leaves result;
  for (uint32_t i = 0; i < leaves.count; ++i)
    if (!is_decided(leaves.of[i])) result.of[result.count++] = leaves.of[i];
  return result;
}

// What all of these are computed from, as far as that is not too many.
Leaves leaves_of(Thread& thread, const Leaves& labels) {
  Leaves result;
  for (uint32_t i = 0; i < labels.count; ++i) {
    const uint32_t others = labels.count - i - 1;
    const KnownLabel* const of = put_off(labels.of[i]);
    if (of == nullptr) {
      result.add(labels.of[i]);
      continue;
    }
    const Leaves its = undecided(of->leaves);
    uint32_t more = 0;
    for (uint32_t j = 0; j < its.count; ++j) more += result.holds(its.of[j]) ? 0 : 1;
    if (result.count + more + others <= kMostJoined) {
      for (uint32_t j = 0; j < its.count; ++j) result.add(its.of[j]);
    } else {
      result.add(settled(thread, labels.of[i]));
    }
  }
  return result;
}

// Nothing can leave the branch on it out.
void decide(KnownLabel& of) {
  of.is_decided = 1;
  if (of.read == 0) return;
  KnownRead& read = (&known().reads[0][0])[of.read - 1];
  if (read.value == of.value) read.is_decided = 1;
}

uint32_t tell_join(Thread& thread, const Leaves& leaves, const void* pc) {
  const uint32_t label = fresh_label();
  if (label != 0) {
    assign(thread, label, leaves, pc);
  } else {
    for (uint32_t i = 0; i < leaves.count; ++i) branch(leaves.of[i], pc);
  }
  return label;
}

uint64_t word_of(const void* address) { return reinterpret_cast<uint64_t>(address) >> 3; }

uint32_t set_of(uint64_t word) { return (word ^ word >> 12) % KnownLabels::kSets; }

KnownRead& read_at(const void* address) {
  const uint64_t word = word_of(address);
  const uint64_t way = reinterpret_cast<uint64_t>(address) >> 1 ^ word / KnownLabels::kSets;
  return known().reads[set_of(word)][way % KnownLabels::kWays];
}

}  // namespace

void renew(uint32_t label) {
  if (KnownLabel* const of = known().find(label); of != nullptr) {
    of->value = ++known().values;
    of->branched = 0;
    of->leaves.count = 0;
    of->is_decided = 0;
    of->read = 0;
  }
}

static void say_that_there_are_no_more() {
  static bool is_said = false;
  if (!is_said)
    say("more than %u values are followed at once; what further ones depend on counts as a branch",
        kMostLabels);
  is_said = true;
}

// Only a very deep recursion, or a loop that no compiler understands, uses all up. A read without a label
// counts as a branch; whoever joins labels says that they do.
uint32_t fresh_label() {
  if (heddle_flow_state.next < kMostLabels) {
    const uint32_t label = heddle_flow_state.next++;
    renew(label);
    return label;
  }
  say_that_there_are_no_more();
  return 0;
}

uint32_t fresh_labels(uint32_t count, bool are_kept) {
  if (heddle_flow_state.next + count > kMostLabels) {
    say_that_there_are_no_more();
    return kMostLabels;
  }
  const uint32_t first = heddle_flow_state.next;
  heddle_flow_state.next += count;
  for (uint32_t i = 0; are_kept && i < count; ++i) renew(first + i);
  return first;
}

void release_labels(uint32_t first) {
  if (first < heddle_flow_state.next) heddle_flow_state.next = first;
}

uint32_t joined(LabelList labels, const void* pc) {
  const Leaves from = without_repetition(labels);
  if (from.count < 2) return from.of[0];
  Thread* const thread = telling_thread();
  if (thread == nullptr) return 0;
  const Leaves leaves = leaves_of(*thread, from);
  if (leaves.count < 2) return leaves.of[0];
  if (tells_every_step || heddle_flow_state.next >= KnownLabels::kLabels)
    return tell_join(*thread, leaves, pc);
  const uint32_t label = fresh_label();
  KnownLabel* const of = known().find(label);
  of->era = flow_thread.era;
  of->pc = pc;
  of->leaves = leaves;
  return label;
}

uint32_t joined_now(LabelList labels, const void* pc) {
  Thread* const thread = telling_thread();
  if (thread == nullptr) return 0;
  return tell_join(*thread, leaves_of(*thread, without_repetition(labels)), pc);
}

uint32_t settled(Thread& thread, uint32_t label) {
  KnownLabel* const of = put_off(label);
  if (of == nullptr) return is_decided(label) ? 0 : label;
  const Leaves leaves = undecided(of->leaves);
  if (leaves.count < 2) return leaves.of[0];
  assign(thread, label, leaves, of->pc);
  // What is told where it may be left out, or in another task, is not told for elsewhere.
  if (of->era == flow_thread.era) of->leaves.count = 0;
  return label;
}

void branch(uint32_t label, const void* pc) {
  if (label == 0) return;
  KnownLabel* const of = known().find(label);
  if (of != nullptr && (of->is_decided != 0 || of->branched == flow_thread.era + 1) && !tells_every_step)
    return;
  Thread* const thread = telling_thread();
  if (thread == nullptr) return;
  if (of != nullptr) {
    of->branched = flow_thread.era + 1;
    // A task that is begun in what may be left out does not know it. But all that has its labels is there,
    // too.
    if (flow_thread.maybes == 0 && !tells_every_step) decide(*of);
    if (of->leaves.count != 0) {
      // As good as a branch on what it is computed from.
      for (uint32_t i = 0; i < of->leaves.count; ++i) branch(of->leaves.of[i], pc);
      return;
    }
  }
  tell_quickly(*thread, {.operation = static_cast<uint8_t>(Operation::kBranch),
                         .address = reinterpret_cast<const void*>(uint64_t{label}),
                         .pc = pc});
}

void know_branch(uint32_t label) {
  KnownLabel* const of = known().find(label);
  if (label == 0 || of == nullptr || of->leaves.count != 0) return;
  of->branched = flow_thread.era + 1;
  if (flow_thread.maybes == 0 && !tells_every_step) decide(*of);
}

// What is decided need not be kept.
void use_again(uint32_t mark, uint32_t* labels, uint32_t count, const void* pc) {
  Thread* const thread = telling_thread();
  const auto sources_of = [&](uint32_t label) {
    if (const KnownLabel* const of = put_off(label); of != nullptr) return undecided(of->leaves);
    return without_repetition({label});
  };
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (labels[i] >= mark && sources_of(labels[i]).count == 0) labels[i] = 0;
    kept += labels[i] >= mark ? 1 : 0;
  }
  bool is_in_the_way = false;
  for (uint32_t i = 0; i < count; ++i) {
    const Leaves from = sources_of(labels[i]);
    for (uint32_t j = 0; labels[i] >= mark && j < from.count; ++j)
      is_in_the_way |= from.of[j] >= mark && from.of[j] < mark + kept;
  }
  const auto move = [&](uint32_t to) {
    for (uint32_t i = 0; i < count; ++i) {
      if (labels[i] < mark) continue;
      assign(*thread, to, sources_of(labels[i]), pc);
      renew(to);
      labels[i] = to++;
    }
  };
  if (thread != nullptr) {
    // Above all that is in use first, so that none is overwritten before it is copied.
    if (is_in_the_way) move(heddle_flow_state.next > mark + kept ? heddle_flow_state.next : mark + kept);
    move(mark);
  }
  heddle_flow_state.next = mark + kept;
}

bool use_again_untold(uint32_t mark, uint32_t& label) {
  if (label >= mark && !is_decided(label)) return false;
  if (label >= mark) label = 0;
  release_labels(mark);
  return true;
}

bool known_read(const void* address, uint32_t size, uint64_t stamp, uint64_t written, uint32_t& label) {
  const KnownRead& read = read_at(address);
  if (read.address != address || read.size != size || read.stamp != stamp || read.written != written ||
      read.era != flow_thread.era || read.value <= known().forgotten || tells_every_step)
    return false;
  label = read.is_decided != 0 ? 0 : read.label;
  return read.is_decided != 0 ||
         (label < heddle_flow_state.next && known().labels[label].value == read.value);
}

void know_read(const void* address, uint32_t size, uint64_t stamp, uint64_t written, uint32_t label) {
  KnownLabel* const of = known().find(label);
  if (of == nullptr || label == 0) return;
  KnownRead& read = read_at(address);
  read = {address, stamp, written, flow_thread.era, of->value, label, size, 0};
  of->read = static_cast<uint32_t>(&read - &known().reads[0][0] + 1) & 0x7FFFFFFF;
}

void forget_read(const void* address) {
  if (flow_thread.known == nullptr) return;
  const uint64_t word = word_of(address);
  for (KnownRead& read : known().reads[set_of(word)])
    if (word_of(read.address) == word) read.address = nullptr;
}

void forget_all_reads() {
  if (flow_thread.known != nullptr) known().forgotten = known().values;
}

void leave_labels() {
  if (flow_thread.known == nullptr) return;
  deallocate(flow_thread.known, sizeof(KnownLabels));
  flow_thread.known = nullptr;
}

}  // namespace heddle::runtime
