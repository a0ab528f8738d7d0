#include "core/annotate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace heddle {

namespace {

// A block or task that a thread is in or a lock that it holds.
struct Open {
  static constexpr std::size_t kNoSpan = static_cast<std::size_t>(-1);

  Span::Kind kind = Span::Kind::kBlock;
  uint32_t name = kNoId;  // in the space of its kind
  EventIndex from = 0;
  bool adopts = false;         // threads forked in it are in it, too
  uint32_t depth = 1;          // how often a recursive lock was taken
  std::size_t span = kNoSpan;  // its place in Annotator::spans_, once a step lies in it
};

Space space(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::kBlock: return Space::kBlock;
    case Span::Kind::kTask: return Space::kTask;
    case Span::Kind::kLock:
    case Span::Kind::kSharedLock: break;
  }
  return Space::kLock;
}

auto is_a(Span::Kind kind) {
  return [kind](const Open& candidate) { return candidate.kind == kind; };
}
bool is_block_or_task(const Open& candidate) {
  return candidate.kind == Span::Kind::kBlock || candidate.kind == Span::Kind::kTask;
}

class Annotator {
 public:
  Annotator(std::span<Finding> findings, bool wants_spans) : findings_(findings), wants_spans_(wants_spans) {
    for (std::size_t i = 0; i < findings.size(); ++i)
      for (Step& step : findings[i].steps)
        if (wants_spans || !step.block_is_known) places_.push_back({step.event, i, &step});
    std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
      return std::tie(a.event, a.finding, a.step) < std::tie(b.event, b.finding, b.step);
    });
  }

  void read(TraceSource& source) {
    for (EventBatch batch = source.next(); !batch.empty() && !is_done(); batch = source.next()) {
      const Names& names = source.names();
      threads_.resize(std::max<std::size_t>(threads_.size(), names.table(Space::kThread).size()));
      for (std::size_t i = 0; i < batch.events.size() && !is_done(); ++i)
        see(batch.events[i], batch.first + i, names);
    }
    if (wants_spans_) hand_out();
  }

 private:
  struct Place {
    EventIndex event;
    std::size_t finding;
    Step* step;
  };

  bool is_done() const { return next_ == places_.size() && unended_ == 0; }

  // A step that opens or ends something lies in it.
  void see(const Event& event, EventIndex index, const Names& names) {
    std::vector<Open>& open = threads_[event.thread];
    const Operation operation = event.operation;
    if (operation == Operation::kBeginAtomic || operation == Operation::kBeginDeterministic)
      begin_block(open, event, index);
    if (wants_spans_ && operation == Operation::kTaskBegin)
      open.push_back({Span::Kind::kTask, event.object, index, true});
    if (wants_spans_ && operation == Operation::kAcquire) take(open, Span::Kind::kLock, event.object, index);
    if (wants_spans_ && operation == Operation::kAcquireShared)
      take(open, Span::Kind::kSharedLock, event.object, index);
    for (; next_ < places_.size() && places_[next_].event == index; ++next_)
      annotate(places_[next_], open, names);
    if (operation == Operation::kFork) fork(open, threads_[event.object], index);
    if (operation == Operation::kJoin) stop(threads_[event.object], index);
    if (operation == Operation::kThreadEnd) stop(open, index);
    if (operation == Operation::kEnd) end(open, index, is_a(Span::Kind::kBlock));
    if (operation == Operation::kTaskEnd) end(open, index, is_a(Span::Kind::kTask));
    if (operation == Operation::kRelease || operation == Operation::kReleaseShared)
      end(open, index, [&](const Open& candidate) {
        return candidate.kind != Span::Kind::kBlock && candidate.name == event.object;
      });
  }

  // A deterministic block adopts, unless an atomic one stands around it (core/blocks.h).
  static void begin_block(std::vector<Open>& open, const Event& event, EventIndex index) {
    const auto around = std::find_if(open.rbegin(), open.rend(), is_a(Span::Kind::kBlock));
    const bool adopts =
        event.operation == Operation::kBeginDeterministic && (around == open.rend() || around->adopts);
    open.push_back({Span::Kind::kBlock, event.object, index, adopts});
  }

  static void fork(const std::vector<Open>& parent, std::vector<Open>& child, EventIndex index) {
    for (const Open& around : parent)
      if (around.adopts) child.push_back({around.kind, around.name, index, true});
  }

  // The thread acts no more.
  void stop(std::vector<Open>& open, EventIndex index) {
    while (std::any_of(open.begin(), open.end(), is_block_or_task)) end(open, index, is_block_or_task);
  }

  static void take(std::vector<Open>& open, Span::Kind kind, uint32_t lock, EventIndex index) {
    for (Open& candidate : open)
      if (candidate.kind == kind && candidate.name == lock) {
        ++candidate.depth;
        return;
      }
    open.push_back({kind, lock, index});
  }

  template <class IsIt>
  void end(std::vector<Open>& open, EventIndex index, IsIt is_it) {
    const auto last = std::find_if(open.rbegin(), open.rend(), is_it);
    if (last == open.rend() || --last->depth > 0) return;
    if (last->span != Open::kNoSpan) {
      spans_[last->span].to = index;
      spans_[last->span].is_open = false;
      --unended_;
    }
    open.erase(std::prev(last.base()));
  }

  void annotate(const Place& place, std::vector<Open>& open, const Names& names) {
    for (Open& around : open) {
      const std::string_view name = names.name(space(around.kind), around.name);
      // Innermost last, so that it is the one that stays.
      if (around.kind == Span::Kind::kBlock && !place.step->block_is_known) place.step->block = name;
      if (!wants_spans_) continue;
      if (around.span == Open::kNoSpan) {
        around.span = spans_.size();
        spans_.push_back({around.kind, place.step->thread, std::string(name), around.from, 0, true});
        ++unended_;
      }
      spans_[around.span].to = place.event;
      span_of_finding_.emplace_back(place.finding, around.span);
    }
  }

  void hand_out() {
    for (Finding& finding : findings_) finding.spans.clear();
    std::sort(span_of_finding_.begin(), span_of_finding_.end());
    const auto end = std::unique(span_of_finding_.begin(), span_of_finding_.end());
    for (auto it = span_of_finding_.begin(); it != end; ++it)
      findings_[it->first].spans.push_back(spans_[it->second]);
  }

  std::span<Finding> findings_;
  bool wants_spans_;
  std::vector<Place> places_;               // of the steps, in the order of the trace
  std::size_t next_ = 0;                    // of places_
  std::vector<std::vector<Open>> threads_;  // by thread, outermost first
  std::vector<Span> spans_;                 // those that steps lie in
  std::size_t unended_ = 0;                 // of them
  std::vector<std::pair<std::size_t, std::size_t>> span_of_finding_;
};

}  // namespace

bool needs_blocks(std::span<const Finding> findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return !std::all_of(finding.steps.begin(), finding.steps.end(),
                        [](const Step& step) { return step.block_is_known; });
  });
}

void annotate_blocks(std::span<Finding> findings, TraceSource& source) {
  Annotator(findings, false).read(source);
}

void annotate_spans(std::span<Finding> findings, TraceSource& source) {
  Annotator(findings, true).read(source);
}

}  // namespace heddle
