//===- LaneEvaluatorBody.cpp - scalar bodies on lanes ----------------------===//
//
// A linalg body is scalar code; here each of its operations becomes the same
// operation on vectors, except where only lane values know better:
//  - index arithmetic stays `first + lane * stride` as long as it can;
//  - tensor.extract asks the evaluator, so it may read any producer;
//  - widening from and rounding to half precision happen at memory only: values
//    of f16 and bf16 tensors are f32 in registers. A truncf that states its
//    rounding mode is an explicit conversion, which rounds.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LaneEvaluator.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace stator::kernel {

LaneValue LaneEvaluator::computeGeneric(linalg::GenericOp op, OpResult result, ArrayRef<LaneValue> at) {
  LaneValues point(op.getNumLoops(), LaneValue::uniform(k.i64(0)));
  AffineMap map = op.getIndexingMapMatchingResult(result);
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      point[dim.getPosition()] = at[i];
  if (op.getNumReductionLoops() > 0)
    return computeReduction(op, point);
  return computeBody(op, point, {});
}

LaneValue LaneEvaluator::computeBody(linalg::GenericOp op, ArrayRef<LaneValue> point, Value accumulator) {
  Environment environment;
  Block *body = op.getBody();
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    LaneValues indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        indices.push_back(point[dim.getPosition()]);
      else
        indices.push_back(LaneValue::uniform(k.i64(cast<AffineConstantExpr>(expr).getValue())));
    }
    environment[argument] = lookUpOrCompute(input->get(), indices);
  }
  if (accumulator)
    environment[body->getArguments().back()] = {accumulator, 0};
  for (Operation &inner : body->without_terminator())
    environment[inner.getResult(0)] = computeBodyOp(&inner, point, environment);
  Value yielded = body->getTerminator()->getOperand(0);
  auto found = environment.find(yielded);
  if (found != environment.end())
    return found->second;
  // A body may yield a value from outside: a constant.
  return computeConstant(yielded.getDefiningOp<arith::ConstantOp>(), {});
}

LaneValue LaneEvaluator::computeBodyOp(Operation *op, ArrayRef<LaneValue> point, Environment &environment) {
  auto valueOf = [&](Value operand) -> LaneValue {
    auto found = environment.find(operand);
    return found != environment.end() ? found->second : computeConstant(operand.getDefiningOp<arith::ConstantOp>(), {});
  };
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return point[index.getDim()];
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return computeConstant(constant, {});
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    LaneValues indices;
    for (Value index : extract.getIndices())
      indices.push_back(valueOf(index));
    return lookUpOrCompute(extract.getTensor(), indices);
  }

  LaneValues operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueOf(operand));
  Type type = op->getResult(0).getType();
  auto is64 = [](Type type) { return type.isIndex() || type.isInteger(64); };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && is64(type) && is64(op->getOperand(0).getType()))
    return operands[0];
  if (is64(type)) {
    if (isa<arith::AddIOp>(op))
      return add(operands[0], operands[1]);
    if (isa<arith::SubIOp>(op))
      return sub(operands[0], operands[1]);
    if (isa<arith::MulIOp>(op))
      return mul(operands[0], operands[1]);
  }
  auto isHalf = [](Type type) { return type.isF16() || type.isBF16(); };
  if (isa<arith::ExtFOp>(op) && isHalf(op->getOperand(0).getType())) {
    if (type.isF32())
      return operands[0];
  }
  if (auto truncate = dyn_cast<arith::TruncFOp>(op); truncate && isHalf(type)) {
    if (!truncate.getRoundingmode() && op->getOperand(0).getType().isF32())
      return operands[0];
    // From f64 by way of f32, like a conversion of each step.
    Value value = materialise(operands[0]);
    return {hoisted(value,
                    [&] {
                      Value single = value;
                      Type wide = KernelBuilder::laneType(k.getF32Type(), KernelBuilder::lanesOf(value));
                      if (KernelBuilder::elementType(value).isF64())
                        single = arith::TruncFOp::create(k, wide, value);
                      return k.widen(k.narrow(single, type), type);
                    }),
            0};
  }
  return cloneOnLanes(op, operands);
}

LaneValue LaneEvaluator::cloneOnLanes(Operation *op, ArrayRef<LaneValue> operands) {
  SmallVector<Value> values;
  unsigned resultLanes = 1;
  for (LaneValue operand : operands) {
    values.push_back(materialise(operand));
    resultLanes = std::max(resultLanes, KernelBuilder::lanesOf(values.back()));
  }
  if (resultLanes > 1)
    for (Value &value : values)
      value = splat(value);
  Type type = op->getResult(0).getType();
  type = type.isIndex() ? k.getI64Type() : KernelBuilder::computeType(type);
  Value result = hoisted(values, [&]() -> Value {
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      // Indices are i64 here; the other side is a narrower integer.
      Type target = KernelBuilder::laneType(type, resultLanes);
      unsigned from = KernelBuilder::elementType(values[0]).getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
      if (from == to)
        return values[0];
      if (from > to)
        return arith::TruncIOp::create(k, target, values[0]);
      if (isa<arith::IndexCastUIOp>(op))
        return arith::ExtUIOp::create(k, target, values[0]);
      return arith::ExtSIOp::create(k, target, values[0]);
    }
    OperationState state(k.getLoc(), op->getName());
    state.addOperands(values);
    state.addTypes(KernelBuilder::laneType(type, resultLanes));
    state.addAttributes(op->getAttrs());
    // A multiplication and an addition may become one instruction.
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
      state.attributes.set("fastmath", arith::FastMathFlagsAttr::get(k.getContext(), arith::FastMathFlags::contract));
    return k.OpBuilder::create(state)->getResult(0);
  });
  return {result, 0};
}

} // namespace stator::kernel
