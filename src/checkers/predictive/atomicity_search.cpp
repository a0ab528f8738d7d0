#include "checkers/predictive/atomicity_search.h"

#include <tbb/parallel_for.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "checkers/predictive/explain_pair.h"
#include "checkers/predictive/movers.h"

namespace heddle::predictive {

namespace {

// A pair with a grid of this many states costs as much as one step of a search.
constexpr uint64_t kCellsPerStep = 256;

class AtomicitySearch {
 public:
  AtomicitySearch(const Transactions& run, const LocksetTable& locksets, uint64_t budget,
                  const OnSearchProgress& on_progress)
      : run_(run), locksets_(locksets), budget_(budget), on_progress_(on_progress) {
    uses_.reserve(run.shapes.size());
    for (const Shape& shape : run.shapes) uses_.push_back(variable_uses(shape));
    index_groups();
    index_variables();
  }

  SearchResult search() {
    find_roots();
    search_pairs();
    search_cycles();
    for (Root& root : roots_) {
      result_.exhausted += root.exhausted ? 1 : 0;
      result_.pairs += root.pairs;
      result_.too_large += root.too_large;
      if (!root.witness) continue;
      for (const CycleMember& member : root.witness->members)
        root.witness->is_proved.push_back(is_proved_[member.group]);
      result_.witnesses.push_back(std::move(*root.witness));
    }
    return std::move(result_);
  }

 private:
  // Blocks to be judged together: all groups of one shape that reduction could not prove, or a single one
  // that synchronizes inside.
  struct Root {
    ShapeId shape = 0;
    std::vector<uint32_t> groups;
    std::optional<Witness> witness;
    uint64_t pairs = 0;
    uint64_t too_large = 0;
    bool exhausted = false;
  };
  // Groups of one thread, in the order of the forced order.
  using Chain = std::vector<uint32_t>;

  const Group& group(uint32_t number) const { return run_.groups[number]; }

  void index_groups() {
    chains_.resize(run_.shapes.size());
    std::vector<std::map<ThreadId, Chain>> by_thread(run_.shapes.size());
    for (uint32_t i = 0; i < run_.groups.size(); ++i) {
      const Group& of = group(i);
      if (of.thread >= of_thread_.size()) of_thread_.resize(of.thread + std::size_t{1});
      of_thread_[of.thread].push_back(i);
      if (!of.synchronizes()) by_thread[of.shape][of.thread].push_back(i);
    }
    synchronizing_.resize(of_thread_.size());
    for (std::size_t thread = 0; thread < of_thread_.size(); ++thread) {
      std::sort(of_thread_[thread].begin(), of_thread_[thread].end(), [&](uint32_t a, uint32_t b) {
        return std::pair(group(a).stretch, group(a).earliest.first) <
               std::pair(group(b).stretch, group(b).earliest.first);
      });
      std::copy_if(of_thread_[thread].begin(), of_thread_[thread].end(),
                   std::back_inserter(synchronizing_[thread]),
                   [&](uint32_t number) { return group(number).synchronizes(); });
    }
    for (ShapeId shape = 0; shape < run_.shapes.size(); ++shape) {
      for (auto& [thread, chain] : by_thread[shape]) {
        std::sort(chain.begin(), chain.end(),
                  [&](uint32_t a, uint32_t b) { return group(a).stretch < group(b).stretch; });
        chains_[shape].push_back(std::move(chain));
      }
    }
  }

  void index_variables() {
    for (ShapeId shape = 0; shape < run_.shapes.size(); ++shape) {
      for (const VariableUse& use : uses_[shape]) {
        if (use.variable >= shapes_of_variable_.size())
          shapes_of_variable_.resize(use.variable + std::size_t{1});
        shapes_of_variable_[use.variable].push_back({shape, use.writes()});
      }
    }
  }

  void find_roots() {
    const Movers movers(run_, locksets_, RaceFreedom::kPairwise);
    std::map<ShapeId, std::size_t> root_of_shape;
    is_proved_.assign(run_.groups.size(), true);
    for (uint32_t i = 0; i < run_.groups.size(); ++i) {
      const Group& of = group(i);
      if (!run_.shapes[of.shape].is_block) continue;
      ++result_.blocks;
      if (!movers.find_break(run_.shapes[of.shape], of.thread)) {
        ++result_.proved;
        continue;
      }
      is_proved_[i] = false;
      if (of.synchronizes()) {
        roots_.push_back({of.shape, {i}, {}, 0, 0, false});
        continue;
      }
      const auto [known, is_new] = root_of_shape.emplace(of.shape, roots_.size());
      if (is_new) roots_.push_back({of.shape, {}, {}, 0, 0, false});
      roots_[known->second].groups.push_back(i);
    }
  }

