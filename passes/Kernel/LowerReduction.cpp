//===- LowerReduction.cpp - reduce and arg_reduce --------------------------===//
//
// An arg_reduce is two reductions: the extremum, then the first (or last)
// position that holds it. Both vectorise, unlike a reduction of pairs.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The value of a reduction of nothing, in the scalar type of `storage`.
static TypedAttr neutral(MLIRContext *context, graph::ReduceKind kind, Type storage) {
  Type type = scalarType(storage);
  Builder b(context);
  if (auto real = dyn_cast<FloatType>(type)) {
    switch (kind) {
    case graph::ReduceKind::Prod:
      return b.getFloatAttr(type, 1.0);
    case graph::ReduceKind::Max:
      return b.getFloatAttr(type, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/true));
    case graph::ReduceKind::Min:
      return b.getFloatAttr(type, APFloat::getInf(real.getFloatSemantics()));
    default:
      return b.getFloatAttr(type, 0.0);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = storage.isUnsignedInteger();
  switch (kind) {
  case graph::ReduceKind::Prod:
  case graph::ReduceKind::All:
    return b.getIntegerAttr(type, APInt(width, 1));
  case graph::ReduceKind::Max:
    return b.getIntegerAttr(type, isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
  case graph::ReduceKind::Min:
    return b.getIntegerAttr(type, isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  default:
    return b.getIntegerAttr(type, APInt(width, 0));
  }
}

static Value combine(Body &b, graph::ReduceKind kind, bool isUnsigned, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case graph::ReduceKind::Sum:
    return b.add(x, y);
  case graph::ReduceKind::Prod:
    return b.mul(x, y);
  case graph::ReduceKind::Max:
    if (isFloat)
      return b.accumulateExtremum(/*isMax=*/true, x, y);
    return isUnsigned ? arith::MaxUIOp::create(b, x, y).getResult() : b.max(x, y);
  case graph::ReduceKind::Min:
    if (isFloat)
      return b.accumulateExtremum(/*isMax=*/false, x, y);
    return isUnsigned ? arith::MinUIOp::create(b, x, y).getResult() : b.min(x, y);
  case graph::ReduceKind::Any:
    return arith::OrIOp::create(b, x, y);
  case graph::ReduceKind::All:
    return arith::AndIOp::create(b, x, y);
  }
  llvm_unreachable("every reduce kind is handled above");
}

/// The axes of a reduction that really reduce: those of size 1 only disappear.
static SmallVector<int64_t> properAxes(ArrayRef<DimExpr> dims, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes)
    if (!dims[axis].isConstant(1))
      result.push_back(axis);
  return result;
}

/// The result type of a reduction whose dims are all kept, with `element`.
static RankedTensorType withoutAxes(ArrayRef<DimExpr> dims, ArrayRef<int64_t> axes, Type element) {
  SmallVector<DimExpr> rest;
  for (auto [axis, dim] : llvm::enumerate(dims))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      rest.push_back(dim);
  return graph::tensorType(rest, element);
}

static Value lowerReduce(LinalgLowering &lowering, graph::ReduceOp op) {
  RankedTensorType input = typeOf(op.getInput());
  SmallVector<DimExpr> dims = graph::dimsOf(input);
  SmallVector<int64_t> axes = properAxes(dims, op.getAxes());
  if (axes.empty())
    return lowering.get(op.getInput());
  Type element = input.getElementType();
  bool isUnsigned = element.isUnsignedInteger();
  Value reduced = lowering.reduction(
      withoutAxes(dims, axes, element), dims, axes, neutral(op.getContext(), op.getKind(), element), LinalgLowering::same(op.getInput()),
      [](Body &, ValueRange elements) { return elements[0]; },
      [&](Body &b, Value accumulator, Value value) { return combine(b, op.getKind(), isUnsigned, accumulator, value); });
  if (!op.getKeepDims() || !lowering.keepsUnitAxes())
    return reduced;
  // The reduced axes have size 1.
  LinalgLowering::Input unspread{reduced, {}};
  for (int64_t i = 0, e = dims.size(); i != e; ++i)
    if (!llvm::is_contained(axes, i))
      unspread.axes.push_back(i);
  return lowering.elementwise(typeOf(op.getResult()), {unspread}, [](Body &, ValueRange elements) { return elements[0]; });
}

static Value lowerArgReduce(LinalgLowering &lowering, graph::ArgReduceOp op) {
  RankedTensorType input = typeOf(op.getInput()), result = typeOf(op.getResult());
  SmallVector<DimExpr> dims = graph::dimsOf(input);
  int64_t axis = op.getAxis();
  MLIRContext *context = op.getContext();
  if (dims[axis].isConstant(1))
    return lowering.elementwise(result, {}, [](Body &b, ValueRange) { return b.integer(b.getI64Type(), 0); });

  Type element = input.getElementType();
  bool isUnsigned = element.isUnsignedInteger();
  auto kind = op.getKind() == graph::ArgReduceKind::Max ? graph::ReduceKind::Max : graph::ReduceKind::Min;
  // Halves compare as f32, so the extremum stays f32.
  RankedTensorType extremumType = withoutAxes(dims, axis, scalarType(element));
  Value extremum = lowering.reduction(
      extremumType, dims, axis, neutral(context, kind, element), LinalgLowering::same(op.getInput()),
      [](Body &, ValueRange elements) { return elements[0]; },
      [&](Body &b, Value accumulator, Value value) { return combine(b, kind, isUnsigned, accumulator, value); });

  LinalgLowering::Input extremumInput{extremum, {}};
  for (int64_t i = 0, e = dims.size(); i != e; ++i)
    if (i != axis && !dims[i].isConstant(1))
      extremumInput.axes.push_back(i);
  auto position = op.getSelectLast() ? graph::ReduceKind::Max : graph::ReduceKind::Min;
  int64_t none = op.getSelectLast() ? -1 : std::numeric_limits<int64_t>::max();
  Type i64 = IntegerType::get(context, 64);
  return lowering.reduction(
      withoutAxes(dims, axis, i64), dims, axis, IntegerAttr::get(i64, none), {LinalgLowering::same(op.getInput()), extremumInput},
      [&](Body &b, ValueRange elements) -> Value {
        Value x = elements[0], isExtremum;
        if (isa<FloatType>(x.getType())) {
          // If there is a NaN it is the extremum, and equals nothing.
          isExtremum = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, elements[1]);
          isExtremum = arith::OrIOp::create(b, isExtremum, arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x));
        } else {
          isExtremum = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, elements[1]);
        }
        return b.select(isExtremum, b.toInteger(b.index(axis), i64), b.integer(i64, none));
      },
      [&](Body &b, Value accumulator, Value value) { return combine(b, position, false, accumulator, value); });
}

Value lowerReduction(LinalgLowering &lowering, Operation *op) {
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return lowerReduce(lowering, reduce);
  if (auto argReduce = dyn_cast<graph::ArgReduceOp>(op))
    return lowerArgReduce(lowering, argReduce);
  return {};
}

} // namespace stator::kernel
