// Loops whose rounds are told as one (runtime/series.h): they call nobody, so that all they do is known here.
// Inner loops are a part of them where those are short, or keep an address in each round anyway.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/PassManager.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle {

// A loop that may be told so, and its addresses as far as they are series. One that is a part of another one
// comes behind it.
struct SeriesLoop {
  llvm::BasicBlock* preheader;
  llvm::SmallVector<llvm::BasicBlock*> latches;  // its own, and those of inner loops
  llvm::SmallVector<llvm::BasicBlock*> blocks;  // in an order in which none comes before one that leads to it
  llvm::SmallVector<llvm::BasicBlock*> exits;   // where the loop is left to, from nowhere else
  struct Address {
    llvm::Value* start;   // in the first round, computed before the loop; null: it cannot be, …
    llvm::Value* last;    // … but this pointer, of the loop's only block, is there when it is left
    llvm::Value* stride;  // how far it is away in the next round
  };
  llvm::SmallVector<Address> addresses;
  struct Place {
    uint16_t address;  // of these
    int32_t offset;
  };
  llvm::DenseMap<const llvm::Value*, Place> places;  // by pointer of an access
  // Addresses in series within an inner loop.
  struct Walk {
    llvm::BasicBlock* preheader;  // of the inner loop
    llvm::BasicBlock* header;
    llvm::BasicBlock* latch;
    llvm::SmallVector<llvm::BasicBlock*> blocks;
    llvm::Value* start;  // computed in the preheader
    int64_t stride;
  };
  llvm::SmallVector<Walk> walks;
  llvm::DenseMap<const llvm::Value*, Place> walking;  // by pointer; the addresses are walks
};

// `is_fit`: whether the instruction may be in such a loop.
std::vector<SeriesLoop> find_series_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                                          llvm::function_ref<bool(const llvm::Instruction&)> is_fit);

}  // namespace heddle
