#include "pass/series_writer.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace heddle {

using namespace llvm;

bool SeriesWriter::is_used_outside(const Instruction& instruction) const {
  return any_of(instruction.users(), [&](const User* user) {
    const auto* const by = dyn_cast<Instruction>(user);
    return by != nullptr && !numbers_.contains(by->getParent());
  });
}

uint16_t SeriesWriter::operand(uint16_t label) const {
  if (label == runtime::kNoOperand) return label;
  if (label >= kInput) return static_cast<uint16_t>(label - kInput);
  return static_cast<uint16_t>(inputs_.size() + label);
}

// A block's accesses first, then, at its end, where the walks of the inner loop behind it begin.
void SeriesWriter::number_listed() {
  auto next = static_cast<uint16_t>(loop_.addresses.size());
  walk_addresses_.resize(loop_.walks.size());
  for (BasicBlock* block : loop_.blocks) {
    first_listed_.push_back(next);
    for (Instruction* access : blocks_[number_of(block)].listed) listed_[access] = next++;
    for (unsigned i = 0; i < loop_.walks.size(); ++i)
      if (loop_.walks[i].preheader == block) walk_addresses_[i] = next++;
  }
  first_listed_.push_back(next);
  for (unsigned i = 0; i < loop_.walks.size(); ++i) walk_order_.push_back(i);
  sort(walk_order_, [&](unsigned one, unsigned other) {
    const auto key = [&](unsigned walk) { return std::pair(number_of(loop_.walks[walk].header), walk); };
    return key(one) < key(other);
  });
}

