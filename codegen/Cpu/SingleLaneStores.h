//===- SingleLaneStores.h - work around a miscompile of masked stores ------===//
//
// LLVM 22 for x86 turns a masked store whose constant mask has exactly one true
// lane into a scalar store, and forgets when the store also truncates: the
// scalar is as wide as the lanes were before. `masked.store(trunc <16 x i32> to
// <16 x i16>)` with one lane then writes four bytes, two of them behind the
// buffer.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_CPU_SINGLELANESTORES_H
#define STATOR_CODEGEN_CPU_SINGLELANESTORES_H

namespace llvm {
class Module;
}

namespace stator::codegen {

/// Replaces such stores by a scalar store of the lane. Runs after the optimisations that fold masks to constants.
void replaceSingleLaneStores(llvm::Module &module);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CPU_SINGLELANESTORES_H
