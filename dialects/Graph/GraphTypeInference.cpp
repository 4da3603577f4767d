// See GraphTypeInference.h. Also tryCreate(), which runs inference before there is an op.
#include "dialects/Graph/GraphTypeInference.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace stator::graph {

LogicalResult inferSameType(MaybeLocation location, StringRef op, ValueRange operands, InferredTypes &types) {
  Type first = operands.front().getType();
  for (Value operand : operands.drop_front())
    if (operand.getType() != first)
      return inferenceError(location, op, "has operands of types ", first, " and ", operand.getType(), ", which must be equal");
  types.push_back(first);
  return success();
}

LogicalResult inferBool(MaybeLocation location, StringRef op, ValueRange operands, InferredTypes &types) {
  if (failed(inferSameType(location, op, operands, types)))
    return failure();
  auto type = cast<RankedTensorType>(types.back());
  types.back() = withElement(type, IntegerType::get(type.getContext(), 1));
  return success();
}

LogicalResult inferTensor(MaybeLocation location, StringRef op, ArrayRef<DimExpr> dims, Type element, InferredTypes &types) {
  RankedTensorType type = tensorType(dims, element);
  if (!type)
    return inferenceError(location, op, "would have a result of sizes ", str(dims), ", which is not possible");
  types.push_back(type);
  return success();
}

LogicalResult checkAxis(MaybeLocation location, StringRef op, StringRef name, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return inferenceError(location, op, "has `", name, "` ", axis, ", expected 0 <= `", name, "` < ", rank);
  return success();
}

LogicalResult checkIncreasingAxes(MaybeLocation location, StringRef op, StringRef name, ArrayRef<int64_t> axes, int64_t rank) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(checkAxis(location, op, name, axis, rank)))
      return failure();
    if (i && axis <= axes[i - 1])
      return inferenceError(location, op, "has `", name, "` ", axis, " after ", axes[i - 1], ", expected increasing axes");
  }
  return success();
}

LogicalResult checkDistinctAxes(MaybeLocation location, StringRef op, StringRef name, ArrayRef<int64_t> axes, int64_t rank) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(checkAxis(location, op, name, axis, rank)))
      return failure();
    if (llvm::is_contained(axes.take_front(i), axis))
      return inferenceError(location, op, "has axis ", axis, " twice in `", name, "`");
  }
  return success();
}

LogicalResult checkLength(MaybeLocation location, StringRef op, StringRef name, int64_t length, int64_t expected) {
  if (length != expected)
    return inferenceError(location, op, "has ", length, " entries in `", name, "`, expected ", expected);
  return success();
}

LogicalResult checkShape(MaybeLocation location, StringRef op, StringRef what, RankedTensorType type, ArrayRef<DimExpr> expected) {
  SmallVector<DimExpr> dims = dimsOf(type);
  if (ArrayRef<DimExpr>(dims) != expected)
    return inferenceError(location, op, "has a ", what, " of shape ", str(dims), ", expected ", str(expected));
  return success();
}

LogicalResult checkElement(MaybeLocation location, StringRef op, StringRef what, RankedTensorType type, Type expected) {
  if (type.getElementType() != expected)
    return inferenceError(location, op, "has a ", what, " of ", type.getElementType(), " elements, expected ", expected);
  return success();
}

LogicalResult inferWindow(MaybeLocation location, StringRef op, const WindowAttributes &window, SmallVectorImpl<DimExpr> &spatial) {
  int64_t rank = spatial.size();
  if (failed(checkLength(location, op, "kernel", window.kernel.size(), rank)) ||
      failed(checkLength(location, op, "strides", window.strides.size(), rank)) ||
      failed(checkLength(location, op, "pad_low", window.padLow.size(), rank)) ||
      failed(checkLength(location, op, "pad_high", window.padHigh.size(), rank)) ||
      failed(checkLength(location, op, "dilations", window.dilations.size(), rank)))
    return failure();
  for (ArrayRef<int64_t> amounts : {window.kernel, window.strides, window.padLow, window.padHigh, window.dilations})
    for (int64_t amount : amounts)
      if (amount > kMaxAmount || amount < -kMaxAmount)
        return inferenceError(location, op, "has ", amount, " among its window's attributes, expected at most ", kMaxAmount);
  for (int64_t i = 0; i < rank; ++i) {
    if (window.kernel[i] < 1 || window.strides[i] < 1 || window.dilations[i] < 1)
      return inferenceError(location, op, "has kernel size ", window.kernel[i], ", stride ", window.strides[i], " and dilation ",
                            window.dilations[i], " on spatial axis ", i, ", expected at least 1 of each");
    DimExpr span = spatial[i] + window.padLow[i] + window.padHigh[i] - (DimExpr(window.kernel[i]) - 1) * window.dilations[i] - 1;
    if (span.isConstant() && *span.constant() < 0)
      return inferenceError(location, op, "has a window longer than spatial axis ", i, " of size ", spatial[i].str(), " with its padding");
    spatial[i] = span.floorDiv(window.strides[i]) + 1;
  }
  return success();
}

FailureOr<Operation *> tryCreateOp(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Value> operands,
                                   ArrayRef<NamedAttribute> attributes, TypeRange resultTypes) {
  MLIRContext *context = builder.getContext();
  OperationState state(loc, name);
  auto registered = RegisteredOperationName::lookup(name, context);
  if (!registered)
    return emitError(loc) << "there is no operation `" << name << "`";
  state.addAttributes(attributes);
  SmallVector<int32_t> segments;
  for (Value operand : operands) {
    segments.push_back(operand ? 1 : 0);
    if (operand)
      state.addOperands(operand);
  }
  if (registered->hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", DenseI32ArrayAttr::get(context, segments));

  state.addTypes(resultTypes);
  auto *infer = registered->getInterface<InferTypeOpInterface>();
  if (resultTypes.empty() && infer) {
    // The properties are made from the attributes in the same way as Operation::create() does.
    OpaqueProperties properties = nullptr;
    SmallVector<char> storage;
    if (int size = registered->getOpPropertyByteSize()) {
      storage.resize(size + alignof(std::max_align_t));
      char *aligned = reinterpret_cast<char *>(llvm::alignAddr(storage.data(), llvm::Align(alignof(std::max_align_t))));
      properties = OpaqueProperties(aligned);
      registered->initOpProperties(properties, OpaqueProperties(nullptr));
    }
    llvm::scope_exit release([&] {
      if (properties)
        registered->destroyOpProperties(properties);
    });
    DictionaryAttr dictionary = state.attributes.getDictionary(context);
    auto emit = [&] { return emitError(loc) << "'" << name << "' op "; };
    if (properties && failed(registered->setOpPropertiesFromAttribute(*registered, properties, dictionary, emit)))
      return failure();
    SmallVector<Type> types;
    if (failed(infer->inferReturnTypes(context, loc, state.operands, dictionary, properties, RegionRange(), types)))
      return failure();
    state.addTypes(types);
  }

  Operation *op = builder.create(state);
  if (failed(verify(op))) {
    op->erase();
    return failure();
  }
  return op;
}

} // namespace stator::graph
