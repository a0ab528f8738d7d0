#include "runtime/objects.h"

#include <malloc.h>

#include <algorithm>

#include "runtime/flow.h"
#include "runtime/library_data.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

namespace {

// One for all: what is looked at must not be freed meanwhile.
constinit SpinLock objects_lock;

bool holds(const Object& object, const char* address) {
  return address >= object.begin && address < object.begin + object.size;
}

// Small blocks by a bit for each 16 bytes of memory, where one begins; large ones by a list, of which no
// program has many.
class Heap {
 public:
  void add(const void* block) {
    const std::size_t size = ::malloc_usable_size(const_cast<void*>(block));
    if (size >= kLarge) {
      large_.add() = {static_cast<const char*>(block), size};
    } else if (uint64_t* const word = word_of(block, true); word != nullptr) {
      *word |= bit_of(block);
    }
  }

  void remove(const void* block) {
    if (uint64_t* const word = word_of(block, false); word != nullptr) *word &= ~bit_of(block);
    for (uint32_t i = 0; i < large_.size(); ++i)
      if (large_[i].begin == block) return large_.remove(i);
  }

  Object find(const char* address) const {
    for (uint32_t i = 0; i < large_.size(); ++i)
      if (holds(large_[i], address)) return large_[i];
    const uint64_t at = reinterpret_cast<uint64_t>(address) / kGrain;
    if (reinterpret_cast<uint64_t>(address) >> kAddressBits != 0) return {};
    const uint64_t last = at < kLarge / kGrain ? 0 : (at - kLarge / kGrain) / 64;
    if (!has_leaf(at / 64) && !has_leaf(last)) return {};
    for (uint64_t word = at / 64;; --word) {
      uint64_t bits = bits_at(word);
      if (word == at / 64) bits &= ~uint64_t{0} >> (63 - at % 64);
      if (bits != 0) {
        const uint64_t begin = word * 64 + 63 - static_cast<uint64_t>(__builtin_clzll(bits));
        auto* const block = reinterpret_cast<char*>(begin * kGrain);
        const Object found = {block, ::malloc_usable_size(block)};
        return holds(found, address) ? found : Object{};
      }
      if (word == last) return {};
    }
  }

 private:
  static constexpr uint64_t kGrain = 16;  // malloc aligns to
  static constexpr uint64_t kLarge = uint64_t{1} << 20;
  static constexpr unsigned kAddressBits = 47;
  static constexpr unsigned kLeafBits = 30;  // bytes of memory that a leaf is for
  static constexpr uint64_t kLeafWords = (uint64_t{1} << kLeafBits) / kGrain / 64;

  static uint64_t bit_of(const void* block) {
    return uint64_t{1} << (reinterpret_cast<uint64_t>(block) / kGrain % 64);
  }
  uint64_t* word_of(const void* block, bool make) {
    const auto address = reinterpret_cast<uint64_t>(block);
    if (address >> kAddressBits != 0) return nullptr;
    uint64_t*& leaf = leaves_[address >> kLeafBits];
    if (leaf == nullptr && make)
      leaf = static_cast<uint64_t*>(reserve(kLeafWords * sizeof(uint64_t), "the blocks of the heap"));
    return leaf == nullptr ? nullptr : &leaf[address / kGrain / 64 % kLeafWords];
  }
  bool has_leaf(uint64_t word) const { return leaves_[word / kLeafWords] != nullptr; }
  uint64_t bits_at(uint64_t word) const {
    if (word / kLeafWords >= sizeof(leaves_) / sizeof(leaves_[0])) return 0;
    const uint64_t* const leaf = leaves_[word / kLeafWords];
    return leaf == nullptr ? 0 : leaf[word % kLeafWords];
  }

  uint64_t* leaves_[uint64_t{1} << (kAddressBits - kLeafBits)] = {};
  GrowingArray<Object> large_;
};

class Globals {
 public:
  void add(const Object* globals, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (globals[i].begin == nullptr) continue;  // declared, and nowhere
      all_.add() = {{globals[i].begin, globals[i].size & ~kNamedByOthers},
                    (globals[i].size & kNamedByOthers) != 0};
    }
    if (!all_.empty())
      std::sort(&all_[0], &all_[0] + all_.size(), [](const Global& a, const Global& b) {
        return a.object.begin != b.object.begin ? a.object.begin < b.object.begin
                                                : a.object.size < b.object.size;
      });
    // A list of them is no place where somebody keeps pointers.
    lists_.add() = {reinterpret_cast<const char*>(globals), count * sizeof(*globals)};
  }
  Object find(const char* address) const {
    const Global* const found = find_global(address);
    return found == nullptr ? Object{} : found->object;
  }
  // Whether it is of a file that tells what it does, and nobody else knows it.
  bool is_private(const char* address) const {
    const Global* const found = find_global(address);
    if (found != nullptr) return !found->is_named;
    for (uint32_t i = 0; i < lists_.size(); ++i)
      if (holds(lists_[i], address)) return true;
    return false;
  }
  template <class Visit>
  void for_each_named(const Object& in, Visit visit) const {
    for (uint32_t i = 0; i < all_.size(); ++i)
      if (all_[i].is_named && holds(in, all_[i].object.begin)) visit(all_[i].object.begin);
  }

 private:
  struct Global {
    Object object;
    bool is_named;
  };
  const Global* find_global(const char* address) const {
    if (all_.empty()) return nullptr;
    const Global* const end = &all_[0] + all_.size();
    const Global* const after =
        std::upper_bound(&all_[0], end, address,
                         [](const char* given, const Global& each) { return given < each.object.begin; });
    return after != &all_[0] && holds(after[-1].object, address) ? &after[-1] : nullptr;
  }

