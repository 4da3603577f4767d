// See Interpretation.h. Tensors are dropped after their last use, so that a model's peak is its activations, not their sum.
#include "dialects/Graph/Interpreter/Interpretation.h"

using namespace mlir;

namespace stator::graph {

//===- Symbols ----------------------------------------------------------------------------------------------------------------===//

FailureOr<int64_t> Interpretation::evaluate(Operation *op, const DimExpr &dim) {
  Result<int64_t> value = dim.evaluate(symbols);
  if (!value.ok())
    return op->emitOpError() << "has the size `" << dim.str() << "`, which has no value: " << value.status().message();
  return *value;
}

LogicalResult Interpretation::checkArgument(FunctionOpInterface method, unsigned number, const TensorValue &input) {
  auto type = dyn_cast<RankedTensorType>(method.getArgument(number).getType());
  if (!type || !isGraphTensor(type))
    return method.emitOpError() << "has argument " << number << " of type " << method.getArgument(number).getType()
                                << ", expected a tensor";
  if (elementTypeOf(type.getElementType()) != input.type || type.getRank() != input.rank())
    return method.emitOpError() << "is given a " << input.typeText() << " for argument " << number << " of type " << type;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    FailureOr<int64_t> expected = evaluate(method, dimOf(type, axis));
    if (failed(expected))
      return failure();
    if (*expected != input.shape[axis])
      return method.emitOpError() << "is given a " << input.typeText() << " for argument " << number << ", whose size " << axis << ", `"
                                  << dimOf(type, axis).str() << "`, is " << *expected;
  }
  return success();
}

LogicalResult Interpretation::bind(FunctionOpInterface method, ArrayRef<TensorValue> inputs) {
  if (inputs.size() != method.getNumArguments())
    return method.emitOpError() << "is given " << inputs.size() << " inputs, expected " << method.getNumArguments();
  // A symbol that stands alone in a size has that size; the first place decides, and all places are compared below.
  for (auto [argument, input] : llvm::zip_equal(method.getArguments(), inputs)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != input.rank())
      continue;
    for (auto [axis, dim] : llvm::enumerate(dimsOf(type)))
      if (std::optional<std::string> name = dim.asSymbol())
        symbols.try_emplace(*name, input.shape[axis]);
  }
  for (auto [number, input] : llvm::enumerate(inputs))
    if (failed(checkArgument(method, number, input)))
      return failure();

  for (auto &[name, range] : allSymbolRanges(method)) {
    auto bound = symbols.find(name);
    if (bound != symbols.end() && (bound->second < range.lo || bound->second > range.hi))
      return method.emitOpError() << "is given " << bound->second << " for the size `" << name << "`, which has the range " << *range.lo
                                  << ".." << *range.hi;
  }
  auto guards = method->getAttrOfType<ArrayAttr>(kGuardsAttr);
  for (Attribute guard : guards ? guards.getValue() : ArrayRef<Attribute>()) {
    int64_t sides[2];
    for (auto [side, text] : llvm::zip_equal(sides, cast<ArrayAttr>(guard).getAsRange<StringAttr>())) {
      Result<DimExpr> expr = DimExpr::parse(text.getValue());
      FailureOr<int64_t> value = evaluate(method, expr.ok() ? *expr : DimExpr::invalid(expr.status().message()));
      if (failed(value))
        return failure();
      side = *value;
    }
    if (sides[0] != sides[1])
      return method.emitOpError() << "needs equal sizes in " << guard << ", they are " << sides[0] << " and " << sides[1];
  }
  return success();
}

//===- Budget -----------------------------------------------------------------------------------------------------------------===//

LogicalResult Interpretation::spend(Operation *op, ArrayRef<int64_t> factors) {
  int64_t work = 1;
  for (int64_t factor : factors)
    if (__builtin_mul_overflow(work, factor, &work))
      work = std::numeric_limits<int64_t>::max();
  if (work > options.maxWork - usedWork)
    return op->emitOpError() << "needs more work than the interpreter's budget of " << options.maxWork << " steps";
  usedWork += work;
  return success();
}

FailureOr<TensorValue> Interpretation::allocate(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ElementType element = elementTypeOf(tensor.getElementType());
  SmallVector<int64_t> sizes;
  bool empty = false;
  for (const DimExpr &dim : dimsOf(tensor)) {
    FailureOr<int64_t> size = evaluate(op, dim);
    if (failed(size))
      return failure();
    if (*size < 0)
      return op->emitOpError() << "has the size `" << dim.str() << "`, which is " << *size;
    empty |= *size == 0;
    sizes.push_back(*size);
  }
  // Elements and the doubles in which most functions compute.
  int64_t bytes = byteSize(element) + 8;
  for (int64_t size : sizes)
    if (!empty && __builtin_mul_overflow(bytes, size, &bytes))
      bytes = std::numeric_limits<int64_t>::max();
  if (!empty && bytes > options.maxBytes - usedBytes)
    return op->emitOpError() << "needs more memory than the interpreter's budget of " << options.maxBytes << " bytes";
  return TensorValue(element, sizes);
}

