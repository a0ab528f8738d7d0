// Shared pointers. Who asks how many there are reads the variable itself, where all takes and drops count;
// for who asks whether one is left there are two more locations (pointer_counts.h).
#include <charconv>

#include "checkers/sequential_spec/recorder.h"

namespace heddle::sequential_spec {

uint32_t Recorder::number_of(const Event& event) const {
  const std::string_view text = names_.name(Space::kValue, event.value);
  uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A location of the variable's present life that stands for something else about it.
uint32_t Recorder::side_location(tsl::robin_map<uint32_t, uint32_t>& of, uint32_t place) {
  const auto [entry, is_new] = of.emplace(place, static_cast<uint32_t>(history_.variables.size()));
  if (is_new) history_.variables.push_back(uint32_t{history_.variables[place]});
  return entry->second;
}

void Recorder::add_take(const Event& event, EventIndex index) {
  const uint32_t place = location(event.object);
  add(event, index, Kind::kCount, place);
  const uint32_t life = side_location(life_of_, place);
  const NodeId take = add(event, index, Kind::kCount, life);
  pointers_.take(life, take, history_.context(take));
}

void Recorder::add_drop(const Event& event, EventIndex index) {
  const uint32_t place = location(event.object);
  const NodeId drop = add(event, index, Kind::kCount, place);
  const uint32_t life = side_location(life_of_, place);
  const PointerCounts::Dropped dropped = pointers_.drop(life, history_.context(drop));
  if (dropped.take == kNoNode) {
    add(event, index, Kind::kCount, life);
  } else {
    history_.undo(dropped.take);
    if (dropped.was_seen) add(event, index, Kind::kCount, side_location(borrowed_of_, place));
  }
  if (number_of(event) == 0) pointers_.die(life);
}

void Recorder::add_alive(const Event& event, EventIndex index) {
  const uint32_t place = location(event.object);
  const uint32_t life = side_location(life_of_, place);
  const NodeId look = add(event, index, Kind::kRead, life);
  history_.nodes[look].decides = true;
  const uint32_t number = number_of(event);
  if (!pointers_.may_be_borrowed(history_, life, number, history_.context(look))) return;
  const NodeId borrowed = add(event, index, Kind::kRead, side_location(borrowed_of_, place));
  history_.nodes[borrowed].decides = true;
  pointers_.look(history_, life, number, history_.context(borrowed), borrowed);
}

}  // namespace heddle::sequential_spec
