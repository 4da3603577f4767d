//===- LaneEvaluator.cpp - demand-driven evaluation on lanes ---------------===//
//
// Scopes, index arithmetic and memory accesses, and the walk through the DAG.
// Bodies are in LaneEvaluatorBody.cpp, reductions in LaneEvaluatorReduction.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LaneEvaluator.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator::kernel {

LaneEvaluator::LaneEvaluator(KernelBuilder &builder, func::FuncOp source) : k(builder), source(source) {
  scopes.push_back({k.getInsertionBlock(), 1, {}, {}});
  for (BlockArgument argument : source.getArguments()) {
    Value base = k.operand(argument.getArgNumber());
    auto type = cast<RankedTensorType>(argument.getType());
    bind(argument, [this, base, type](ArrayRef<LaneValue> at) { return load(base, type, at); });
  }
}

LaneEvaluator::Scope::Scope(LaneEvaluator &evaluator, unsigned lanes, Value mask) : evaluator(evaluator) {
  evaluator.scopes.push_back({evaluator.k.getInsertionBlock(), lanes, mask, {}});
}

LaneEvaluator::Scope::~Scope() { evaluator.scopes.pop_back(); }

//===----------------------------------------------------------------------===//
// Hoisting
//===----------------------------------------------------------------------===//

/// The outermost scope in which `value` is visible.
unsigned LaneEvaluator::depthOf(Value value) const {
  Region *region = value.getParentRegion();
  for (unsigned depth = 0; depth + 1 < scopes.size(); ++depth)
    if (region->isAncestor(scopes[depth].block->getParent()))
      return depth;
  return scopes.size() - 1;
}

unsigned LaneEvaluator::depthOf(ArrayRef<Value> values) const {
  unsigned depth = 0;
  for (Value value : values)
    depth = std::max(depth, depthOf(value));
  return depth;
}

Value LaneEvaluator::hoisted(ArrayRef<Value> operands, llvm::function_ref<Value()> emit, unsigned least) {
  unsigned depth = std::max(depthOf(operands), std::min<unsigned>(least, scopes.size() - 1));
  Block *block = scopes[depth].block;
  if (depth + 1 == scopes.size() || block == k.getInsertionBlock())
    return emit();
  OpBuilder::InsertionGuard guard(k);
  // Before the loop, in that scope's block, in which the builder stands.
  k.setInsertionPoint(block->findAncestorOpInBlock(*k.getInsertionBlock()->getParentOp()));
  return emit();
}

//===----------------------------------------------------------------------===//
// Lane values
//===----------------------------------------------------------------------===//

Value LaneEvaluator::splat(Value value) {
  if (lanes() == 1 || isa<VectorType>(value.getType()))
    return value;
  return hoisted(value, [&] { return k.splat(value, lanes()); });
}

Value LaneEvaluator::materialise(LaneValue value) {
  if (value.stride == 0 || lanes() == 1)
    return value.value;
  Type element = value.value.getType();
  Value steps = k.step(lanes());
  Type vector = KernelBuilder::laneType(element, lanes());
  Value first = splat(value.value);
  // The product is emitted where the sum goes: it may have to stand before a loop around this point.
  return hoisted(first, [&] { return k.add(first, value.stride == 1 ? steps : k.mul(steps, k.integer(vector, value.stride))); });
}

LaneValue LaneEvaluator::add(LaneValue a, LaneValue b) {
  if (!a.isVector() && !b.isVector()) {
    Value sum = hoisted({a.value, b.value}, [&] { return k.add(a.value, b.value); });
    return {sum, a.stride + b.stride};
  }
  Value left = splat(materialise(a)), right = splat(materialise(b));
  return {hoisted({left, right}, [&] { return k.add(left, right); }), 0};
}

LaneValue LaneEvaluator::sub(LaneValue a, LaneValue b) {
  if (!a.isVector() && !b.isVector()) {
    Value difference = hoisted({a.value, b.value}, [&] { return k.sub(a.value, b.value); });
    return {difference, a.stride - b.stride};
  }
  Value left = splat(materialise(a)), right = splat(materialise(b));
  return {hoisted({left, right}, [&] { return k.sub(left, right); }), 0};
}

