#include "checkers/predictive/atomicity_search.h"

#include <tbb/parallel_for.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "checkers/predictive/explain_pair.h"
#include "checkers/predictive/reducibility.h"

namespace heddle::predictive {

namespace {

class AtomicitySearch {
 public:
  AtomicitySearch(const Transactions& run, const LocksetTable& locksets, uint64_t budget,
                  const OnSearchProgress& on_progress)
      : run_(run),
        locksets_(locksets),
        budget_(budget),
        on_progress_(on_progress),
        reducibility_(run, indices_, locksets_),
        replay_(run) {
    indices_.reserve(run.shapes.size());
    for (const Shape& shape : run.shapes) indices_.push_back(index_shape(shape, locksets_));
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
      result_.too_large += root.too_large ? 1 : 0;
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
    std::vector<VariableId> cut_at{};  // variables at whose accesses it may be cut, ascending
    std::optional<Witness> witness{};
    int rank = 0;  // of the witness: how good it is
    uint64_t pairs = 0;
    bool too_large = false;  // a pair was not compared: no budget is enough
    bool exhausted = false;
  };
  // Of a witness that cuts the root itself and that the run can come to.
  static constexpr int kBestRank = 4;

  // Shapes that access a variable.
  struct Users {
    std::vector<ShapeId> writers;
    std::vector<ShapeId> readers;  // only
  };

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
      for (const VariableUse& use : indices_[shape].variables) {
        if (use.variable >= shapes_of_variable_.size())
          shapes_of_variable_.resize(use.variable + std::size_t{1});
        (use.writes() ? shapes_of_variable_[use.variable].writers : shapes_of_variable_[use.variable].readers)
            .push_back(shape);
      }
    }
  }

  void find_roots() {
    std::map<ShapeId, std::size_t> root_of_shape;
    is_proved_.assign(run_.groups.size(), true);
    for (uint32_t i = 0; i < run_.groups.size(); ++i) {
      const Group& of = group(i);
      if (!run_.shapes[of.shape].is_block) continue;
      ++result_.blocks;
      if (reducibility_.is_reducible(i)) {
        ++result_.proved;
        continue;
      }
      is_proved_[i] = false;
      std::size_t place = roots_.size();
      if (!of.synchronizes()) place = root_of_shape.emplace(of.shape, place).first->second;
      if (place == roots_.size()) roots_.push_back({of.shape, {}});
      Root& root = roots_[place];
      const bool is_known = !root.groups.empty() && group(root.groups.back()).thread == of.thread;
      root.groups.push_back(i);
      if (!is_known) reducibility_.add_cuts(i, root.cut_at);
    }
  }

  void search_pairs() {
    share_budget(roots_.size(), 0, [&](std::size_t i, uint64_t share) {
      Root& root = roots_[i];
      root.pairs = 0;
      root.exhausted = false;
      root.too_large = false;
      root.witness.reset();
      root.rank = 0;
      const uint64_t looks =
          std::min(share, std::numeric_limits<uint64_t>::max() / kLooksPerStep) * kLooksPerStep;
      uint64_t left = looks;
      search_pairs(root, left);
      const bool wants_more = root.exhausted && root.rank < kBestRank;
      root.exhausted &= !root.witness;
      return Spent{(looks - left) / kLooksPerStep, wants_more};
    });
  }

  void search_cycles() {
    std::vector<std::pair<std::size_t, uint32_t>> open;  // root and group
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (!roots_[i].witness)
        for (const uint32_t group : roots_[i].groups)
          if (!reducibility_.is_reducible_in_cycles(group)) open.emplace_back(i, group);
    if (open.empty()) return;
    const CycleSearch search(run_, indices_, reducibility_.concurrency(), replay_);
    std::vector<CycleSearch::Answer> answers(open.size());
    share_budget(open.size(), 0.5, [&](std::size_t i, uint64_t share) {
      answers[i] = search.find(open[i].second, share);
      return Spent{answers[i].used, answers[i].exhausted};
    });
    for (std::size_t i = 0; i < open.size(); ++i) {
      Root& root = roots_[open[i].first];
      if (root.witness) continue;
      root.witness = std::move(answers[i].witness);
      root.exhausted |= answers[i].exhausted;
    }
    for (Root& root : roots_) root.exhausted &= !root.witness;
  }

  struct Spent {
    uint64_t steps = 0;
    bool exhausted = false;
  };

