//===- LinalgLowering.cpp - building blocks of graph-to-linalg -------------===//

#include "passes/Kernel/LinalgLowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

mlir::Type scalarType(mlir::Type storage) {
  if (storage.isF16() || storage.isBF16())
    return Float32Type::get(storage.getContext());
  if (storage.isUnsignedInteger())
    return IntegerType::get(storage.getContext(), storage.getIntOrFloatBitWidth());
  return storage;
}

/// Element types of lowered tensors: signless integers, since arith has no others.
static mlir::Type signless(mlir::Type element) {
  return element.isUnsignedInteger() ? mlir::Type(IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth())) : element;
}

LinalgLowering::LinalgLowering(func::FuncOp source, bool dropsUnitAxes)
    : b(source.getLoc(), source), source(source), dropsUnitAxes(dropsUnitAxes) {}

SmallVector<int64_t> LinalgLowering::keptAxes(ArrayRef<DimExpr> dims) const {
  SmallVector<int64_t> kept;
  int64_t next = 0;
  for (const DimExpr &dim : dims)
    kept.push_back(dropsUnitAxes && dim.isConstant(1) ? -1 : next++);
  return kept;
}

LinalgLowering::Type LinalgLowering::convert(Type type) const {
  SmallVector<DimExpr> dims;
  for (const DimExpr &dim : graph::dimsOf(type))
    if (!dropsUnitAxes || !dim.isConstant(1))
      dims.push_back(dim);
  return graph::tensorType(dims, signless(type.getElementType()));
}

LinalgLowering::Input LinalgLowering::same(Value tensor) {
  return {tensor, llvm::to_vector(llvm::seq<int64_t>(0, cast<Type>(tensor.getType()).getRank()))};
}

/// `original` lowered; values made by the lowering itself stand for themselves.
Value LinalgLowering::lookUp(Value original) {
  auto found = lowered.find(original);
  return found == lowered.end() ? original : found->second;
}

AffineMap LinalgLowering::mapOf(const Input &input, ArrayRef<DimExpr> space) const {
  SmallVector<int64_t> keptOfSpace = keptAxes(space);
  int64_t loops = llvm::count_if(keptOfSpace, [](int64_t axis) { return axis >= 0; });
  SmallVector<AffineExpr> exprs;
  MLIRContext *context = b.getContext();
  for (auto [dim, axis] : llvm::zip_equal(graph::dimsOf(cast<Type>(input.tensor.getType())), input.axes)) {
    if (dropsUnitAxes && dim.isConstant(1))
      continue;
    // An axis of size 1 that is repeated.
    bool isRepeated = dim.isConstant(1) && !space[axis].isConstant(1);
    exprs.push_back(isRepeated ? getAffineConstantExpr(0, context) : getAffineDimExpr(keptOfSpace[axis], context));
  }
  return AffineMap::get(loops, 0, exprs, context);
}

Value LinalgLowering::elementwise(Type type, ArrayRef<Input> inputs, BodyBuilder body) {
  SmallVector<DimExpr> space = graph::dimsOf(type);
  Type resultType = convert(type);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (const Input &input : inputs) {
    operands.push_back(lookUp(input.tensor));
    maps.push_back(mapOf(input, space));
  }
  maps.push_back(b.getMultiDimIdentityMap(resultType.getRank()));
  Value init = ub::PoisonOp::create(b, resultType);
  SmallVector<utils::IteratorType> iterators(resultType.getRank(), utils::IteratorType::parallel);
  beforeOp = b.saveInsertionPoint();
  auto generic = linalg::GenericOp::create(b, resultType, operands, init, maps, iterators,
                                           [&](OpBuilder &nested, Location location, ValueRange elements) {
                                             Body code(location, nested, *this, keptAxes(space));
                                             SmallVector<Value> widened;
                                             for (Value element : elements.drop_back())
                                               widened.push_back(code.widen(element));
                                             Value result = body(code, widened);
                                             linalg::YieldOp::create(code, code.narrow(result, resultType.getElementType()));
                                           });
  return generic.getResult(0);
}

