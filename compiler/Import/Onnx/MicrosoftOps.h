//===- MicrosoftOps.h - pieces of the ops of the domain com.microsoft ------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_MICROSOFTOPS_H
#define STATOR_COMPILER_IMPORT_ONNX_MICROSOFTOPS_H

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

/// Those around attention, a family of their own by size only.
std::span<const OpEntry> microsoftAttentionOps();

/// x + y, or x when y is absent.
trace::Tensor plus(const trace::Tensor &x, const trace::Tensor &y);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_MICROSOFTOPS_H