  void search_pairs() {
    if (roots_.empty()) return;
    const uint64_t share = std::max<uint64_t>(budget_ / roots_.size(), 1);
    std::atomic<std::size_t> done = 0;
    for_each(roots_.size(), [&](std::size_t i) {
      search_pairs(roots_[i], share);
      return static_cast<double>(++done) / static_cast<double>(roots_.size()) / 2;
    });
  }

  void search_cycles() {
    std::vector<std::pair<std::size_t, uint32_t>> open;  // root and group
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (!roots_[i].witness)
        for (const uint32_t group : roots_[i].groups) open.emplace_back(i, group);
    if (open.empty()) return;
    const CycleSearch search(run_, uses_);
    const uint64_t share = std::max<uint64_t>(budget_ / open.size(), 1);
    std::vector<CycleSearch::Answer> answers(open.size());
    std::atomic<std::size_t> done = 0;
    for_each(open.size(), [&](std::size_t i) {
      answers[i] = search.find(open[i].second, share);
      return 0.5 + static_cast<double>(++done) / static_cast<double>(open.size()) / 2;
    });
    for (std::size_t i = 0; i < open.size(); ++i) {
      Root& root = roots_[open[i].first];
      if (root.witness) continue;
      root.witness = std::move(answers[i].witness);
      root.exhausted |= answers[i].exhausted;
    }
    for (Root& root : roots_)
      if (root.witness) root.exhausted = false;
  }

  // Runs work(0) to work(count - 1) on all cores; each returns what part of everything is done. The thread
  // that calls works, too, and it alone tells the progress.
  template <class Work>
  void for_each(std::size_t count, Work work) {
    const std::thread::id caller = std::this_thread::get_id();
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      const double part = work(i);
      if (on_progress_ && std::this_thread::get_id() == caller) on_progress_(part);
    });
  }

  PairMember member(uint32_t number) const {
    return {run_.shapes[group(number).shape], uses_[group(number).shape], group(number)};
  }

  // Looks for a rival until one refutes the root, in an order that is the same in every run.
  void search_pairs(Root& root, uint64_t share) const {
    uint64_t left = share;
    const auto try_pair = [&](uint32_t of_root, uint32_t rival) {
      const uint64_t cells =
          (run_.shapes[root.shape].steps.size() + 1) * (run_.shapes[group(rival).shape].steps.size() + 1);
      const uint64_t cost = 1 + cells / kCellsPerStep;
      root.exhausted |= left < cost;
      if (root.exhausted) return;
      left -= cost;
      ++root.pairs;
      compare(root, of_root, rival);
    };
    const auto is_over = [&] { return root.witness.has_value() || root.exhausted; };
    const std::vector<ShapeId> rival_shapes = rivals(root.shape);
    const bool alone = group(root.groups.front()).synchronizes();
    if (!alone) {
      for (const auto& [of_root, rival] : concurrent_pairs(root, rival_shapes)) {
        if (is_over()) return;
        try_pair(of_root, rival);
      }
    }
    // Transactions that synchronize inside are judged one by one: also those that share nothing with the
    // root, but have no place before or after it.
    for (const uint32_t of_root : root.groups) {
      for (const Chain& chain : alone ? of_thread_ : synchronizing_) {
        if (chain.empty() || group(chain.front()).thread == group(of_root).thread) continue;
        const auto [first, last] = overlapping(of_root, chain);
        for (auto other = first; other != last; ++other) {
          if (is_over()) return;
          const bool conflicts =
              std::binary_search(rival_shapes.begin(), rival_shapes.end(), group(*other).shape);
          const bool is_wrapped =
              forces(group(of_root), group(*other)) && forces(group(*other), group(of_root));
          if (conflicts || is_wrapped) try_pair(of_root, *other);
        }
      }
    }
  }