  // Runs work(0, share) to work(count - 1, share) on all cores, each with an even share of the budget. What
  // some leave is given to those whose share was not enough, who start again, until that no longer doubles
  // it: who gets how much does not depend on the number of cores.
  template <class Work>
  void share_budget(std::size_t count, double done_before, Work work) {
    std::vector<std::size_t> open(count);
    for (std::size_t i = 0; i < count; ++i) open[i] = i;
    uint64_t left = budget_;
    for (uint64_t last = 0; !open.empty();) {
      const uint64_t share = std::max<uint64_t>(left / open.size(), 1);
      if (share / 2 < last) return;
      last = share;
      std::vector<Spent> spent(open.size());
      std::atomic<std::size_t> done = 0;
      for_each(open.size(), [&](std::size_t i) {
        spent[i] = work(open[i], share);
        return done_before +
               static_cast<double>(count - open.size() + ++done) / static_cast<double>(count) / 2;
      });
      std::vector<std::size_t> still;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (spent[i].exhausted) {
          still.push_back(open[i]);
        } else {
          left -= std::min(left, spent[i].steps);
        }
      }
      open = std::move(still);
    }
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
    return {run_.shapes[group(number).shape], indices_[group(number).shape], group(number)};
  }

  // Looks for a rival until one refutes the root, in an order that is the same in every run.
  void search_pairs(Root& root, uint64_t& left) const {
    const auto try_pair = [&](uint32_t of_root, uint32_t rival) {
      ++root.pairs;
      compare(root, of_root, rival, left);
    };
    const auto is_over = [&] { return root.rank == kBestRank || root.exhausted; };
    if (!spend(left, users_to_list(root))) {
      root.exhausted = true;
      return;
    }
    const std::vector<ShapeId> rival_shapes = rivals(root);
    const bool alone = group(root.groups.front()).synchronizes();
    if (!alone) {
      if (!spend(left, rival_shapes.size())) {
        root.exhausted = true;
        return;
      }
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
        const auto [first, last] = overlapping(run_, of_root, chain);
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

  // Of the looks that are left: one for so many entries of a list.
  static bool spend(uint64_t& left, uint64_t entries) {
    constexpr uint64_t kEntriesPerLook = 256;
    const bool is_enough = left >= entries / kEntriesPerLook;
    left -= std::min(left, entries / kEntriesPerLook);
    return is_enough;
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
        const auto [first, last] = overlapping(run_, of_root, chain);
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
        const auto [first, last] = overlapping(run_, of_root, chain);
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

  void compare(Root& root, uint32_t of_root, uint32_t rival, uint64_t& left) const {
    const PairMember first = member(of_root);
    const PairMember second = member(rival);
    PairAnswer answer = check_pair(first, second, locksets_, left);
    root.too_large |= answer.too_large;
    root.exhausted |= answer.exhausted && !answer.too_large;
    if (!answer.schedule) return;
    PairExplanation explanation = explain_pair(first, second, *answer.schedule);
    Witness witness{
        {{of_root, false}, {rival, false}}, std::move(explanation.edges), std::move(*answer.schedule)};
    if (explanation.swapped) {
      std::swap(witness.members[0], witness.members[1]);
      for (ScheduledStep& step : witness.schedule) step.member = 1 - step.member;
    }
    replay(witness, left);
    root.exhausted |= witness.feasibility == Feasibility::kUnknown;
    // Who cuts the rival will be found with the rival; the root may be cut by another one.
    const bool blames_rival = explanation.swapped && !is_proved_[rival];
    const int rank = 1 + (blames_rival ? 0 : 1) + (witness.feasibility == Feasibility::kFeasible ? 2 : 0);
    if (rank <= root.rank) return;
    root.rank = rank;
    root.witness = std::move(witness);
  }

  // Any transactions of the two groups have the schedule. If the run cannot come to it with the first ones,
  // it may with others.
  void replay(Witness& witness, uint64_t& left) const {
    for (const auto& [first, second] :
         {std::pair(false, false), std::pair(true, true), std::pair(false, true), std::pair(true, false)}) {
      Witness other = witness;
      other.members[0].latest = first;
      other.members[1].latest = second;
      const auto is_repeated = [&](std::size_t member) {
        return other.members[member].latest && group(other.members[member].group).count == 1;
      };
      if (is_repeated(0) || is_repeated(1)) continue;
      replay_.judge(other, left);
      if (other.feasibility == Feasibility::kFeasible) {
        witness = std::move(other);
        return;
      }
      if (!first && !second) witness.feasibility = other.feasibility;
    }
  }

  // How many entries rivals() goes through.
  uint64_t users_to_list(const Root& root) const {
    uint64_t entries = 0;
    for (const VariableId variable : root.cut_at) {
      if (variable >= shapes_of_variable_.size()) continue;
      entries += shapes_of_variable_[variable].writers.size() + shapes_of_variable_[variable].readers.size();
    }
    return entries;
  }

  // Shapes with a conflicting access where the root may be cut, each once, in ascending order.
  std::vector<ShapeId> rivals(const Root& root) const {
    std::vector<ShapeId> rivals;
    for (const VariableUse& use : indices_[root.shape].variables) {
      if (!std::binary_search(root.cut_at.begin(), root.cut_at.end(), use.variable)) continue;
      const Users& users = shapes_of_variable_[use.variable];
      rivals.insert(rivals.end(), users.writers.begin(), users.writers.end());
      if (use.writes()) rivals.insert(rivals.end(), users.readers.begin(), users.readers.end());
    }
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
  LocksetTable locksets_;
  uint64_t budget_;
  const OnSearchProgress& on_progress_;
  std::vector<ShapeIndex> indices_;         // by shape
  std::vector<std::vector<Chain>> chains_;  // by shape
  std::vector<Chain> of_thread_;            // by thread: all its groups
  std::vector<Chain> synchronizing_;        // by thread: those that synchronize inside
  std::vector<Users> shapes_of_variable_;   // by variable
  std::vector<bool> is_proved_;             // by group
  Reducibility reducibility_;
  Replay replay_;
  std::vector<Root> roots_;
  SearchResult result_;
};

}  // namespace

SearchResult search_violations(const Transactions& run, const LocksetTable& locksets, uint64_t budget,
                               const OnSearchProgress& on_progress) {
  return AtomicitySearch(run, locksets, budget, on_progress).search();
}

}  // namespace heddle::predictive
