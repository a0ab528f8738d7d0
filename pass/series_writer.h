// Writes down what a loop does in a round, and has it keep what differs from round to round
// (runtime/series.h).
#pragma once

#include <llvm/ADT/MapVector.h>

#include "pass/flow_function.h"
#include "pass/flow_series.h"
#include "runtime/series.h"
#include "trace/event.h"

namespace heddle {

class SeriesWriter {
 public:
  SeriesWriter(FunctionFlow& flow, SeriesLoop& loop) : flow_(flow), loop_(loop) {}

  // False: it cannot be told so, and nothing was changed.
  bool understand();
  // Allocas whose only use are loads and stores are appended to `counters`.
  void write(llvm::SmallVectorImpl<llvm::AllocaInst*>& counters);

 private:
  // Numbers of labels: the loop's own, or, from kInput on, those of values from outside.
  static constexpr uint16_t kInput = 0x8000;
  using Sources = llvm::SmallVector<uint16_t, runtime::kMostSources>;

  struct Step {
    Operation operation;
    Sources sources = {};  // of an assignment
    uint16_t target = runtime::kNoOperand;
    const llvm::Value* pointer = nullptr;  // of an access
    uint32_t offset = 0;
    uint32_t size = 0;
    llvm::Instruction* at;  // what does it
  };
  struct Block {
    llvm::SmallVector<Step> steps;
    llvm::MapVector<uint32_t, llvm::SmallVector<Step>> edges;  // by the block it comes from
    llvm::SmallVector<llvm::Instruction*> listed;              // accesses whose address is to be kept
  };

  bool is_inside(const llvm::Value* value) const;
  bool is_used_outside(const llvm::Instruction& instruction) const;
  uint16_t own_label() { return labels_++; }
  Sources sources_of(llvm::Value* value);
  static void add(Sources& to, const Sources& from);
  // So that at most as many are left as an assignment has sources.
  void collapse(Block& block, Sources& sources, llvm::Instruction& at, std::size_t most);
  void set(Block& block, llvm::Instruction& instruction, Sources sources);
  void branch_on(Block& block, const Sources& sources, llvm::Instruction& at);
  void understand(Block& block, llvm::Instruction& instruction);
  void understand_access(Block& block, llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type,
                         llvm::Value* stored);
  void understand_select(Block& block, llvm::SelectInst& select);
  void understand_edges();

  llvm::GlobalVariable* make_pattern();
  // Numbers for all addresses that are kept, and the pattern's walks, each with where it goes on.
  void number_listed();
  void mark_places(llvm::GlobalVariable* pattern);
  uint16_t operand(uint16_t label) const;
  uint16_t number_of(const llvm::BasicBlock* block) const { return numbers_.lookup(block); }

  FunctionFlow& flow_;
  SeriesLoop& loop_;
  bool is_understood_ = true;
  llvm::SmallVector<Block> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, uint16_t> numbers_;
  llvm::DenseMap<const llvm::Value*, Sources> sources_;  // of values inside
  llvm::MapVector<llvm::Value*, uint16_t> inputs_;       // values from outside
  llvm::DenseSet<uint16_t> branched_;                    // in the present block
  uint16_t labels_ = 0;
  uint16_t outside_labels_ = 0;  // of them, that are needed behind the loop
  std::size_t steps_ = 0;
  llvm::DenseMap<const llvm::Instruction*, uint16_t> listed_;  // addresses
  llvm::SmallVector<uint16_t> first_listed_;                   // by block, and the end
  llvm::SmallVector<uint16_t> walk_addresses_;                 // by walk
  llvm::SmallVector<unsigned> walk_order_;                     // by the blocks that they go on in
  llvm::MapVector<llvm::Instruction*, llvm::SmallVector<unsigned>> steps_at_;  // by what does them
};

}  // namespace heddle
