#include "live/told_names.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "trace/stand_in.h"

namespace heddle {

std::string plain(std::string name) {
  for (char& c : name)
    if (c == ' ' || c == '|' || c == '(' || c == ')' || c == ',' || c == '\t' || c == '\n') c = '_';
  return name;
}

uint32_t ToldNames::number_of(Space space, const std::string& name) {
  UsedNames& used = this->used(space);
  const auto [number, is_new] = used.numbers.try_emplace(name, static_cast<uint32_t>(used.names.size()));
  if (is_new) used.names.push_back({.text = name, .count = 0, .ended = {}});
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
  std::vector<uint32_t>& ended = used(space).names[number].ended;
  if (ended.empty()) return add(space, number);
  const uint32_t again = ended.back();
  ended.pop_back();
  return again;
}

void ToldNames::end(Space space, uint32_t number) {
  UsedNames& used = this->used(space);
  used.names[used.by_thing[number]].ended.push_back(number);
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
