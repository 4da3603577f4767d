//===- QuantisedOps.h - pieces of quantised ops ----------------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_QUANTISEDOPS_H
#define STATOR_COMPILER_IMPORT_ONNX_QUANTISEDOPS_H

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

/// x - zeroPoint in `type`; a zero point of several elements lies along `axis`, an absent one is 0.
trace::Tensor withoutZeroPoint(const trace::Tensor &x, const trace::Tensor &zeroPoint, ElementType type, int64_t axis);

/// Scale and zero point, both of x's type, that fit the values of x to 0 .. 255.
struct DynamicScale {
  trace::Tensor scale, zeroPoint;
};
DynamicScale dynamicScale(const trace::Tensor &x);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_QUANTISEDOPS_H
