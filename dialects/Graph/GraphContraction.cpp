// Contractions: type inference, with plain and with packed right-hand sides.
#include "dialects/Graph/GraphTypeInference.h"
#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Strassen.h"
#include "dialects/Target/Winograd.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

/// `rhs` holds `[B.., K, N]` in panels, so its batch axes come first and K is the axis after them.
static LogicalResult inferPackedDot(MaybeLocation location, DotGeneralOp::Adaptor adaptor, InferredTypes &types) {
  RankedTensorType lhs = tensorTypeOf(adaptor.getLhs()), rhs = tensorTypeOf(adaptor.getRhs());
  StringRef op = DotGeneralOp::getOperationName();
  int64_t columns = *adaptor.getRhsPacked(), batches = adaptor.getRhsBatch().size();
  bool inOrder = adaptor.getRhsContract().size() == 1 && adaptor.getRhsContract().front() == batches;
  for (auto [i, axis] : llvm::enumerate(adaptor.getRhsBatch()))
    inOrder &= axis == int64_t(i);
  if (!inOrder || columns < 1)
    return inferenceError(location, op, "has a packed right-hand side of ", columns,
                          " columns, expected at least one, leading batch axes and one contracted axis after them");

  SmallVector<DimExpr> dims, stored;
  for (int64_t axis : adaptor.getLhsBatch())
    dims.push_back(dimOf(lhs, axis));
  stored = dims;
  if (batches == 0 && rhs.getRank() == 4) { // Sums of quadrants.
    DimExpr depth = dimOf(lhs, adaptor.getLhsContract().front());
    if (!depth.isConstant() || !strassen::canHalve(*depth.constant(), columns))
      return inferenceError(location, op, "has sums of quadrants of a matrix of ", depth.str(), " by ", columns, ", which has none");
    llvm::append_range(stored, strassenPanelsShape(*depth.constant(), columns));
  } else
    stored.append({panelsOf(columns), dimOf(lhs, adaptor.getLhsContract().front()), panelColumns});
  if (failed(checkShape(location, op, "packed right-hand side", rhs, stored)))
    return failure();
  for (int64_t axis = 0; axis < lhs.getRank(); ++axis)
    if (!llvm::is_contained(adaptor.getLhsBatch(), axis) && axis != adaptor.getLhsContract().front())
      dims.push_back(dimOf(lhs, axis));
  dims.push_back(columns);
  return inferTensor(location, op, dims, lhs.getElementType(), types);
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType lhs = tensorTypeOf(adaptor.getLhs()), rhs = tensorTypeOf(adaptor.getRhs());
  StringRef op = getOperationName();
  if (failed(checkElement(location, op, "right-hand side", rhs, lhs.getElementType())))
    return failure();

  SmallVector<int64_t> lhsUsed(adaptor.getLhsBatch()), rhsUsed(adaptor.getRhsBatch());
  llvm::append_range(lhsUsed, adaptor.getLhsContract());
  llvm::append_range(rhsUsed, adaptor.getRhsContract());
  if (failed(checkLength(location, op, "rhs_batch", adaptor.getRhsBatch().size(), adaptor.getLhsBatch().size())) ||
      failed(checkLength(location, op, "rhs_contract", adaptor.getRhsContract().size(), adaptor.getLhsContract().size())) ||
      failed(checkDistinctAxes(location, op, "lhs_batch, lhs_contract", lhsUsed, lhs.getRank())) ||
      failed(checkDistinctAxes(location, op, "rhs_batch, rhs_contract", rhsUsed, rhs.getRank())))
    return failure();
  if (adaptor.getRhsPacked())
    return inferPackedDot(location, adaptor, types);

  SmallVector<DimExpr> dims;
  for (auto [left, right] : llvm::zip_equal(lhsUsed, rhsUsed)) {
    if (!(dimOf(lhs, left) == dimOf(rhs, right)))
      return inferenceError(location, op, "pairs axis ", left, " of size ", dimOf(lhs, left).str(), " with axis ", right, " of size ",
                            dimOf(rhs, right).str(), ", which must be equal");
    if (dims.size() < adaptor.getLhsBatch().size())
      dims.push_back(dimOf(lhs, left));
  }
  for (int64_t axis = 0; axis < lhs.getRank(); ++axis)
    if (!llvm::is_contained(lhsUsed, axis))
      dims.push_back(dimOf(lhs, axis));
  for (int64_t axis = 0; axis < rhs.getRank(); ++axis)
    if (!llvm::is_contained(rhsUsed, axis))
      dims.push_back(dimOf(rhs, axis));
  return inferTensor(location, op, dims, lhs.getElementType(), types);
}

