#include "live/discovery.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "symbols/symbolizer.h"
#include "trace/event.h"

namespace heddle {

namespace {

using runtime::Record;
using types::DiscoveryLog;
using types::FieldLog;

// Locks of the same object lie no farther away than this.
constexpr int64_t kNear = 4096;

class Discovery {
 public:
  Discovery(ChannelReader& reader, std::size_t most_objects) : reader_(reader), most_objects_(most_objects) {}

  DiscoveryLog run() {
    for (auto records = reader_.next(); !records.empty(); records = reader_.next())
      for (const auto& told : records)
        if (told.stream < ChannelReader::kMostStreams) see(told.stream, told.record);
    for (const auto& [address, object] : objects_) close(object);
    log_.runs = 1;
    return std::move(log_);
  }

 private:
  struct Held {
    uint64_t address;
    bool is_shared;
  };
  // One field of one object that is sampled.
  struct Object {
    FieldLog* field;
    uint32_t thread;  // that came first, or last
    bool is_shared = false;
    bool is_handed_over = true;  // nobody came back
    bool is_written_shared = false;
    std::vector<uint32_t> gone;  // threads that others have taken over from
  };

  void see(uint32_t stream, const Record& record) {
    switch (record.operation()) {
      case runtime::kToldModule:
        return symbolizer_.add({reader_.text(record.name), record.caller, record.address(), record.pc});
      case runtime::kToldFree: return forget(record.address(), record.name);
      default: break;
    }
    if (record.operation() >= kStoredOperations) return;
    switch (static_cast<Operation>(record.operation())) {
      case Operation::kRead: return access(stream, record, false);
      case Operation::kWrite: return access(stream, record, true);
      case Operation::kAcquire: held(stream).push_back({record.address(), false}); return;
      case Operation::kAcquireShared: held(stream).push_back({record.address(), true}); return;
      case Operation::kRelease:
      case Operation::kReleaseShared: {
        auto& locks = held(stream);
        const auto found = std::find_if(locks.rbegin(), locks.rend(),
                                        [&](const Held& lock) { return lock.address == record.address(); });
        if (found != locks.rend()) locks.erase(std::next(found).base());
        return;
      }
      default: return;
    }
  }

  std::vector<Held>& held(uint32_t stream) { return held_[stream]; }

  const std::string& text_at(uint64_t address) {
    const auto [entry, is_new] = texts_.try_emplace(address);
    if (is_new) entry.value() = symbolizer_.text_at(address);
    return entry->second;
  }

  void access(uint32_t stream, const Record& record, bool writes) {
    auto found = objects_.find(record.address());
    if (found == objects_.end()) {
      if (record.name == 0) return;
      const std::string& name = text_at(record.name);
      if (name.empty()) return;
      FieldLog& field = log_.fields[name];
      if (field.objects >= most_objects_) return;
      ++field.objects;
      found = objects_.emplace(record.address(), Object{&field, stream, false, true, false, {}}).first;
    }
    Object& object = found->second;
    ++object.field->accesses;
    if (object.thread != stream) {
      object.is_shared = true;
      if (std::find(object.gone.begin(), object.gone.end(), stream) != object.gone.end())
        object.is_handed_over = false;
      object.gone.push_back(object.thread);
      object.thread = stream;
    }
    if (!object.is_shared) return;
    object.is_written_shared |= writes;
    ++object.field->shared_accesses;
    for (const Held& lock : held(stream)) {
      if (lock.is_shared && writes) continue;
      if (const std::string relation = relation_of(lock.address, record.address()); !relation.empty())
        ++object.field->locks[relation];
    }
  }

  // Where the lock is, seen from the field.
  std::string relation_of(uint64_t lock, uint64_t field) {
    const auto [entry, is_new] = globals_.try_emplace(lock);
    if (is_new) entry.value() = symbolizer_.data_name(lock);
    if (!entry->second.empty() && entry->second.find('.') == std::string::npos) return "g:" + entry->second;
    const auto distance = static_cast<int64_t>(lock - field);
    return distance > -kNear && distance < kNear ? fmt::format("{:+}", distance) : std::string();
  }

  static void close(const Object& object) {
    if (!object.is_shared) return;
    ++object.field->shared;
    object.field->handed_over += object.is_handed_over ? 1 : 0;
    object.field->written_shared += object.is_written_shared ? 1 : 0;
  }

  // The memory begins another life.
  void forget(uint64_t address, uint64_t size) {
    const auto begin = objects_.lower_bound(address);
    auto end = begin;
    for (; end != objects_.end() && end->first < address + size; ++end) close(end->second);
    objects_.erase(begin, end);
  }

  ChannelReader& reader_;
  std::size_t most_objects_;
  Symbolizer symbolizer_;
  tsl::robin_map<uint64_t, std::string, MixHash> texts_;    // by address
  tsl::robin_map<uint64_t, std::string, MixHash> globals_;  // names of locks; empty: no global
  std::map<uint32_t, std::vector<Held>> held_;              // by thread
  std::map<uint64_t, Object> objects_;                      // by address
  DiscoveryLog log_;
};

}  // namespace

DiscoveryLog discover(ChannelReader& reader, std::size_t most_objects) {
  return Discovery(reader, most_objects).run();
}

}  // namespace heddle
