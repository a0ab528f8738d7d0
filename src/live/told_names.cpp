#include "live/told_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/stand_in.h"

namespace heddle {

namespace {

constexpr uint64_t kMostInRow = uint64_t{1} << 29;  // ids that rows may take

}  // namespace

std::string plain(std::string name) {
  for (char& c : name)
    if (c == ' ' || c == '|' || c == '(' || c == ')' || c == ',' || c == '\t' || c == '\n') c = '_';
  return name;
}

uint32_t ToldNames::number_of(Space space, const std::string& name) {
  UsedNames& used = this->used(space);
  const auto [number, is_new] = used.numbers.try_emplace(name, static_cast<uint32_t>(used.names.size()));
  if (is_new) used.names.push_back({.text = name, .count = 0, .ended = {}, .all_ended = 0});
  return number->second;
}

uint32_t ToldNames::number_of(Space space, const Thing& thing) {
  if (const std::string own = own_name(thing); !own.empty()) return number_of(space, plain(own));
  ByPlace& latest = latest_[mix(thing.given ^ uint64_t{thing.site} << 32) % latest_.size()];
  if (latest.kind != thing.kind || latest.space != space || latest.given != thing.given ||
      latest.site != thing.site) {
    const std::string name = name_by_place(thing);
    if (name.empty()) return number_of(space, fmt::format("{}@{:#x}", thing.kind, thing.address));
    latest = {space, thing.given, thing.site, thing.kind, number_of(space, plain(name))};
  }
  return latest.number;
}

uint32_t ToldNames::add(Space space, uint32_t number) {
  UsedNames& used = this->used(space);
  const uint32_t count = ++used.names[number].count;
  text_ = used.names[number].text;
  if (count > 1) fmt::format_to(std::back_inserter(text_), "#{}", count);
  const uint32_t thing = names_.table(space).append(text_);
  if (thing >= used.by_thing.size()) used.by_thing.resize(thing + std::size_t{1}, kNoId);
  used.by_thing[thing] = number;
  return thing;
}

uint32_t ToldNames::add_or_reuse(Space space, const Thing& thing) {
  const uint32_t number = number_of(space, thing);
  UsedName& name = used(space).names[number];
  if (name.ended.empty()) return add(space, number);
  Row& last = name.ended.back();
  const uint32_t again = last.first + --last.count;
  --name.all_ended;
  if (last.count == 0) name.ended.pop_back();
  return again;
}

// Whether something may be there that its place in the program's files or in an object gives a name.
bool ToldNames::may_have_own_names(uint64_t begin, uint64_t end) const {
  if (symbolizer_.any_module_in(begin, end)) return true;
  auto object = objects_.lower_bound(end);
  if (object == objects_.begin()) return false;
  --object;
  return object->first + object->second.size > begin;
}

uint32_t ToldNames::add_row_or_reuse(Space space, const Thing& first, uint64_t end, uint32_t count) {
  if (may_have_own_names(first.address, end)) return kNoId;
  if (first.given == 0 && sites_.short_place(first.site).empty()) return kNoId;  // by its address
  const uint32_t number = number_of(space, first);
  UsedNames& used = this->used(space);
  UsedName& name = used.names[number];
  constexpr std::size_t kLookedAt = 8;
  for (std::size_t i = 0; i < std::min(kLookedAt, name.ended.size()); ++i) {
    Row& row = name.ended[name.ended.size() - 1 - i];
    if (row.count < count) continue;
    row.count -= count;
    name.all_ended -= count;
    const uint32_t again = row.first + row.count;
    if (row.count == 0) name.ended.erase(name.ended.end() - 1 - static_cast<std::ptrdiff_t>(i));
    return again;
  }
  if (name.all_ended >= count) return kNoId;  // else there would be ever more of them
  StringTable& table = names_.table(space);
  const uint32_t made = table.size();
  if (count == 0 || uint64_t{made} + count > kMostInRow) return kNoId;
  if (name.count == 0) table.append(name.text);
  const uint32_t plain = name.count == 0 ? 1 : 0;
  table.append_numbered(name.text + '#', name.count + plain + 1, count - plain);
  name.count += count;
  used.by_thing.resize(std::size_t{made} + count, kNoId);
  std::fill(used.by_thing.begin() + made, used.by_thing.end(), number);
  return made;
}

void ToldNames::end_row(Space space, uint32_t first, uint32_t count) {
  UsedNames& used = this->used(space);
  while (count > 0) {
    const uint32_t number = used.by_thing[first];
    uint32_t here = 1;
    while (here < count && used.by_thing[first + here] == number) ++here;
    UsedName& name = used.names[number];
    name.all_ended += here;
    if (!name.ended.empty() && name.ended.back().first + name.ended.back().count == first) {
      name.ended.back().count += here;
    } else {
      name.ended.push_back({first, here});
    }
    first += here;
    count -= here;
  }
}

const std::string& ToldNames::text_at(uint64_t address) {
  const auto [entry, is_new] = texts_.try_emplace(address);
  if (is_new) entry.value() = symbolizer_.text_at(address);
  return entry->second;
}

void ToldNames::meet_object(uint64_t address, uint64_t pc) {
  if (objects_.contains(address)) return;
  const Symbolizer::Class of = symbolizer_.class_at(pc);
  if (of.size > 0) objects_.emplace(address, Object{of.size, pc, of.name});
}

void ToldNames::forget_objects(uint64_t begin, uint64_t end) {
  for (auto object = objects_.lower_bound(begin); object != objects_.end() && object->first < end;)
    object = objects_.erase(object);
}

// "Account::balance"; empty: it lies in no object that is known.
std::string ToldNames::field_at(uint64_t address) {
  auto object = objects_.upper_bound(address);
  if (object == objects_.begin()) return "";
  --object;
  const uint64_t offset = address - object->first;
  if (offset >= object->second.size) return "";
  const std::string field = symbolizer_.field_name(object->second.pc, offset);
  return field.empty() ? "" : object->second.name + "::" + field;
}

std::string ToldNames::own_name(const Thing& thing) {
  // A lock that stands for what it guards is not what lies there.
  std::string name;
  if (thing.given != 0 && text_at(thing.given).starts_with(kStandIn)) return name;
  name = symbolizer_.data_name(thing.address);
  return name.empty() ? field_at(thing.address) : name;
}

std::string ToldNames::name_by_place(const Thing& thing) {
  if (thing.given != 0)
    if (const std::string& given = text_at(thing.given); !given.empty()) return given;
  const std::string place = sites_.short_place(thing.site);
  return place.empty() ? "" : fmt::format("{}@{}", thing.kind, place);
}

}  // namespace heddle
