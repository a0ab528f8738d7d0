#include "checkers/predictive/words.h"

#include <fmt/format.h>

#include "checkers/cycle_report.h"
#include "core/checker.h"

namespace heddle::predictive {

namespace {

Block block_of(const Shape& shape, const Group& group) {
  const Origin begin = begin_of(shape, group, false);
  Block block;
  block.name = begin.event.object;
  block.site = begin.event.site;
  block.begin = begin.index;
  block.opener = group.thread;
  return block;
}

}  // namespace

std::string transaction_text(const Shape& shape, const Group& group, const Names& names) {
  if (!shape.is_block) return fmt::format("this operation of {}", names.thread(group.thread));
  return block_text(block_of(shape, group), names);
}

std::string stable_name(const Shape& shape, const Group& group, const Names& names) {
  const Block block = block_of(shape, group);
  return block.name == kNoId && block.site == kNoId ? "unnamed block" : block_text(block, names);
}

std::string place_text(const Origin& origin, const Names& names) {
  const std::vector<std::string> frames = names.frames(origin.event.site);
  if (frames.empty()) return fmt::format("event {}", origin.index);
  return frames.front().substr(0, frames.front().find(" in "));
}

Step report_step(const Shape& shape, const Group& group, bool latest, std::size_t step,
                 const LocksetTable& locksets, const Names& names) {
  const Origin origin = origin_of(shape, group, latest, step);
  Step result = make_step(origin.event, origin.index, names);
  result.held = locksets.describe(shape.steps[step].held, names);
  result.block_is_known = true;
  if (shape.is_block) result.block = names.name(Space::kBlock, shape.begin.event.object);
  return result;
}

}  // namespace heddle::predictive