/// The shape `[O, I/groups, spatial..]` of the filter, after a check of how it is stored.
static FailureOr<SmallVector<int64_t>> unpackedFilterShape(MaybeLocation location, ConvolutionOp::Adaptor adaptor) {
  RankedTensorType filter = tensorTypeOf(adaptor.getFilter());
  StringRef op = ConvolutionOp::getOperationName();
  if (!adaptor.getFilterPacked()) {
    if (!filter.hasStaticShape())
      return inferenceError(location, op, "has a filter of type ", filter, ", expected constant sizes");
    if (adaptor.getFilterShape())
      return inferenceError(location, op, "has `filter_shape` without `filter_packed`");
    return SmallVector<int64_t>(filter.getShape());
  }
  if (!adaptor.getFilterShape())
    return inferenceError(location, op, "has `filter_packed` without `filter_shape`");
  SmallVector<int64_t> shape(*adaptor.getFilterShape());
  int64_t groups = adaptor.getGroups();
  if (shape.size() < 2 || groups < 1 || llvm::any_of(shape, [](int64_t size) { return size < 1; }) || shape[0] % groups)
    return inferenceError(location, op, "has an impossible `filter_shape` for ", groups, " groups");
  DimExpr taps = 1;
  for (int64_t size : ArrayRef<int64_t>(shape).drop_front(2))
    taps *= size;
  SmallVector<DimExpr> expected;
  if (std::optional<uint64_t> tile = adaptor.getWinograd())
    expected = {panelsOf(shape[0]), (*tile + 2) * (*tile + 2), shape[1], panelColumns};
  else if (filter.getRank() == 2)
    expected = {taps, shape[0]};
  else
    expected = {groups, panelsOf(shape[0] / groups), taps * shape[1], panelColumns};
  if (failed(checkShape(location, op, "packed filter", filter, expected)))
    return failure();
  return shape;
}

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput()), filter = tensorTypeOf(adaptor.getFilter());
  StringRef op = getOperationName();
  if (failed(checkElement(location, op, "filter", filter, input.getElementType())))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = unpackedFilterShape(location, adaptor);
  if (failed(shape))
    return failure();
  if (input.getRank() < 3 || int64_t(shape->size()) != input.getRank())
    return inferenceError(location, op, "has an input of rank ", input.getRank(), " and a filter of rank ", shape->size(),
                          ", expected equal ranks of at least 3");

  auto areOnes = [](ArrayRef<int64_t> list) { return llvm::all_of(list, [](int64_t value) { return value == 1; }); };
  if (adaptor.getWinograd() &&
      !(isWinogradTile(*adaptor.getWinograd()) && ArrayRef<int64_t>(*shape).drop_front(2) == ArrayRef<int64_t>{3, 3} &&
        areOnes(adaptor.getStrides()) && areOnes(adaptor.getDilations()) && adaptor.getGroups() == 1))
    return inferenceError(location, op, "asks for Winograd tiles of ", *adaptor.getWinograd(),
                          ", which are 2 or 4 for a 3x3 filter without stride, dilation and groups");

  SmallVector<DimExpr> dims = dimsOf(input);
  bool last = adaptor.getLayout() == TensorLayout::ChannelsLast;
  int64_t channelAxis = last ? input.getRank() - 1 : 1, groups = adaptor.getGroups();
  DimExpr channels = dims[channelAxis];
  if (groups < 1 || (*shape)[0] % groups || !(channels == DimExpr((*shape)[1]) * groups))
    return inferenceError(location, op, "has ", channels.str(), " input channels, a filter of ", (*shape)[0], " output channels and ",
                          (*shape)[1], " input channels per group, and ", groups, " groups, which do not fit");
  SmallVector<DimExpr> spatial(dims.begin() + (last ? 1 : 2), dims.end() - (last ? 1 : 0));
  WindowAttributes window{ArrayRef<int64_t>(*shape).drop_front(2), adaptor.getStrides(), adaptor.getPadLow(), adaptor.getPadHigh(),
                          adaptor.getDilations()};
  if (failed(inferWindow(location, op, window, spatial)))
    return failure();
  dims[channelAxis] = (*shape)[0];
  llvm::copy(spatial, dims.begin() + (last ? 1 : 2));
  return inferTensor(location, op, dims, input.getElementType(), types);
}

SmallVector<int64_t> ConvolutionOp::filterShape() {
  return SmallVector<int64_t>(getFilterPacked() ? *getFilterShape() : getFilter().getType().getShape());
}

int64_t ConvolutionOp::spatialRank() { return getInput().getType().getRank() - 2; }

#define GET_OP_CLASSES
#include "dialects/Graph/GraphContraction.cpp.inc"
