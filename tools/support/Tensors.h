// Tensors on the command line: `--input=[NAME=]SHAPExTYPE[=VALUES]` or `--input=[NAME=]@FILE`, and printing them.
//
//   1x3x224x224xf32=0            every element is 0
//   x=2x2xf32=1,2,3,4            elements in row-major order; blanks, commas, semicolons and brackets separate
//   f32=0.5                      a scalar
//   4xi64=random:7               pseudo-random, with a seed (floats from -1 to 1, integers 0 or 1); `=iota` counts up
//   @image.npy   ids=@ids.npy    one array
//   @inputs.npz                  all of its arrays, by their names
#ifndef STATOR_TOOLS_SUPPORT_TENSORS_H
#define STATOR_TOOLS_SUPPORT_TENSORS_H

#include "serialization/Numpy/Npy.h"
#include "stator/Tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace stator::tools {

using serialization::NpyArray;

/// A tensor with the name that it was given on the command line; "" without one.
struct NamedTensor {
  std::string name;
  NpyArray array;
  bool fromArchive = false; ///< One of several of an .npz: left out when nobody asks for its name.
};

/// Reads one --input; an .npz gives several.
Result<std::vector<NamedTensor>> parseTensorArgument(std::string_view text);

/// "2x3xf32"
std::string typeText(ElementType type, const std::vector<int64_t> &shape);

/// A tensor of zeros. ResourceExhausted when it does not fit into memory's address range (or 1 TB).
Result<NpyArray> makeTensor(ElementType type, std::vector<int64_t> shape);
/// Fills with pseudo-random values, the same for the same seed on every machine.
void fillRandom(NpyArray &array, uint64_t seed);

/// Any element as a double; i64 beyond 2^53 is rounded.
double elementAt(ElementType type, const void *data, size_t index);
/// Rounds to the type; integers saturate.
void storeElement(ElementType type, void *data, size_t index, double value);

/// A view for the runtime; the array must outlive it.
TensorView viewOf(const NpyArray &array);
/// "2x2xf32=[1 2][3 4]", with at most `limit` elements, the rest elided.
std::string formatTensor(const NpyArray &array, size_t limit);

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_TENSORS_H
