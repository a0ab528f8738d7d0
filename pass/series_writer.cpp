#include "pass/series_writer.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

#include "pass/flow_functions.h"

namespace heddle {

using namespace llvm;

namespace {

constexpr uint16_t kMostOwnLabels = 512;

bool is_used_outside(const Instruction& instruction, const DenseMap<const BasicBlock*, uint16_t>& inside) {
  return any_of(instruction.users(), [&](const User* user) {
    const auto* const by = dyn_cast<Instruction>(user);
    return by != nullptr && !inside.contains(by->getParent());
  });
}

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
           is_used_outside(instruction, numbers_) ? 1 : std::size_t{runtime::kMostSources});
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
  if (!loop_.places.contains(pointer) && none_of(block.listed, [&](Instruction* access) {
        return getLoadStorePointerOperand(access) == pointer;
      }))
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
  std::size_t listed = 0;
  for (const Block& block : blocks_) {
    steps_ += block.steps.size();
    for (const auto& [from, steps] : block.edges) steps_ += steps.size();
    listed += block.listed.size();
  }
  return is_understood_ && steps_ > 0 && steps_ <= runtime::kMostSteps && labels_ <= kMostOwnLabels &&
         listed <= runtime::kMostListed && inputs_.size() <= kMostOwnLabels;
}

uint16_t SeriesWriter::operand(uint16_t label) const {
  if (label == runtime::kNoOperand) return label;
  if (label >= kInput) return static_cast<uint16_t>(label - kInput);
  return static_cast<uint16_t>(inputs_.size() + label);
}

GlobalVariable* SeriesWriter::make_pattern() {
  LLVMContext& context = flow_.function_.getContext();
  auto* const i8 = Type::getInt8Ty(context);
  auto* const i16 = Type::getInt16Ty(context);
  auto* const i32 = Type::getInt32Ty(context);
  auto* const pointer = PointerType::getUnqual(context);
  auto* const sources_type = ArrayType::get(i16, runtime::kMostSources);
  auto* const step_type =
      StructType::get(context, {pointer, pointer, i32, i16, i8, i8, i16, i16, sources_type});
  const auto in_series = static_cast<uint16_t>(loop_.addresses.size());
  uint16_t listed = 0;
  SmallVector<Constant*> steps;
  SmallVector<uint16_t> edges;
  SmallVector<uint16_t> blocks;
  const auto add_step = [&](const Step& step, const DenseMap<const Value*, uint16_t>& listed_here,
                            ArrayRef<Step> of_block) {
    uint16_t address = runtime::kNoOperand;
    int64_t offset = step.offset;
    Constant* name = ConstantPointerNull::get(pointer);
    if (step.pointer != nullptr) {
      if (const auto place = loop_.places.find(step.pointer); place != loop_.places.end()) {
        address = place->second.address;
        offset += place->second.offset;
      } else {
        address = listed_here.lookup(step.pointer);
      }
      if (step.offset == 0) name = flow_.name_of(*step.at, step.pointer);
    }
    SmallVector<uint16_t> sources;
    for (const uint16_t source : step.sources) sources.push_back(operand(source));
    const bool is_written = step.operation == Operation::kRead && any_of(of_block, [&](const Step& other) {
                              return other.operation == Operation::kWrite && other.pointer == step.pointer &&
                                     other.offset == step.offset && other.size == step.size;
                            });
    const auto count = static_cast<uint64_t>(sources.size() | (is_written ? 0x8000 : 0));
    sources.resize(runtime::kMostSources, runtime::kNoOperand);
    steps_at_[step.at].push_back(static_cast<unsigned>(steps.size()));
    steps.push_back(ConstantStruct::get(
        step_type,
        {name, ConstantPointerNull::get(pointer), ConstantInt::get(i32, static_cast<uint64_t>(offset), true),
         ConstantInt::get(i16, address), ConstantInt::get(i8, static_cast<uint64_t>(step.operation)),
         ConstantInt::get(i8, step.size), ConstantInt::get(i16, operand(step.target)),
         ConstantInt::get(i16, count), ConstantDataArray::get(context, sources)}));
  };
  for (const Block& block : blocks_) {
    DenseMap<const Value*, uint16_t> listed_here;
    const auto first_listed = static_cast<uint16_t>(in_series + listed);
    for (Instruction* access : block.listed) {
      const auto number = static_cast<uint16_t>(in_series + listed++);
      listed_here[getLoadStorePointerOperand(access)] = number;
      listed_[access] = number;
    }
    const auto first_edge = static_cast<uint16_t>(edges.size() / 4);
    for (const auto& [from, of_edge] : block.edges) {
      if (of_edge.empty()) continue;
      edges.append({static_cast<uint16_t>(from), static_cast<uint16_t>(steps.size()),
                    static_cast<uint16_t>(of_edge.size()), 0});
      for (const Step& step : of_edge) add_step(step, listed_here, {});
    }
    const auto edge_count = static_cast<uint16_t>(edges.size() / 4 - first_edge);
    blocks.append({static_cast<uint16_t>(steps.size()), static_cast<uint16_t>(block.steps.size()), first_edge,
                   edge_count, first_listed, static_cast<uint16_t>(block.listed.size())});
    for (const Step& step : block.steps) add_step(step, listed_here, block.steps);
  }
  const std::size_t bytes = sizeof(runtime::SeriesPattern) + steps.size() * sizeof(runtime::SeriesStep) +
                            (edges.size() + blocks.size()) * sizeof(uint16_t);
  const bool writes = any_of(blocks_, [](const Block& block) {
    return any_of(block.steps, [](const Step& step) { return step.operation == Operation::kWrite; });
  });
  const auto kind = static_cast<uint16_t>((outside_labels_ != 0 ? 0x8000 : 0) | (writes ? 0x4000 : 0));
  Constant* const header = ConstantDataArray::get(
      context,
      ArrayRef<uint16_t>({static_cast<uint16_t>(steps.size()), static_cast<uint16_t>(edges.size() / 4),
                          static_cast<uint16_t>(blocks_.size()), in_series, listed, labels_,
                          static_cast<uint16_t>(inputs_.size()),
                          static_cast<uint16_t>(number_of(loop_.latch) | kind)}));
  Constant* const all = ConstantStruct::getAnon(
      {ConstantInt::get(i32, 0), ConstantInt::get(i32, bytes), header,
       ConstantArray::get(ArrayType::get(step_type, steps.size()), steps),
       ConstantDataArray::get(context, edges), ConstantDataArray::get(context, blocks)});
  auto* const pattern = new GlobalVariable(flow_.of_.module, all->getType(), /*isConstant=*/false,
                                           GlobalValue::PrivateLinkage, all, "heddle_series_pattern");
  pattern->setAlignment(Align(8));
  return pattern;
}

