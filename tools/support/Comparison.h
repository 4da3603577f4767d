// Comparing tensors with references: close means |difference| <= atol + rtol * max|reference|, with one maximum for the whole tensor,
// so that small elements beside large ones are not held to a precision that no summation order gives. NaNs equal NaNs, infinities equal
// themselves. Integers and booleans must be equal.
#ifndef STATOR_TOOLS_SUPPORT_COMPARISON_H
#define STATOR_TOOLS_SUPPORT_COMPARISON_H

#include "tools/support/Tensors.h"

namespace stator::tools {

struct Tolerance {
  double absolute = 1e-5;
  double relative = 1e-4;
};

struct Comparison {
  std::string problem; ///< Type or shape differ, with both sides; the figures are then not set.
  size_t count = 0;
  size_t mismatches = 0;
  double limit = 0;         ///< The largest difference that was allowed.
  double maxDifference = 0; ///< NaN against a number counts as infinite.
  double maxReference = 0;
  double meanDifference = 0;
  double cosine = 1; ///< Similarity of the two as vectors; 1 when both are zero.
  size_t worst = 0;  ///< Index of the largest difference.
  double worstValue = 0;
  double worstReference = 0;

  bool ok() const { return problem.empty() && mismatches == 0; }
};

/// A bf16 or f16 value may be compared with an f32 or f64 reference, since NumPy has no bf16; other types must agree.
Comparison compareTensors(const NpyArray &value, const NpyArray &reference, const Tolerance &tolerance);

/// "ok: max |difference| 1.2e-07, allowed 1.1e-05" or what is wrong and where.
std::string describeComparison(const Comparison &comparison, const std::vector<int64_t> &shape);

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_COMPARISON_H
