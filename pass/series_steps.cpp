// What a loop does in a round, step by step (pass/series_writer.h).
#include <algorithm>

#include "pass/flow_functions.h"
#include "pass/series_writer.h"

namespace heddle {

using namespace llvm;

namespace {

constexpr uint16_t kMostOwnLabels = 512;

}  // namespace

bool SeriesWriter::is_inside(const Value* value) const {
  const auto* const instruction = dyn_cast<Instruction>(value);
  return instruction != nullptr && numbers_.contains(instruction->getParent());
}

SeriesWriter::Sources SeriesWriter::sources_of(Value* value) {
  if (is_inside(value)) return sources_.lookup(value);
  if (flow_.labels_of(value).empty()) return {};
  const auto [input, is_new] = inputs_.try_emplace(value, static_cast<uint16_t>(kInput + inputs_.size()));
  return {input->second};
}

void SeriesWriter::add(Sources& to, const Sources& from) {
  for (const uint16_t source : from)
    if (!is_contained(to, source)) to.push_back(source);
}

void SeriesWriter::collapse(Block& block, Sources& sources, Instruction& at, std::size_t most) {
  while (sources.size() > most) {
    const std::size_t taken = std::min<std::size_t>(sources.size(), runtime::kMostSources);
    Step step{.operation = Operation::kAssign, .at = &at};
    step.sources.append(sources.begin(), sources.begin() + static_cast<std::ptrdiff_t>(taken));
    step.target = own_label();
    sources.erase(sources.begin(), sources.begin() + static_cast<std::ptrdiff_t>(taken));
    sources.push_back(step.target);
    block.steps.push_back(std::move(step));
  }
}

void SeriesWriter::set(Block& block, Instruction& instruction, Sources sources) {
  collapse(block, sources, instruction,
           is_used_outside(instruction) ? 1 : std::size_t{runtime::kMostSources});
  sources_[&instruction] = std::move(sources);
}

void SeriesWriter::branch_on(Block& block, const Sources& sources, Instruction& at) {
  for (const uint16_t source : sources)
    if (branched_.insert(source).second)
      block.steps.push_back({.operation = Operation::kBranch, .target = source, .at = &at});
}

void SeriesWriter::understand_access(Block& block, Instruction& instruction, Value* pointer, Type* type,
                                     Value* stored) {
  const uint64_t size = flow_.of_.layout.getTypeStoreSize(type);
  const bool is_told = !instruction.hasMetadata(LLVMContext::MD_nosanitize);
  if (!is_told || !flow_.is_followed(pointer)) {
    // A constant, which one depends on the address.
    if (is_told && stored == nullptr) set(block, instruction, sources_of(pointer));
    return;
  }
  Sources written = stored == nullptr ? Sources() : sources_of(stored);
  collapse(block, written, instruction, 1);
  branch_on(block, sources_of(pointer), instruction);
  if (!loop_.places.contains(pointer) && !loop_.walking.contains(pointer) &&
      none_of(block.listed,
              [&](Instruction* access) { return getLoadStorePointerOperand(access) == pointer; }))
    block.listed.push_back(&instruction);
  Sources read;
  // Where it does not begin at a word's beginning, the monitor finds out.
  for (uint64_t at = 0; at < size; at += 8) {
    Step step{.operation = stored == nullptr ? Operation::kRead : Operation::kWrite, .at = &instruction};
    step.pointer = pointer;
    step.offset = static_cast<uint32_t>(at);
    step.size = static_cast<uint32_t>(std::min<uint64_t>(8, size - at));
    if (stored == nullptr) {
      step.target = own_label();
      read.push_back(step.target);
    } else if (!written.empty()) {
      step.target = written[0];
    }
    block.steps.push_back(std::move(step));
  }
  if (stored == nullptr) set(block, instruction, read);
}

// Which of the two it was is not kept, so it must make no difference.
void SeriesWriter::understand_select(Block& block, SelectInst& select) {
  Sources yes = sources_of(select.getCondition());
  Sources no = yes;
  add(yes, sources_of(select.getTrueValue()));
  add(no, sources_of(select.getFalseValue()));
  Sources all = yes;
  add(all, no);
  is_understood_ &= (all.size() == yes.size() && all.size() == no.size()) ||
                    !select.getCondition()->getType()->isIntegerTy(1);
  set(block, select, all);
}

void SeriesWriter::understand(Block& block, Instruction& instruction) {
  if (isa<PHINode>(instruction)) return;
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return understand_access(block, instruction, load->getPointerOperand(), load->getType(), nullptr);
  if (auto* store = dyn_cast<StoreInst>(&instruction))
    return understand_access(block, instruction, store->getPointerOperand(),
                             store->getValueOperand()->getType(), store->getValueOperand());
  if (auto* select = dyn_cast<SelectInst>(&instruction)) return understand_select(block, *select);
  if (instruction.isTerminator()) {
    if (const auto* branch = dyn_cast<BranchInst>(&instruction)) {
      if (branch->isConditional()) branch_on(block, sources_of(branch->getCondition()), instruction);
    } else if (auto* choice = dyn_cast<SwitchInst>(&instruction)) {
      branch_on(block, sources_of(choice->getCondition()), instruction);
    }
    return;
  }
  const unsigned code = instruction.getOpcode();
  if ((code == Instruction::SDiv || code == Instruction::SRem || code == Instruction::UDiv ||
       code == Instruction::URem) &&
      !isa<Constant>(instruction.getOperand(1))) {
    // It may trap.
    branch_on(block, sources_of(instruction.getOperand(1)), instruction);
    if (code == Instruction::SDiv || code == Instruction::SRem)
      branch_on(block, sources_of(instruction.getOperand(0)), instruction);
  }
  if (instruction.getType()->isVoidTy()) return;
  Sources all;
  const auto* const made = dyn_cast<CallBase>(&instruction);
  // A call's last operand is who is called.
  for (unsigned i = 0; i < (made != nullptr ? made->arg_size() : instruction.getNumOperands()); ++i)
    add(all, sources_of(instruction.getOperand(i)));
  set(block, instruction, all);
}

// All phis of a block change at once: what one of them was is not lost before another one becomes it.
void SeriesWriter::understand_edges() {
  for (BasicBlock* at : loop_.blocks) {
    Block& block = blocks_[number_of(at)];
    for (BasicBlock* from : predecessors(at)) {
      const uint16_t number = is_inside(from->getTerminator()) ? number_of(from) : runtime::kFromOutside;
      SmallVector<Step>& steps = block.edges[number];
      steps.clear();
      SmallVector<Step> later;
      for (PHINode& phi : at->phis()) {
        if (sources_.lookup(&phi).empty()) continue;
        Step step{.operation = Operation::kAssign, .at = &phi};
        step.sources = sources_of(phi.getIncomingValueForBlock(from));
        step.target = sources_.lookup(&phi)[0];
        if (step.sources.size() == 1 && step.sources[0] == step.target) continue;
        later.push_back(std::move(step));
      }
      // Those that others become go through a label of their own.
      for (std::size_t i = 0; i < later.size(); ++i) {
        const bool is_read_later = any_of(ArrayRef(later).drop_front(i + 1), [&](const Step& other) {
          return is_contained(other.sources, later[i].target);
        });
        if (!is_read_later) continue;
        Step first = later[i];
        first.target = own_label();
        steps.push_back(first);
        later[i].sources = {first.target};
      }
      // Those come last; no other step reads what one before it has assigned.
      const auto is_copy = [&](const Step& step) {
        return step.sources.size() == 1 &&
               any_of(steps, [&](const Step& first) { return first.target == step.sources[0]; });
      };
      SmallVector<Step> copies;
      copy_if(later, std::back_inserter(copies), is_copy);
      erase_if(later, is_copy);
      steps.append(later.begin(), later.end());
      steps.append(copies.begin(), copies.end());
    }
  }
}

bool SeriesWriter::understand() {
  for (BasicBlock* block : loop_.blocks) numbers_.try_emplace(block, static_cast<uint16_t>(numbers_.size()));
  blocks_.resize(loop_.blocks.size());
  for (BasicBlock* block : loop_.blocks)
    for (PHINode& phi : block->phis())
      if (flow_.labelled_.contains(&phi)) sources_[&phi] = {own_label()};
  for (BasicBlock* block : loop_.blocks) {
    branched_.clear();
    for (Instruction& instruction : *block) understand(blocks_[number_of(block)], instruction);
  }
  understand_edges();
  std::size_t listed = loop_.walks.size();
  for (const Block& block : blocks_) {
    steps_ += block.steps.size();
    for (const auto& [from, steps] : block.edges) steps_ += steps.size();
    listed += block.listed.size();
  }
  return is_understood_ && steps_ > 0 && steps_ <= runtime::kMostSteps && labels_ <= kMostOwnLabels &&
         listed <= runtime::kMostListed && inputs_.size() <= kMostOwnLabels;
}

}  // namespace heddle