// An instruction that does nothing stands for each that does something: where it lies goes to the pattern.
void SeriesWriter::mark_places(GlobalVariable* pattern) {
  LLVMContext& context = flow_.function_.getContext();
  const Comdat* const group = flow_.function_.getComdat();
  auto* const type = FunctionType::get(Type::getVoidTy(context), {PointerType::getUnqual(context)}, false);
  for (const auto& [at, steps] : steps_at_) {
    std::string text = "nop\n1:\n.pushsection heddle_places,\"aw";
    text += group == nullptr ? "\",@progbits\n" : "G\",@progbits,\"" + group->getName().str() + "\",comdat\n";
    for (const unsigned step : steps)
      text += ".quad 1b, ${0:c}+" +
              std::to_string(sizeof(runtime::SeriesPattern) + step * sizeof(runtime::SeriesStep) +
                             offsetof(runtime::SeriesStep, pc)) +
              "\n";
    text += ".popsection";
    IRBuilder<> builder(at);
    if (isa<PHINode>(at)) builder.SetInsertPoint(&*at->getParent()->getFirstInsertionPt());
    builder.SetCurrentDebugLocation(at->getDebugLoc());
    builder.CreateCall(InlineAsm::get(type, text, "i", /*hasSideEffects=*/true), {pattern})
        ->setDoesNotThrow();
  }
}