void Interpretation::define(Value value, TensorValue tensor) {
  forget(value);
  usedBytes += int64_t(tensor.data.size());
  tensors[value] = std::make_unique<TensorValue>(std::move(tensor));
}

void Interpretation::forget(Value value) {
  auto found = tensors.find(value);
  if (found == tensors.end())
    return;
  usedBytes -= int64_t(found->second->data.size());
  tensors.erase(found);
}

//===- Execution --------------------------------------------------------------------------------------------------------------===//

LogicalResult Interpretation::runOp(Operation *op, ArrayRef<const TensorValue *> operands, SmallVectorImpl<TensorValue> &results) {
  InterpreterFunction function = lookupInterpreter(op->getName());
  if (!function)
    return op->emitOpError() << "has no function in the interpreter";
  int64_t elements = 1;
  for (const TensorValue *operand : operands)
    elements += operand->count();
  for (Type type : op->getResultTypes()) {
    FailureOr<TensorValue> result = allocate(op, type);
    if (failed(result))
      return failure();
    elements += result->count();
    results.push_back(std::move(*result));
  }
  if (failed(spend(op, elements)))
    return failure();
  OpCall call(op, operands, results, *this);
  return function(call);
}

/// For each op of a block, the values defined in the block that nothing after it needs.
static DenseMap<Operation *, SmallVector<Value>> lastUses(Block &block) {
  DenseMap<Operation *, SmallVector<Value>> dying;
  auto note = [&](Value value, Operation *definition) {
    Operation *last = definition;
    for (Operation *user : value.getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (inBlock && (!last || last->isBeforeInBlock(inBlock)))
        last = inBlock;
    }
    if (last)
      dying[last].push_back(value);
  };
  for (BlockArgument argument : block.getArguments())
    note(argument, nullptr);
  for (Operation &op : block)
    for (Value result : op.getResults())
      note(result, &op);
  return dying;
}

LogicalResult Interpretation::runBlock(Block &block, ArrayRef<TensorValue> arguments, SmallVectorImpl<TensorValue> &yielded) {
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    define(argument, tensor);
  DenseMap<Operation *, SmallVector<Value>> dying = lastUses(block);
  for (Operation &op : block) {
    SmallVector<const TensorValue *> operands;
    for (Value operand : op.getOperands()) {
      auto found = tensors.find(operand);
      if (found == tensors.end())
        return op.emitOpError() << "uses a value that the interpreter has not seen";
      operands.push_back(found->second.get());
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (const TensorValue *operand : operands)
        yielded.push_back(*operand);
    } else {
      SmallVector<TensorValue> results;
      if (failed(runOp(&op, operands, results)))
        return failure();
      for (auto [value, tensor] : llvm::zip_equal(op.getResults(), results))
        define(value, std::move(tensor));
    }
    for (Value value : dying.lookup(&op))
      forget(value);
  }
  // Arguments that nothing used.
  for (BlockArgument argument : block.getArguments())
    forget(argument);
  return success();
}

//===- What functions see -----------------------------------------------------------------------------------------------------===//

const TensorValue *OpCall::find(Value operand) const {
  // Equal operands have equal values, so that the first will do.
  for (auto [candidate, tensor] : llvm::zip_equal(op->getOperands(), operands))
    if (candidate == operand)
      return tensor;
  return nullptr;
}

FailureOr<int64_t> OpCall::evaluate(const DimExpr &dim) const { return interpretation.evaluate(op, dim); }

FailureOr<SmallVector<int64_t>> OpCall::evaluate(DimsAttr dims) const {
  SmallVector<int64_t> values;
  for (const DimExpr &dim : dims.dims()) {
    FailureOr<int64_t> value = evaluate(dim);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return values;
}

LogicalResult OpCall::spend(ArrayRef<int64_t> factors) const { return interpretation.spend(op, factors); }

LogicalResult OpCall::run(Region &region, ArrayRef<TensorValue> arguments, SmallVectorImpl<TensorValue> &yielded) const {
  return interpretation.runBlock(region.front(), arguments, yielded);
}

} // namespace stator::graph
