//===- SingleLaneStores.cpp - work around a miscompile of masked stores ----===//

#include "codegen/Cpu/SingleLaneStores.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

namespace stator::codegen {

/// The lane, if `mask` is a constant with exactly one that is true.
static std::optional<unsigned> singleLane(llvm::Value *mask) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned lane = 0; lane != type->getNumElements(); ++lane) {
    llvm::Constant *element = constant->getAggregateElement(lane);
    if (!element || !element->isOneValue())
      continue;
    if (found)
      return std::nullopt;
    found = lane;
  }
  return found;
}

void replaceSingleLaneStores(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      std::optional<unsigned> lane = singleLane(call->getArgOperand(2));
      if (!lane)
        continue;
      llvm::IRBuilder<> builder(call);
      llvm::Value *element = builder.CreateExtractElement(call->getArgOperand(0), *lane);
      llvm::Value *place = builder.CreateConstInBoundsGEP1_64(element->getType(), call->getArgOperand(1), *lane);
      uint64_t bytes = module.getDataLayout().getTypeStoreSize(element->getType());
      llvm::Align alignment = llvm::commonAlignment(call->getParamAlign(1).valueOrOne(), *lane * bytes);
      builder.CreateAlignedStore(element, place, alignment);
      call->eraseFromParent();
    }
}

} // namespace stator::codegen
