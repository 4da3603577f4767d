// Quantisation as plain arithmetic. Recognising it as integer kernels is a matter for later stages.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace::fn {

namespace {

/// A scale or zero point placed along `axis` of x; one number stays one, and so does one of x's shape.
Tensor place(const Call &call, const Tensor &x, const Tensor &vector, int64_t axis) {
  if (vector.rank() == 0 || !call)
    return vector;
  if (vector.rank() == 1 && call->dims(vector)[0].isConstant(1))
    return reshapeTo(*call, vector, {});
  // One for each element, which is what blocks of elements are spread to.
  if (vector.rank() == x.rank() && x.rank() > 1)
    return vector;
  if (vector.rank() != 1)
    return call.unsupported("a scale or zero point of rank " + llvm::Twine(vector.rank()) + ", expected 0 or 1");
  if (!call.axis(axis, x.rank()))
    return call.failed();
  Sizes dims(x.rank(), DimExpr(1));
  dims[axis] = call->dims(vector)[0];
  return reshapeTo(*call, vector, dims);
}

} // namespace

Tensor quantize(const Tensor &x, const Tensor &scale, const Tensor &zeroPoint, int64_t axis) {
  Call call("quantize", {x, scale}, {zeroPoint});
  if (!call)
    return call.failed();
  ElementType type = zeroPoint ? zeroPoint.type() : ElementType::U8;
  double low = 0, high = 255;
  if (type == ElementType::I8) {
    low = -128;
    high = 127;
  } else if (type == ElementType::I16) {
    low = -32768;
    high = 32767;
  } else if (type != ElementType::U8) {
    return call.unsupported(llvm::Twine("quantisation to ") + name(type));
  }
  Tensor value = roundEven(div(toFloat(x), place(call, x, scale, axis)));
  if (zeroPoint)
    value = add(value, cast(place(call, x, zeroPoint, axis), value.type()));
  return cast(clip(value, low, high), type);
}

Tensor dequantize(const Tensor &x, const Tensor &scale, const Tensor &zeroPoint, int64_t axis) {
  Call call("dequantize", {x, scale}, {zeroPoint});
  if (!call)
    return call.failed();
  Tensor value = cast(x, scale.type());
  if (zeroPoint)
    value = sub(value, cast(place(call, x, zeroPoint, axis), scale.type()));
  return mul(value, place(call, x, scale, axis));
}

} // namespace stator::trace::fn