void SeriesWriter::write(SmallVectorImpl<AllocaInst*>& counters) {
  SmallVector<Instruction*> outside;  // values that are needed there
  for (BasicBlock* block : loop_.blocks)
    for (Instruction& instruction : *block)
      if (!sources_.lookup(&instruction).empty() && is_used_outside(instruction, numbers_))
        outside.push_back(&instruction);
  outside_labels_ = static_cast<uint16_t>(outside.size());
  GlobalVariable* const pattern = make_pattern();

  const bool has_path = blocks_.size() > 1;
  const bool has_list = !listed_.empty();
  IRBuilder<> entry(&*flow_.function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto* const number = entry.getInt64Ty();
  const auto counter = [&] {
    AllocaInst* const made = entry.CreateAlloca(number);
    counters.push_back(made);
    return made;
  };
  AllocaInst* const rounds = has_path ? nullptr : counter();
  AllocaInst* const path = has_path ? counter() : nullptr;
  AllocaInst* const addresses = has_list ? counter() : nullptr;
  constexpr unsigned kFields = sizeof(HeddleSeriesRun) / 8;
  auto* const run_type = ArrayType::get(number, kFields + 2 * loop_.addresses.size() + inputs_.size());
  AllocaInst* const run = entry.CreateAlloca(run_type);

  IRBuilder<> before(loop_.preheader->getTerminator());
  before.SetCurrentDebugLocation(loop_.blocks[0]->getTerminator()->getDebugLoc());
  const auto put = [&](IRBuilder<>& builder, unsigned field, Value* value) {
    builder.CreateStore(builder.CreateZExtOrTrunc(value, number),
                        builder.CreateConstGEP2_32(run_type, run, 0, field));
  };
  Value* const label = flow_.call(before, "heddle_series_begin", flow_.number_, {pattern});
  put(before, 0, before.CreatePtrToInt(pattern, number));
  put(before, 1, label);
  put(before, 2, before.getInt64(runtime::kFromOutside));
  put(before, 3, before.getInt64(0));
  unsigned field = kFields;
  for (const SeriesLoop::Address& address : loop_.addresses) {
    if (address.start != nullptr) put(before, field, address.start);
    put(before, field + 1, address.stride);
    field += 2;
  }
  for (const auto& [value, input] : inputs_) put(before, field++, flow_.label_of(value));
  before.SetInsertPoint(loop_.preheader->getTerminator());
  for (AllocaInst* one : {rounds, path, addresses})
    if (one != nullptr) before.CreateStore(before.getInt64(0), one);
  GlobalVariable* const buffer = flow_.of_.series_buffer();
  Value* const list = before.CreateThreadLocalAddress(buffer);
  Value* const blocks =
      before.CreateConstGEP1_32(before.getInt8Ty(), list, offsetof(HeddleSeriesBuffer, path));

  const auto count = [&](IRBuilder<>& builder, AllocaInst* what) {
    Value* const old = builder.CreateLoad(number, what);
    builder.CreateStore(builder.CreateAdd(old, builder.getInt64(1)), what);
    return old;
  };
  for (Instruction* value : outside) {
    const uint16_t source = sources_.lookup(value)[0];
    if (source >= kInput) {
      flow_.set(value, flow_.label_of((inputs_.begin() + (source - kInput))->first));
    } else {
      Value* const own = before.CreateAdd(label, before.getInt32(source));
      flow_.set(value, before.CreateSelect(before.CreateIsNull(label), flow_.none(), own));
    }
  }
  for (const auto& [access, place] : listed_) {
    IRBuilder<> builder(const_cast<Instruction*>(access));
    Value* const at = count(builder, addresses);
    builder.CreateStore(
        builder.CreatePtrToInt(const_cast<Value*>(getLoadStorePointerOperand(access)), number),
        builder.CreateGEP(number, list, at));
  }
  for (BasicBlock* block : loop_.blocks) {
    for (Instruction& instruction : *block)
      if (isa<LoadInst>(instruction) || isa<StoreInst>(instruction)) {
        const auto* const pointer = getLoadStorePointerOperand(&instruction);
        if (flow_.is_followed(pointer)) flow_.ignore(instruction);
      }
  }
  const auto tell = [&](IRBuilder<>& builder) {
    builder.SetCurrentDebugLocation(loop_.blocks[0]->getTerminator()->getDebugLoc());
    const auto put_counter = [&](unsigned at, AllocaInst* what) {
      put(builder, at, what == nullptr ? cast<Value>(builder.getInt64(0)) : builder.CreateLoad(number, what));
    };
    put_counter(4, rounds);
    put_counter(5, path);
    put_counter(6, addresses);
    for (unsigned i = 0; i < loop_.addresses.size(); ++i) {
      const SeriesLoop::Address& address = loop_.addresses[i];
      if (address.start != nullptr) continue;
      Value* const before_last = builder.CreateSub(builder.CreateLoad(number, rounds), builder.getInt64(1));
      put(builder, kFields + 2 * i,
          builder.CreateSub(builder.CreatePtrToInt(address.last, number),
                            builder.CreateMul(before_last, address.stride)));
    }
    flow_.tell(builder, "heddle_series_tell", {run});
    for (AllocaInst* one : {rounds, path, addresses})
      if (one != nullptr) builder.CreateStore(builder.getInt64(0), one);
  };
  for (BasicBlock* exit : loop_.exits) {
    IRBuilder<> builder(&*exit->getFirstInsertionPt());
    tell(builder);
  }
  mark_places(pattern);
  for (BasicBlock* block : loop_.blocks) {
    IRBuilder<> builder(&*block->getFirstInsertionPt());
    builder.SetCurrentDebugLocation(block->getTerminator()->getDebugLoc());
    if (has_path) {
      Value* const at = count(builder, path);
      builder.CreateStore(builder.getInt8(static_cast<uint8_t>(number_of(block))),
                          builder.CreateGEP(builder.getInt8Ty(), blocks, at));
    } else {
      count(builder, rounds);
    }
  }
  if (has_path || has_list) {
    IRBuilder<> builder(loop_.latch->getTerminator());
    builder.SetCurrentDebugLocation(loop_.latch->getTerminator()->getDebugLoc());
    Value* is_due = builder.getFalse();
    if (has_path)
      is_due = builder.CreateOr(
          is_due, builder.CreateICmpUGT(builder.CreateLoad(number, path),
                                        builder.getInt64(runtime::kMostPath - runtime::kMostBlocks)));
    if (has_list)
      is_due = builder.CreateOr(
          is_due, builder.CreateICmpUGT(builder.CreateLoad(number, addresses),
                                        builder.getInt64(runtime::kMostAddresses - runtime::kMostListed)));
    IRBuilder<> then(SplitBlockAndInsertIfThen(is_due, loop_.latch->getTerminator(), false));
    tell(then);
  }
}

}  // namespace heddle
