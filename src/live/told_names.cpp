#include "live/told_names.h"

#include <fmt/format.h>

#include <utility>

#include "trace/stand_in.h"

namespace heddle {

std::string plain(std::string name) {
  for (char& c : name)
    if (c == ' ' || c == '|' || c == '(' || c == ')' || c == ',' || c == '\t' || c == '\n') c = '_';
  return name;
}

uint32_t ToldNames::add(Space space, const std::string& name) {
  UsedNames& used = this->used(space);
  const auto [number, is_new] = used.numbers.try_emplace(name, static_cast<uint32_t>(used.names.size()));
  if (is_new) used.names.emplace_back();
  const uint32_t count = ++used.names[number->second].count;
  const uint32_t thing = names_.table(space).append(count == 1 ? name : fmt::format("{}#{}", name, count));
  if (thing >= used.by_thing.size()) used.by_thing.resize(thing + std::size_t{1}, kNoId);
  used.by_thing[thing] = number->second;
  return thing;
}

uint32_t ToldNames::add_or_reuse(Space space, const Thing& thing) {
  const std::string name = name_of(thing);
  UsedNames& used = this->used(space);
  const auto number = used.numbers.find(name);
  if (number == used.numbers.end() || used.names[number->second].ended.empty()) return add(space, name);
  std::vector<uint32_t>& ended = used.names[number->second].ended;
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

std::string ToldNames::name_of(const Thing& thing) {
  // A lock that stands for what it guards is not what lies there.
  std::string name = thing.given == 0 ? std::string() : text_at(thing.given);
  if (!name.starts_with(kStandIn)) name = symbolizer_.data_name(thing.address);
  if (name.empty()) name = field_at(thing.address);
  if (name.empty() && thing.given != 0) name = text_at(thing.given);
  if (name.empty()) {
    const std::string place = sites_.short_place(thing.site);
    name = place.empty() ? fmt::format("{}@{:#x}", thing.kind, thing.address)
                         : fmt::format("{}@{}", thing.kind, place);
  }
  return plain(std::move(name));
}

}  // namespace heddle