GlobalVariable* SeriesWriter::make_pattern() {
  number_listed();
  LLVMContext& context = flow_.function_.getContext();
  auto* const i8 = Type::getInt8Ty(context);
  auto* const i16 = Type::getInt16Ty(context);
  auto* const i32 = Type::getInt32Ty(context);
  auto* const pointer = PointerType::getUnqual(context);
  auto* const sources_type = ArrayType::get(i16, runtime::kMostSources);
  auto* const step_type =
      StructType::get(context, {pointer, pointer, i32, i16, i8, i8, i16, i16, sources_type});
  const auto in_series = static_cast<uint16_t>(loop_.addresses.size());
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
      } else if (const auto walk = loop_.walking.find(step.pointer); walk != loop_.walking.end()) {
        address = walk_addresses_[walk->second.address];
        offset += walk->second.offset;
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
  SmallVector<Constant*> walks;
  auto* const i64 = Type::getInt64Ty(context);
  auto* const walk_type = StructType::get(context, {i64, i64, i64});
  for (uint16_t number = 0; number < blocks_.size(); ++number) {
    const Block& block = blocks_[number];
    DenseMap<const Value*, uint16_t> listed_here;
    for (Instruction* access : block.listed)
      listed_here[getLoadStorePointerOperand(access)] = listed_.lookup(access);
    const auto first_walk = static_cast<uint16_t>(walks.size());
    for (const unsigned i : walk_order_) {
      const SeriesLoop::Walk& walk = loop_.walks[i];
      if (number_of(walk.header) != number) continue;
      uint64_t inside = 0;
      for (const BasicBlock* one : walk.blocks) inside |= uint64_t{1} << number_of(one);
      walks.push_back(ConstantStruct::get(
          walk_type,
          {ConstantInt::get(i64, inside), ConstantInt::get(i64, static_cast<uint64_t>(walk.stride), true),
           ConstantInt::get(i64, walk_addresses_[i])}));
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
                   edge_count, first_listed_[number],
                   static_cast<uint16_t>(first_listed_[number + 1] - first_listed_[number]), first_walk,
                   static_cast<uint16_t>(walks.size() - first_walk)});
    for (const Step& step : block.steps) add_step(step, listed_here, block.steps);
  }
  const std::size_t bytes = sizeof(runtime::SeriesPattern) + walks.size() * sizeof(runtime::SeriesWalk) +
                            steps.size() * sizeof(runtime::SeriesStep) +
                            (edges.size() + blocks.size()) * sizeof(uint16_t);
  const bool writes = any_of(blocks_, [](const Block& block) {
    return any_of(block.steps, [](const Step& step) { return step.operation == Operation::kWrite; });
  });
  const auto kind = static_cast<uint16_t>((outside_labels_ != 0 ? 0x8000 : 0) | (writes ? 0x4000 : 0));
  Constant* const header = ConstantDataArray::get(
      context, ArrayRef<uint16_t>(
                   {static_cast<uint16_t>(steps.size()), static_cast<uint16_t>(edges.size() / 4),
                    static_cast<uint16_t>(blocks_.size()), in_series,
                    static_cast<uint16_t>(first_listed_.back() - in_series), labels_,
                    static_cast<uint16_t>(inputs_.size()), static_cast<uint16_t>(walks.size() | kind)}));
  Constant* const all = ConstantStruct::getAnon(
      {ConstantInt::get(i32, 0), ConstantInt::get(i32, bytes), header,
       ConstantArray::get(ArrayType::get(walk_type, walks.size()), walks),
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
      text +=
          ".quad 1b, ${0:c}+" +
          std::to_string(sizeof(runtime::SeriesPattern) + loop_.walks.size() * sizeof(runtime::SeriesWalk) +
                         step * sizeof(runtime::SeriesStep) + offsetof(runtime::SeriesStep, pc)) +
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
      if (!sources_.lookup(&instruction).empty() && is_used_outside(instruction))
        outside.push_back(&instruction);
  outside_labels_ = static_cast<uint16_t>(outside.size());
  GlobalVariable* const pattern = make_pattern();

  const bool has_path = blocks_.size() > 1;
  const bool has_list = !listed_.empty() || !loop_.walks.empty();
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
  const auto keep = [&](IRBuilder<>& builder, Value* address) {
    Value* const at = count(builder, addresses);
    builder.CreateStore(address, builder.CreateGEP(number, list, at));
  };
  for (const auto& [access, place] : listed_) {
    IRBuilder<> builder(const_cast<Instruction*>(access));
    keep(builder, builder.CreatePtrToInt(const_cast<Value*>(getLoadStorePointerOperand(access)), number));
  }
  SmallVector<PHINode*> walks;  // where they are
  for (const SeriesLoop::Walk& walk : loop_.walks) {
    PHINode* const now = PHINode::Create(number, 2, "", walk.header->begin());
    IRBuilder<> next(walk.latch->getTerminator());
    now->addIncoming(walk.start, walk.preheader);
    now->addIncoming(next.CreateAdd(now, next.getInt64(static_cast<uint64_t>(walk.stride))), walk.latch);
    walks.push_back(now);
  }
  // In the order of their numbers.
  for (BasicBlock* block : loop_.blocks)
    for (const SeriesLoop::Walk& walk : loop_.walks)
      if (walk.preheader == block) {
        IRBuilder<> builder(block->getTerminator());
        keep(builder, walk.start);
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
  for (BasicBlock* latch : loop_.latches) {
    if (!has_path && !has_list) continue;
    IRBuilder<> builder(latch->getTerminator());
    builder.SetCurrentDebugLocation(latch->getTerminator()->getDebugLoc());
    Value* is_due = builder.getFalse();
    if (has_path)
      is_due = builder.CreateOr(
          is_due, builder.CreateICmpUGT(builder.CreateLoad(number, path),
                                        builder.getInt64(runtime::kMostPath - runtime::kMostBlocks)));
    if (has_list)
      is_due = builder.CreateOr(
          is_due, builder.CreateICmpUGT(builder.CreateLoad(number, addresses),
                                        builder.getInt64(runtime::kMostAddresses - runtime::kMostListed)));
    IRBuilder<> then(SplitBlockAndInsertIfThen(is_due, latch->getTerminator(), false));
    tell(then);
    // The inner loops that it is in go on from where they are.
    for (const unsigned i : walk_order_)
      if (is_contained(loop_.walks[i].blocks, latch)) keep(then, walks[i]);
  }
}

}  // namespace heddle
