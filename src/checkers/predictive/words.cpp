#include "checkers/predictive/words.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string_view noun(StepKind kind) {
  switch (kind) {
    case StepKind::kRead: return "read";
    case StepKind::kWrite: return "write";
    case StepKind::kUpdate: return "update";
    case StepKind::kAcquire:
    case StepKind::kAcquireShared: return "acquisition";
    case StepKind::kRelease:
    case StepKind::kReleaseShared: return "release";
    case StepKind::kSignal: return "signal";
    case StepKind::kReceive: return "wait";
  }
  return {};
}

std::string transaction_text(const Shape& shape, const Group& group, const Names& names) {
  if (!shape.is_block) {
    const auto access = std::find_if(shape.steps.begin(), shape.steps.end(),
                                     [](const ShapeStep& step) { return !step.around; });
    const Event& event = shape.origins[static_cast<std::size_t>(access - shape.steps.begin())].event;
    return fmt::format("{}'s {} of {}", names.thread(group.thread), noun(access->kind),
                       names.variable(event.object));
  }
  return block_text(block_of(shape, group), names);
}

std::string stable_name(const Shape& shape, const Group& group, const Names& names) {
  const Block block = block_of(shape, group);
  return block.name == kNoId && block.site == kNoId ? "unnamed block" : block_text(block, names);
}

std::vector<std::string> inner_names(const Shape& shape, const Group& group, uint32_t from, uint32_t to,
                                     const Names& names) {
  // A block comes after those around it.
  uint32_t a = shape.steps[from].inner;
  uint32_t b = shape.steps[to].inner;
  while (a != b) (a > b ? a : b) = shape.inner[std::max(a, b) - 1].around;
  std::vector<std::string> inner;
  for (; a != 0; a = shape.inner[a - 1].around) {
    Block block = block_of(shape, group);
    block.name = shape.inner[a - 1].name;
    block.site = shape.inner[a - 1].site;
    inner.push_back(block_text(block, names));
  }
  return inner;
}

std::string span_text(const std::string& from, const std::string& to, const std::string& transaction) {
  return from == to ? fmt::format("for the whole of {}", transaction)
                    : fmt::format("from {} to {}", from, to);
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
  // A lock taken before the block or given back after it is not in it.
  if (shape.is_block && !shape.steps[step].around) {
    const uint32_t inner = shape.steps[step].inner;
    result.block =
        names.name(Space::kBlock, inner == 0 ? shape.begin.event.object : shape.inner[inner - 1].name);
  }
  return result;
}

}  // namespace heddle::predictive
