//===- CostTable.h - own kernel or library, by measured cost ---------------===//
//
// Data only: what a contraction looks like to the choice, and the verdict with
// the sentence that `stator inspect` prints. The figures are in costs/, a table
// per class of machines, which tools/bench/measure_costs.py writes: the times
// of own kernels and of oneDNN on a grid of shapes, measured in one run. They
// are of the machine named in each file, not of the one that compiles, so that
// the same model gives the same artifact everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_COSTTABLE_H
#define STATOR_DIALECTS_TARGET_COSTTABLE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stator {

enum class ContractionKind { Matmul, Convolution, Depthwise };

/// A contraction seen as a matrix product. A size that depends on symbols is absent.
struct ContractionCost {
  ContractionKind kind = ContractionKind::Matmul;
  /// Rows of the result: batch and free axes of the left side, or output pixels.
  std::optional<int64_t> rows;
  /// What is summed over; of convolutions, input channels of a group.
  std::optional<int64_t> depth;
  /// Columns of the result: output channels.
  std::optional<int64_t> columns;
  /// Of convolutions: positions of the filter, and the largest stride.
  int64_t taps = 1, stride = 1;
  bool isGrouped = false; ///< More than one group, not depthwise.
};

struct CostVerdict {
  bool useLibrary = false;
  /// One line without full stop.
  std::string reason;
};

/// One shape of a table.
struct MeasuredCost {
  ContractionKind kind;
  int64_t rows, depth, columns, taps, stride;
  bool isGrouped;
  int64_t ownNanoseconds, libraryNanoseconds;
};

/// The table for a CPU level; of an unknown level, empty.
std::span<const MeasuredCost> measuredCosts(std::string_view level);

/// The library is chosen where it was faster by more than kLibraryMargin at the nearest shape, whose sizes all lie within a factor of
/// two. Own kernels fuse any epilogue, serve dynamic sizes and keep the artifact free of requirements: that is what the margin is for.
CostVerdict chooseByCost(const ContractionCost &cost, std::string_view level);
inline constexpr double kLibraryMargin = 1.15;

} // namespace stator

#endif // STATOR_DIALECTS_TARGET_COSTTABLE_H
