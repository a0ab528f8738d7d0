#include "checkers/predictive/transactions.h"

#include <algorithm>
#include <utility>

namespace heddle::predictive {

namespace {

uint64_t hash_of(const Shape& shape) {
  uint64_t hash = shape.is_block ? mix(uint64_t{shape.begin.event.object} + 1) : 0;
  if (shape.touches_shared) hash = mix(hash + 1);
  for (const ShapeStep& step : shape.steps) {
    const unsigned flags = static_cast<unsigned>(step.kind) << 3 | (step.around ? 4U : 0U) |
                           (step.initializes ? 2U : 0U) | (step.idle ? 1U : 0U);
    hash = mix(hash ^ (uint64_t{step.object} << 32 | step.held));
    hash = mix(hash ^ (step.moment << 8 | flags) ^ uint64_t{step.inner} << 40);
  }
  return hash;
}

bool same(const InnerBlock& a, const InnerBlock& b) {
  return a.name == b.name && a.around == b.around && (a.name != kNoId || a.site == b.site);
}

bool same(const Shape& a, const Shape& b) {
  return a.is_block == b.is_block && a.touches_shared == b.touches_shared &&
         (!a.is_block || a.begin.event.object == b.begin.event.object) && a.steps == b.steps &&
         std::equal(a.inner.begin(), a.inner.end(), b.inner.begin(), b.inner.end(),
                    [](const InnerBlock& one, const InnerBlock& other) { return same(one, other); });
}

// Takes out what belongs to idle steps. An empty list stays empty.
template <class Item>
void keep_busy(std::vector<Item>& items, const std::vector<bool>& is_idle) {
  std::size_t i = 0;
  std::erase_if(items, [&](const Item&) { return is_idle[i++]; });
}

}  // namespace

Origin origin_of(const Shape& shape, const Group& group, bool latest, std::size_t step) {
  const Instance& instance = latest ? group.latest : group.earliest;
  const ShapeStep& of = shape.steps[step];
  Origin origin = shape.origins[step];
  origin.event.thread = group.thread;
  if (of.around && is_release(of.kind)) {
    origin.event.operation = of.kind == StepKind::kRelease ? Operation::kRelease : Operation::kReleaseShared;
    StepPlace place{instance.last, kNoId};
    for (const Holding& holding : instance.after)
      if (holding.lock == of.object) place = holding.given_back.value_or(place);
    origin.index = place.index;
    origin.event.site = place.site;
  } else if (shape.is_block) {
    origin.index = instance.places[step].index;
    origin.event.site = instance.places[step].site;
  } else if (!of.around) {
    origin.index = instance.first;
    origin.event.site = instance.site;
  } else {
    for (const Holding& holding : instance.before)
      if (holding.lock == of.object) origin.index = holding.since;
  }
  return origin;
}

bool stays_held(const Instance& instance, uint32_t lock) {
  return std::any_of(instance.after.begin(), instance.after.end(),
                     [&](const Holding& holding) { return holding.lock == lock && !holding.given_back; });
}

Origin begin_of(const Shape& shape, const Group& group, bool latest) {
  const Instance& instance = latest ? group.latest : group.earliest;
  Origin origin = shape.begin;
  origin.event.thread = group.thread;
  origin.event.site = instance.site;
  origin.index = instance.first;
  return origin;
}

ShapeId ShapeTable::intern(Shape shape) {
  std::vector<ShapeId>& alike = by_hash_[hash_of(shape)];
  for (const ShapeId id : alike)
    if (same(shapes_[id], shape)) return id;
  const auto id = static_cast<ShapeId>(shapes_.size());
  alike.push_back(id);
  shapes_.push_back(std::move(shape));
  return id;
}

Group* GroupTable::find(ShapeId shape, ThreadId thread, uint64_t stretch) {
  const auto number = numbers_.find({uint64_t{shape} << 32 | thread, stretch});
  return number == numbers_.end() ? nullptr : &groups_[number->second];
}

void GroupTable::add(Group part) {
  const Key key{uint64_t{part.shape} << 32 | part.thread, part.stretch};
  const bool is_new =
      part.synchronizes() || numbers_.try_emplace(key, static_cast<uint32_t>(groups_.size())).second;
  if (is_new) {
    groups_.push_back(std::move(part));
    return;
  }
  Group& group = groups_[numbers_.at(key)];
  group.count += part.count;
  if (part.earliest.first < group.earliest.first) group.earliest = std::move(part.earliest);
  if (part.latest.first > group.latest.first) group.latest = std::move(part.latest);
}

Transactions that_matter(Transactions run) {
  // A transaction that is kept has a step to show; an idle access does no harm.
  for (Shape& shape : run.shapes) {
    const bool all_idle = std::all_of(shape.steps.begin(), shape.steps.end(),
                                      [](const ShapeStep& step) { return step.around || step.idle; });
    const auto first =
        std::find_if(shape.steps.begin(), shape.steps.end(), [](const ShapeStep& step) { return step.idle; });
    if (all_idle && first != shape.steps.end()) first->idle = false;
  }
  Transactions result;
  result.lock_is_shared = run.lock_is_shared;
  result.logs = std::move(run.logs);
  result.blocks = run.blocks;
  result.unended = run.unended;
  result.held_at_end = run.held_at_end;
  result.deterministic = run.deterministic;
  result.not_counted = run.not_counted;
  ShapeTable shapes;
  std::vector<ShapeId> new_id;
  new_id.reserve(run.shapes.size());
  // Each is moved, not copied: a run may have as many of them as events.
  std::vector<bool> matters;                           // by shape
  tsl::robin_map<ShapeId, std::vector<bool>> is_idle;  // by shape that has such steps: each step
  for (ShapeId id = 0; id < run.shapes.size(); ++id) {
    Shape& shape = run.shapes[id];
    matters.push_back(shape.touches_shared);
    std::vector<bool> idle;
    idle.reserve(shape.steps.size());
    for (const ShapeStep& step : shape.steps) idle.push_back(step.idle);
    if (std::find(idle.begin(), idle.end(), true) != idle.end()) {
      keep_busy(shape.steps, idle);
      keep_busy(shape.origins, idle);
      is_idle[id] = std::move(idle);
    }
    new_id.push_back(shapes.intern(std::move(shape)));
  }
  GroupTable groups;
  for (Group& group : run.groups) {
    if (!matters[group.shape] && !group.synchronizes()) continue;
    if (const auto idle = is_idle.find(group.shape); idle != is_idle.end()) {
      keep_busy(group.clocks, idle->second);
      keep_busy(group.earliest.places, idle->second);
      keep_busy(group.latest.places, idle->second);
    }
    group.shape = new_id[group.shape];
    groups.add(std::move(group));
  }
  result.shapes = std::move(shapes.list());
  result.groups = std::move(groups.list());
  find_holdings(result);
  return result;
}

}  // namespace heddle::predictive
