//===- LaneTranspose.cpp - transpose a square of vectors in registers ------===//
//
// log2(n) rounds of exchanges: round d swaps, between rows i and i + d, the
// blocks of d lanes that are off the diagonal. 64 shuffles for 16 x 16.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LaneTranspose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace stator::kernel {

KernelBuilder::Values transposeLanes(KernelBuilder &b, KernelBuilder::Values rows) {
  const unsigned count = rows.size();
  for (unsigned distance = 1; distance < count; distance *= 2)
    for (unsigned i = 0; i != count; ++i) {
      if (i & distance)
        continue;
      SmallVector<int64_t> upper, lower;
      for (unsigned lane = 0; lane != count; ++lane) {
        bool isSecond = lane & distance;
        upper.push_back(isSecond ? count + lane - distance : lane);
        lower.push_back(isSecond ? count + lane : lane + distance);
      }
      Value first = rows[i], second = rows[i + distance];
      rows[i] = vector::ShuffleOp::create(b, first, second, upper);
      rows[i + distance] = vector::ShuffleOp::create(b, first, second, lower);
    }
  return rows;
}

} // namespace stator::kernel