Value LinalgLowering::reduction(Type type, ArrayRef<DimExpr> space, ArrayRef<int64_t> axes, TypedAttr initial, ArrayRef<Input> inputs,
                                BodyBuilder element, llvm::function_ref<Value(Body &, Value, Value)> combine) {
  Type resultType = convert(graph::tensorType(graph::dimsOf(type), initial.getType()));
  SmallVector<int64_t> kept = keptAxes(space);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (const Input &input : inputs) {
    operands.push_back(lookUp(input.tensor));
    maps.push_back(mapOf(input, space));
  }
  // Loops that no input has, like the positions of a pooling window, get their sizes from an operand that is not read.
  SmallVector<DimExpr> extra;
  SmallVector<AffineExpr> extraExprs, resultExprs;
  SmallVector<utils::IteratorType> iterators;
  MLIRContext *context = source.getContext();
  for (auto [axis, dim] : llvm::enumerate(space)) {
    if (kept[axis] < 0)
      continue;
    AffineExpr expr = getAffineDimExpr(kept[axis], context);
    bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
    iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (!isReduced)
      resultExprs.push_back(expr);
    else if (llvm::none_of(maps, [&](AffineMap map) { return llvm::is_contained(map.getResults(), expr); })) {
      extra.push_back(dim);
      extraExprs.push_back(expr);
    }
  }
  if (!extra.empty()) {
    operands.push_back(ub::PoisonOp::create(b, graph::tensorType(extra, initial.getType())));
    maps.push_back(AffineMap::get(iterators.size(), 0, extraExprs, context));
  }
  maps.push_back(AffineMap::get(iterators.size(), 0, resultExprs, context));
  Value poison = ub::PoisonOp::create(b, resultType);
  Value start = arith::ConstantOp::create(b, initial);
  Value init = linalg::FillOp::create(b, start, poison).getResult(0);
  size_t numInputs = inputs.size();
  beforeOp = b.saveInsertionPoint();
  auto generic = linalg::GenericOp::create(b, resultType, operands, init, maps, iterators,
                                           [&](OpBuilder &nested, Location location, ValueRange elements) {
                                             Body code(location, nested, *this, kept);
                                             SmallVector<Value> widened;
                                             for (Value input : elements.take_front(numInputs))
                                               widened.push_back(code.widen(input));
                                             Value result = combine(code, elements.back(), element(code, widened));
                                             linalg::YieldOp::create(code, result);
                                           });
  Value result = generic.getResult(0);
  mlir::Type wanted = signless(type.getElementType());
  if (wanted == resultType.getElementType())
    return result;
  // A sum of halves was accumulated in f32; it is rounded once.
  AffineMap identity = b.getMultiDimIdentityMap(resultType.getRank());
  Type rounded = graph::withElement(resultType, wanted);
  SmallVector<utils::IteratorType> parallel(resultType.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, rounded, result, ub::PoisonOp::create(b, rounded).getResult(), {identity, identity}, parallel,
                                   [&](OpBuilder &nested, Location location, ValueRange elements) {
                                     Body code(location, nested, *this, {});
                                     linalg::YieldOp::create(code, code.narrow(elements[0], wanted));
                                   })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------===//

Body::Body(Location location, OpBuilder &builder, LinalgLowering &lowering, ArrayRef<int64_t> kept)
    : ImplicitLocOpBuilder(location, builder), lowering(lowering), kept(kept) {}

Value Body::index(int64_t axis) { return kept[axis] < 0 ? indexConstant(0) : linalg::IndexOp::create(*this, kept[axis]).getResult(); }

Value Body::size(const DimExpr &expr) {
  if (auto constant = expr.constant())
    return indexConstant(*constant);
  // The value is made before the op and captured by its body.
  OpBuilder before(getContext());
  before.restoreInsertionPoint(lowering.beforeOp);
  auto type = RankedTensorType::get({}, getI64Type());
  auto dims = graph::DimsAttr::get(getContext(), ArrayRef<DimExpr>(expr));
  Value values = graph::DimValuesOp::create(before, getLoc(), type, dims, getUnitAttr());
  return toIndex(tensor::ExtractOp::create(*this, values, ValueRange{}));
}

Value Body::extract(Value tensor, ArrayRef<Value> indices, bool needsElements) {
  SmallVector<Value> keptIndices;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (auto [axis, keptAxis] : llvm::enumerate(lowering.keptAxes(graph::dimsOf(type))))
    if (keptAxis >= 0)
      keptIndices.push_back(indices[axis]);
  auto op = tensor::ExtractOp::create(*this, lowering.lookUp(tensor), keptIndices);
  if (needsElements)
    op->setDiscardableAttr(needsElementsAttr, getUnitAttr());
  return widen(op);
}

Value Body::indexConstant(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

Value Body::number(mlir::Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(*this, getFloatAttr(type, value));
  return integer(type, static_cast<int64_t>(value));
}

Value Body::integer(mlir::Type type, int64_t value) {
  if (type.isIndex())
    return indexConstant(value);
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(*this, getIntegerAttr(type, APInt(64, value, /*isSigned=*/true).trunc(width)));
}

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

Value Body::add(Value x, Value y) {
  return isFloat(x) ? arith::AddFOp::create(*this, x, y).getResult() : arith::AddIOp::create(*this, x, y).getResult();
}
Value Body::sub(Value x, Value y) {
  return isFloat(x) ? arith::SubFOp::create(*this, x, y).getResult() : arith::SubIOp::create(*this, x, y).getResult();
}
Value Body::mul(Value x, Value y) {
  return isFloat(x) ? arith::MulFOp::create(*this, x, y).getResult() : arith::MulIOp::create(*this, x, y).getResult();
}
Value Body::min(Value x, Value y) { return arith::MinSIOp::create(*this, x, y); }
Value Body::max(Value x, Value y) { return arith::MaxSIOp::create(*this, x, y); }
Value Body::accumulateExtremum(bool isMax, Value accumulator, Value element) {
  // The inner select is the processors' max, which gives the second operand if either is NaN.
  auto predicate = isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value wins = arith::CmpFOp::create(*this, predicate, accumulator, element);
  Value extremum = select(wins, accumulator, element);
  Value isNan = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, accumulator, accumulator);
  return select(isNan, accumulator, extremum);
}
Value Body::clamp(Value index, Value size) { return max(min(index, sub(size, integer(size.getType(), 1))), integer(size.getType(), 0)); }
Value Body::less(Value x, Value y) {
  if (isFloat(x))
    return arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, x, y);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, x, y);
}
Value Body::select(Value condition, Value x, Value y) { return arith::SelectOp::create(*this, condition, x, y); }

Value Body::toIndex(Value integer) {
  if (integer.getType().isIndex())
    return integer;
  return arith::IndexCastOp::create(*this, getIndexType(), integer);
}

Value Body::toInteger(Value index, mlir::Type type) { return arith::IndexCastOp::create(*this, type, index); }

Value Body::widen(Value element) {
  mlir::Type type = element.getType();
  if (type.isF16() || type.isBF16())
    return arith::ExtFOp::create(*this, getF32Type(), element);
  return element;
}

Value Body::narrow(Value value, mlir::Type type) {
  if (value.getType() == type)
    return value;
  return arith::TruncFOp::create(*this, type, value);
}

} // namespace stator::kernel
