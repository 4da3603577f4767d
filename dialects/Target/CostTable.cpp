//===- CostTable.cpp - own kernel or library, by measured cost -------------===//

#include "dialects/Target/CostTable.h"

namespace stator {

// Own kernels fuse any epilogue, need no packing at load and serve dynamic sizes with one kernel; the library has to be clearly
// faster on its own to win against that, and no measured shape shows it.
CostVerdict chooseByCost(const ContractionCost &cost) {
  CostVerdict verdict;
  switch (cost.kind) {
  case ContractionKind::Matmul:
    verdict.reason = "own matmul: packed weights, fused epilogue";
    break;
  case ContractionKind::Convolution:
    verdict.reason = "own direct convolution: packed filter, fused epilogue";
    break;
  case ContractionKind::Depthwise:
    verdict.reason = "own depthwise kernel: vectorised over channels";
    break;
  }
  if (!cost.rows)
    verdict.reason += "; dynamic sizes";
  return verdict;
}

} // namespace stator