  // For each rival shape a group of the root and one of that shape that no forced order separates, if there
  // are such. Either shape by shape, or by what the forced order leaves beside each group of the root,
  // whichever is less.
  std::vector<std::pair<uint32_t, uint32_t>> concurrent_pairs(
      const Root& root, const std::vector<ShapeId>& rival_shapes) const {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    const std::size_t by_shape = rival_shapes.size() * root.groups.size();
    std::size_t beside = 0;
    for (const uint32_t of_root : root.groups) {
      for (const Chain& chain : of_thread_) {
        const auto [first, last] = overlapping(of_root, chain);
        beside += static_cast<std::size_t>(last - first);
      }
      if (beside > by_shape) break;
    }
    if (beside > by_shape) {
      for (const ShapeId rival : rival_shapes)
        if (const auto pair = find_concurrent(root.groups, rival)) pairs.push_back(*pair);
      return pairs;
    }
    tsl::robin_set<ShapeId, MixHash> known;
    for (const uint32_t of_root : root.groups) {
      for (const Chain& chain : of_thread_) {
        if (chain.empty() || group(chain.front()).thread == group(of_root).thread) continue;
        const auto [first, last] = overlapping(of_root, chain);
        for (auto other = first; other != last; ++other) {
          const ShapeId shape = group(*other).shape;
          if (!group(*other).synchronizes() &&
              std::binary_search(rival_shapes.begin(), rival_shapes.end(), shape) &&
              known.insert(shape).second)
            pairs.emplace_back(of_root, *other);
        }
      }
    }
    return pairs;
  }

  // The part of another thread's transactions that is neither wholly before this one nor wholly after it.
  std::pair<Chain::const_iterator, Chain::const_iterator> overlapping(uint32_t number,
                                                                      const Chain& chain) const {
    const auto wholly_before = [](const Group& before, const Group& after) {
      return after.clock_at_start().knows(before.clock_at_end().epoch());
    };
    const Group& of = group(number);
    const auto first = std::partition_point(chain.begin(), chain.end(),
                                            [&](uint32_t other) { return wholly_before(group(other), of); });
    const auto last = std::partition_point(first, chain.end(),
                                           [&](uint32_t other) { return !wholly_before(of, group(other)); });
    return {first, last};
  }

  void compare(Root& root, uint32_t of_root, uint32_t rival) const {
    const PairMember first = member(of_root);
    const PairMember second = member(rival);
    PairAnswer answer = check_pair(first, second, locksets_);
    if (answer.too_large) ++root.too_large;
    if (!answer.schedule) return;
    PairExplanation explanation = explain_pair(first, second, *answer.schedule);
    Witness witness{
        {{of_root, false}, {rival, false}}, std::move(explanation.edges), std::move(*answer.schedule), {}};
    if (explanation.swapped) {
      std::swap(witness.members[0], witness.members[1]);
      for (ScheduledStep& step : witness.schedule) step.member = 1 - step.member;
    }
    root.witness = std::move(witness);
  }

  // Shapes with a conflicting access, each once, in ascending order.
  std::vector<ShapeId> rivals(ShapeId shape) const {
    std::vector<ShapeId> rivals;
    for (const VariableUse& use : uses_[shape])
      for (const auto& [other, writes] : shapes_of_variable_[use.variable])
        if (writes || use.writes()) rivals.push_back(other);
    std::sort(rivals.begin(), rivals.end());
    rivals.erase(std::unique(rivals.begin(), rivals.end()), rivals.end());
    return rivals;
  }

  // A group of the root and one of the shape that no forced order separates. What comes before a transaction
  // is a beginning of a chain and what comes after it an end, so that one look in the middle is enough.
  std::optional<std::pair<uint32_t, uint32_t>> find_concurrent(const std::vector<uint32_t>& of_root,
                                                               ShapeId rival) const {
    for (const uint32_t mine : of_root) {
      for (const Chain& chain : chains_[rival]) {
        if (group(chain.front()).thread == group(mine).thread) continue;
        const auto first = std::partition_point(
            chain.begin(), chain.end(), [&](uint32_t other) { return forces(group(other), group(mine)); });
        if (first != chain.end() && !forces(group(mine), group(*first))) return std::pair(mine, *first);
      }
    }
    return std::nullopt;
  }

  const Transactions& run_;
  const LocksetTable& locksets_;
  uint64_t budget_;
  const OnSearchProgress& on_progress_;
  std::vector<std::vector<VariableUse>> uses_;  // by shape
  std::vector<std::vector<Chain>> chains_;      // by shape
  std::vector<Chain> of_thread_;                // by thread: all its groups
  std::vector<Chain> synchronizing_;            // by thread: those that synchronize inside
  std::vector<std::vector<std::pair<ShapeId, bool>>> shapes_of_variable_;  // by variable; with: writes
  std::vector<bool> is_proved_;                                            // by group
  std::vector<Root> roots_;
  SearchResult result_;
};

}  // namespace

SearchResult search_violations(const Transactions& run, const LocksetTable& locksets, uint64_t budget,
                               const OnSearchProgress& on_progress) {
  return AtomicitySearch(run, locksets, budget, on_progress).search();
}

}  // namespace heddle::predictive