LaneValue LaneEvaluator::mul(LaneValue a, LaneValue b) {
  if (a.stride != 0)
    std::swap(a, b);
  APInt factor;
  if (b.stride == 0 && a.isUniform() && b.isUniform())
    return {hoisted({a.value, b.value}, [&] { return k.mul(a.value, b.value); }), 0};
  if (b.stride != 0 && a.isUniform() && matchPattern(a.value, m_ConstantInt(&factor))) {
    Value product = hoisted({a.value, b.value}, [&] { return k.mul(a.value, b.value); });
    return {product, b.stride * factor.getSExtValue()};
  }
  Value left = splat(materialise(a)), right = splat(materialise(b));
  return {hoisted({left, right}, [&] { return k.mul(left, right); }), 0};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LaneValue LaneEvaluator::offsetOf(Value base, RankedTensorType type, ArrayRef<LaneValue> at, unsigned ignoredLeadingDims) {
  SmallVector<DimExpr> strides = k.stridesOf(type, base);
  LaneValue offset = LaneValue::uniform(k.i64(0));
  for (size_t i = ignoredLeadingDims; i != strides.size(); ++i)
    offset = add(offset, mul(at[i], LaneValue::uniform(k.size(strides[i]))));
  return offset;
}

/// Whether element 0 may be read wherever the kernel runs at all, even without work.
static bool neverEmpty(RankedTensorType type) {
  return type.hasStaticShape() && llvm::all_of(type.getShape(), [](int64_t size) { return size > 0; });
}

Value LaneEvaluator::load(Value base, RankedTensorType type, ArrayRef<LaneValue> at) {
  LaneValue offset = offsetOf(base, type, at);
  Type storage = type.getElementType();
  unsigned least = neverEmpty(type) ? 0 : 1;
  if (offset.isUniform() || lanes() == 1)
    return hoisted({base, offset.value}, [&] { return k.load(base, offset.value, storage); }, least);
  SmallVector<Value> operands = {base, offset.value};
  if (mask())
    operands.push_back(mask());
  if (offset.stride == 1)
    return hoisted(operands, [&] { return k.load(base, offset.value, storage, lanes(), mask()); }, least);
  Value offsets = materialise(offset);
  operands.push_back(offsets);
  return hoisted(operands, [&] { return k.gather(base, offsets, storage, mask()); }, least);
}

void LaneEvaluator::store(Value value, Value base, RankedTensorType type, ArrayRef<LaneValue> at) {
  LaneValue offset = offsetOf(base, type, at);
  Type storage = type.getElementType();
  if (offset.isUniform() || lanes() == 1)
    return k.store(value, base, offset.value, storage);
  if (offset.stride == 1)
    return k.store(splat(value), base, offset.value, storage, mask());
  k.scatter(splat(value), base, materialise(offset), storage, mask());
}

//===----------------------------------------------------------------------===//
// The DAG
//===----------------------------------------------------------------------===//

void LaneEvaluator::keep(Value tensor, Value base, unsigned ignoredLeadingDims) { kept[tensor] = Kept{base, ignoredLeadingDims, false}; }

void LaneEvaluator::markStored(Value tensor) { kept[tensor].isStored = true; }

Value LaneEvaluator::evaluate(Value tensor, ArrayRef<LaneValue> at) { return materialise(lookUpOrCompute(tensor, at)); }

Value LaneEvaluator::evaluateVector(Value tensor, ArrayRef<LaneValue> at) { return splat(evaluate(tensor, at)); }

LaneValue LaneEvaluator::lookUpOrCompute(Value tensor, ArrayRef<LaneValue> at) {
  // With one lane a sequence is its first element.
  LaneValues indices(at);
  bool isUniform = true;
  for (LaneValue &index : indices) {
    if (lanes() == 1)
      index.stride = 0;
    isUniform &= index.isUniform();
  }
  std::vector<const void *> key = {tensor.getAsOpaquePointer()};
  for (LaneValue &index : indices) {
    key.push_back(index.value.getAsOpaquePointer());
    key.push_back(reinterpret_cast<const void *>(index.stride));
  }
  if (!isUniform) {
    key.push_back(mask().getAsOpaquePointer());
    key.push_back(reinterpret_cast<const void *>(static_cast<uintptr_t>(lanes())));
  }
  for (ScopeData &scope : llvm::reverse(scopes))
    if (auto found = scope.known.find(key); found != scope.known.end())
      return found->second;

  LaneValue result;
  auto found = kept.find(tensor);
  if (found != kept.end()) {
    auto type = cast<RankedTensorType>(tensor.getType());
    // Kept in the compute type, whatever the tensor's own.
    Type storage = KernelBuilder::computeType(type.getElementType());
    LaneValue offset = offsetOf(found->second.base, type, indices, found->second.ignoredLeadingDims);
    if (found->second.isStored) {
      result = {k.load(found->second.base, offset.value, storage, offset.stride ? lanes() : 1, mask()), 0};
    } else {
      result = {materialise(compute(tensor, indices)), 0};
      Value value = offset.stride ? splat(result.value) : result.value;
      k.store(value, found->second.base, offset.value, storage, mask());
    }
    scopes.back().known[key] = result;
    return result;
  }
  result = compute(tensor, indices);
  // Where the result was emitted depends on its operands; it is remembered there.
  SmallVector<Value> operands = {result.value};
  scopes[depthOf(operands)].known[key] = result;
  return result;
}

LaneValue LaneEvaluator::compute(Value tensor, ArrayRef<LaneValue> at) {
  if (auto leaf = leaves.find(tensor); leaf != leaves.end())
    return {leaf->second(at), 0};
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return computeGeneric(generic, cast<OpResult>(tensor), at);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return computeConstant(fill.getInputs().front().getDefiningOp<arith::ConstantOp>(), {});
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return computeConstant(constant, at);
  auto dims = cast<graph::DimValuesOp>(op);
  if (at.empty() || dims.getValues().size() == 1)
    return LaneValue::uniform(k.size(dims.getValues().dim(0)));
  // A short list indexed at run time: chosen by comparison.
  Value index = materialise(at.front());
  Value result = splat(k.size(dims.getValues().dim(0)));
  for (size_t i = 1; i < dims.getValues().size(); ++i) {
    Value isThis = k.compare(arith::CmpIPredicate::eq, index, k.integer(index.getType(), i));
    Value candidate = k.size(dims.getValues().dim(i));
    if (isa<VectorType>(isThis.getType()))
      result = k.select(isThis, splat(candidate), splat(result));
    else
      result = k.select(isThis, candidate, result);
  }
  return {result, 0};
}

LaneValue LaneEvaluator::computeConstant(arith::ConstantOp op, ArrayRef<LaneValue> at) {
  auto convert = [&](Attribute attribute) -> TypedAttr {
    if (auto number = dyn_cast<FloatAttr>(attribute)) {
      Type type = KernelBuilder::computeType(number.getType());
      APFloat value = number.getValue();
      bool lossy = false;
      value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
      return k.getFloatAttr(type, value);
    }
    auto number = cast<IntegerAttr>(attribute);
    Type type = number.getType().isIndex() ? k.getI64Type() : KernelBuilder::computeType(number.getType());
    return k.getIntegerAttr(type, number.getValue());
  };
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return LaneValue::uniform(k.constant(convert(op.getValue())));
  if (dense.isSplat())
    return LaneValue::uniform(k.constant(convert(dense.getSplatValue<Attribute>())));

  // Other constants become data of the kernel library. They are private, so reading them needs no relocation.
  auto type = cast<RankedTensorType>(op.getType());
  Value &pointer = constantPointers[op];
  if (!pointer)
    pointer = k.constantData(dense);
  return {load(pointer, type, at), 0};
}

void LaneEvaluator::forLanes(Value begin, Value end, std::optional<int64_t> length, unsigned widening,
                             llvm::function_ref<void(LaneValue)> body) {
  // Each width takes what the previous one left; a static length says which of them are needed.
  int64_t left = length.value_or(0);
  for (int64_t width : {int64_t(widening) * k.lanes(), int64_t(k.lanes())}) {
    if (length && left < width)
      continue;
    Value count = k.i64(width);
    Value vectorEnd = k.add(begin, k.mul(k.div(k.sub(end, begin), count), count));
    k.loop(begin, vectorEnd, count, [&](Value index) {
      Scope scope(*this, width);
      body(LaneValue::consecutive(index));
    });
    begin = vectorEnd;
    left %= width;
    if (widening == 1)
      break;
  }
  if (length && left == 0)
    return;
  if (k.options().hasMasks()) {
    k.when(k.less(begin, end), [&] {
      Value mask = k.maskBelow(k.sub(end, begin), k.lanes());
      Scope scope(*this, k.lanes(), mask);
      body(LaneValue::consecutive(begin));
    });
    return;
  }
  k.loop(begin, end, k.i64(1), [&](Value index) {
    Scope scope(*this, 1);
    body(LaneValue::uniform(index));
  });
}

} // namespace stator::kernel
