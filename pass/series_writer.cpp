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
      if (!sources_.lookup(&instruction).empty() && is_used_outside(instruction))
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