  GrowingArray<Global> all_;
  GrowingArray<Object> lists_;
};

// Of one thread, those of functions that were called later last.
struct Locals {
  SpinLock lock;
  GrowingArray<Object> all;
  Locals* next = nullptr;
  bool is_used = false;  // by a thread
};

constinit Heap heap;
constinit Globals globals_of_program;
constinit Locals* all_locals = nullptr;
__thread Locals* own_locals __attribute__((tls_model("initial-exec"))) = nullptr;

Locals& locals_of_thread() {
  if (own_locals != nullptr) return *own_locals;
  Locked locked(objects_lock);
  for (Locals* each = all_locals; each != nullptr; each = each->next)
    if (!each->is_used) own_locals = each;
  if (own_locals == nullptr) {
    own_locals = create<Locals>();
    own_locals->next = all_locals;
    all_locals = own_locals;
  }
  own_locals->is_used = true;
  return *own_locals;
}

Object find_local(const char* address) {
  for (Locals* each = all_locals; each != nullptr; each = each->next) {
    Locked locked(each->lock);
    for (uint32_t i = each->all.size(); i-- > 0;)
      if (holds(each->all[i], address)) return each->all[i];
  }
  return {};
}

Object find_object(const char* address) {
  Object found = heap.find(address);
  if (found.size == 0) found = globals_of_program.find(address);
  return found.size == 0 ? find_local(address) : found;
}

// Where the objects that were reached begin, so that each is once.
class Known {
 public:
  ~Known() {
    if (places_ != nullptr) deallocate(static_cast<void*>(places_), capacity_ * sizeof(*places_));
  }
  bool add(const char* begin) {
    if (count_ * 2 >= capacity_) grow();
    const bool is_new = put(begin);
    count_ += is_new ? 1 : 0;
    return is_new;
  }

 private:
  bool put(const char* begin) {
    for (uint64_t at = reinterpret_cast<uint64_t>(begin) * 0x9E3779B97F4A7C15U >> 20;; ++at) {
      const char*& place = places_[at % capacity_];
      if (place == begin) return false;
      if (place != nullptr) continue;
      place = begin;
      return true;
    }
  }
  void grow() {
    const char** const old = places_;
    const uint64_t before = capacity_;
    capacity_ = before == 0 ? 64 : before * 2;
    places_ = static_cast<const char**>(allocate(capacity_ * sizeof(*places_)));
    for (uint64_t i = 0; i < before; ++i)
      if (old[i] != nullptr) put(old[i]);
    if (old != nullptr) deallocate(static_cast<void*>(old), before * sizeof(*old));
  }

  const char** places_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t count_ = 0;
};

// The places in it where one may be.
template <class Visit>
void for_each_pointer(const Object& object, Visit visit) {
  const auto first = (reinterpret_cast<uint64_t>(object.begin) + 7) & ~uint64_t{7};
  const auto end = reinterpret_cast<uint64_t>(object.begin) + object.size;
  for (uint64_t at = first; at + 8 <= end; at += 8) visit(reinterpret_cast<const char* const volatile*>(at));
}

}  // namespace

void add_block(const void* block) {
  Locked locked(objects_lock);
  heap.add(block);
}

void remove_block(const void* block) {
  Locked locked(objects_lock);
  heap.remove(block);
}

void add_globals(const Object* globals, std::size_t count) {
  Locked locked(objects_lock);
  globals_of_program.add(globals, count);
}

void add_locals(const char* top, const Object* locals, std::size_t count) {
  Locals& of_thread = locals_of_thread();
  Locked locked(of_thread.lock);
  while (!of_thread.all.empty() && of_thread.all.back().begin < top) of_thread.all.remove_last();
  for (std::size_t i = 0; i < count; ++i) of_thread.all.add() = locals[i];
}

void leave_locals() {
  if (own_locals == nullptr) return;
  Locked locked(objects_lock);
  own_locals->all.clear();
  own_locals->is_used = false;
  own_locals = nullptr;
}

void leave_objects_to_parent() {
  objects_lock.unlock();
  for (Locals* each = all_locals; each != nullptr; each = each->next) each->lock.unlock();
}

void reach(const void* const* pointers, uint32_t count, const void* function, Objects& objects) {
  objects.clear();
  Known known;
  const DataSegments data = data_used_by(function);  // before the lock: who has the system's may want ours
  Locked locked(objects_lock);
  const auto add = [&](const char* address, bool is_pointer) {
    constexpr uint64_t kFirstPage = 4096;
    if (reinterpret_cast<uint64_t>(address) < kFirstPage) return;
    Object object = find_object(address);
    if (object.size == 0 && is_pointer)
      object = {reinterpret_cast<const char*>(reinterpret_cast<uint64_t>(address) & ~uint64_t{7}), 8};
    if (object.size != 0 && known.add(object.begin)) objects.add() = object;
  };
  for (uint32_t i = 0; i < count; ++i) add(static_cast<const char*>(pointers[i]), true);
  for (uint32_t i = 0; i < data.count; ++i) {
    globals_of_program.for_each_named(data.of[i], [&](const char* global) { add(global, false); });
    for_each_pointer(data.of[i], [&](const char* const volatile* place) {
      if (!globals_of_program.is_private(
              const_cast<const char*>(reinterpret_cast<const volatile char*>(place))))
        add(*place, false);
    });
  }
  for (uint32_t i = 0; i < objects.size(); ++i) {
    const Object object = objects[i];
    if (find_object(object.begin).size == 0) continue;  // nobody knows whether it can be read
    for_each_pointer(object, [&](const char* const volatile* place) { add(*place, false); });
  }
}

}  // namespace heddle::runtime
