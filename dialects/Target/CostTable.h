//===- CostTable.h - own kernel or library, by measured cost ---------------===//
//
// Data only: what a contraction looks like to the choice, and the verdict with
// the sentence that `stator inspect` prints. The figures behind the verdicts
// come from tools/bench/kernels, which times both sides in one run.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_COSTTABLE_H
#define STATOR_DIALECTS_TARGET_COSTTABLE_H

#include <cstdint>
#include <optional>
#include <string>

namespace stator {

enum class ContractionKind { Matmul, Convolution, Depthwise };

/// A contraction seen as a matrix product. A size that depends on symbols is absent.
struct ContractionCost {
  ContractionKind kind = ContractionKind::Matmul;
  /// Rows of the result: batch and free axes of the left side, or output pixels.
  std::optional<int64_t> rows;
  /// Columns of the result: output channels.
  std::optional<int64_t> columns;
};

struct CostVerdict {
  bool useLibrary = false;
  /// One line without full stop.
  std::string reason;
};

CostVerdict chooseByCost(const ContractionCost &cost);

} // namespace stator

#endif // STATOR_DIALECTS_TARGET_COSTTABLE_H
