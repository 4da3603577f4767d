// From the inputs of a call to numbers: checks that they fit the method's declaration, reads the symbols off their shapes, and evaluates
// every size expression of the method. All user-facing errors about shapes come from here, and name the input, the dimension, what was
// seen and what was expected.
#ifndef STATOR_RUNTIME_EXECUTOR_SHAPEBINDING_H
#define STATOR_RUNTIME_EXECUTOR_SHAPEBINDING_H

#include "serialization/Artifact/Manifest.h"
#include "stator/Result.h"
#include "stator/c/runtime.h"

#include <cstdint>
#include <span>
#include <vector>

namespace stator::runtime {

using InputViews = std::span<const stator_tensor_view>;

/// What the input shapes of one call determine.
struct ShapeValues {
  std::vector<int64_t> inputDims;  ///< Of all inputs, one after the other: what a call is recognised by.
  std::vector<int64_t> values;     ///< Of the method's expressions.
  std::vector<int64_t> outputDims; ///< Of all outputs, one after the other.
  std::vector<size_t> inputBytes;
  std::vector<size_t> outputBytes;
};

/// Number, element types and ranks of the inputs, and that data is there and aligned (unless `shapesOnly`). Allocates nothing unless it
/// fails.
Status checkInputs(const serialization::Method &method, InputViews inputs, bool shapesOnly);

/// Symbols, ranges, dimensions, guards. The inputs have passed checkInputs().
Result<ShapeValues> bindShapes(const serialization::Method &method, InputViews inputs);

/// "[2, 64]"
std::string describeShape(const int64_t *shape, int64_t rank);
/// "[N, 64]"
std::string describeDims(const serialization::Method &method, const std::vector<uint32_t> &dims);

} // namespace stator::runtime

#endif // STATOR_RUNTIME_EXECUTOR_SHAPEBINDING_H
