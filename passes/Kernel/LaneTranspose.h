//===- LaneTranspose.h - transpose a square of vectors in registers --------===//
//
// Contraction kernels turn rows into columns when they pack an operand that
// lies transposed; a gather would take one memory access per element.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_LANETRANSPOSE_H
#define STATOR_PASSES_KERNEL_LANETRANSPOSE_H

#include "passes/Kernel/KernelBuilder.h"

namespace stator::kernel {

/// `rows` are as many vectors as each has lanes, a power of two. Lane j of result i is lane i of row j.
KernelBuilder::Values transposeLanes(KernelBuilder &b, KernelBuilder::Values rows);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_LANETRANSPOSE_H
