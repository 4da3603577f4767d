//===- SupportedOperators.h - the operators that importers know ------------===//

#ifndef STATOR_COMPILER_SUPPORTEDOPERATORS_H
#define STATOR_COMPILER_SUPPORTEDOPERATORS_H

#include <string>
#include <string_view>
#include <vector>

namespace stator::compiler {

/// Sorted. `frontEnd` is "onnx": "Conv", "com.microsoft.FusedConv"; or "torch", for TorchScript and torch.export alike: schemas, as in
/// "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", without the in-place forms that are derived from them. Read from
/// the tables that imports use.
std::vector<std::string> supportedOperators(std::string_view frontEnd);

} // namespace stator::compiler

#endif // STATOR_COMPILER_SUPPORTEDOPERATORS_H
