//===- LibraryCalls.cpp - fusion regions as calls of library routines ------===//
//
// A region qualifies when it is one contraction followed by a chain of
// element-wise operations that the library knows (LibraryEpilogue). What else
// the optimiser might fuse stays with the generated kernels.
//
//===----------------------------------------------------------------------===//

#include "dialects/Plan/LibraryCalls.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <numeric>

using namespace mlir;
using namespace stator;
using namespace stator::plan;

namespace {

llvm::Error refuse(const Twine &reason) { return llvm::createStringError(llvm::inconvertibleErrorCode(), reason); }

SmallVector<DimExpr> dimsOfValue(Value value) { return graph::dimsOf(cast<RankedTensorType>(value.getType())); }

/// Whether the routine can be given `value`: it comes from outside of the region, or is a constant that can be taken out.
bool isOperand(Value value) { return isa<BlockArgument>(value) || value.getDefiningOp<graph::ConstantOp>(); }

/// All that follows `contraction` in its block, or the reason why the library cannot do it.
llvm::Expected<LibraryEpilogue> epilogueOf(Operation *contraction) {
  LibraryEpilogue epilogue(contraction);
  for (Operation *op = contraction->getNextNode(); op; op = op->getNextNode())
    if (!isa<graph::BroadcastOp, graph::ConstantOp, graph::YieldOp>(op) && !epilogue.admit(op))
      return refuse("its epilogue has `" + op->getName().getStringRef() + "`, which the library does not do at this place");
  Operation *yield = contraction->getBlock()->getTerminator();
  if (yield->getNumOperands() != 1 || yield->getOperand(0) != epilogue.result())
    return refuse("the region gives something else than the end of its epilogue");
  SmallVector<Value> operands(epilogue.postOpOperands());
  if (epilogue.bias())
    operands.push_back(epilogue.bias());
  if (!llvm::all_of(operands, isOperand))
    return refuse("an operand of the epilogue is computed inside the region");
  return epilogue;
}

/// The options and operands of an epilogue, which both routines have.
void describeEpilogue(const LibraryEpilogue &epilogue, LibraryCallDescription &call, SmallVectorImpl<NamedAttribute> &options) {
  Builder builder(epilogue.result().getContext());
  options.push_back(builder.getNamedAttr("bias", builder.getI64IntegerAttr(static_cast<bool>(epilogue.bias()))));
  options.push_back(builder.getNamedAttr("relu", builder.getI64IntegerAttr(epilogue.relu())));
  if (!epilogue.postOps().empty())
    options.push_back(builder.getNamedAttr("post_ops", builder.getDenseI64ArrayAttr(epilogue.postOps())));
  if (epilogue.bias())
    call.operands.push_back(epilogue.bias());
  llvm::append_range(call.operands, epilogue.postOpOperands());
}

SmallVector<PostOpExtent> extentsOf(ArrayRef<int64_t> postOps) {
  SmallVector<PostOpExtent> extents;
  for (size_t i = 0; i < postOps.size(); i += 4)
    if (postOps[i] == static_cast<int64_t>(PostOp::Add) || postOps[i] == static_cast<int64_t>(PostOp::Mul))
      extents.push_back(static_cast<PostOpExtent>(postOps[i + 1]));
  return extents;
}

/// Whether `axes` is `first`, `first + 1`, ...
bool areConsecutive(ArrayRef<int64_t> axes, int64_t first) {
  for (int64_t axis : axes)
    if (axis != first++)
      return false;
  return true;
}

DimExpr productOf(ArrayRef<DimExpr> dims) {
  return std::accumulate(dims.begin(), dims.end(), DimExpr(1), [](DimExpr a, const DimExpr &b) { return a * b; });
}

llvm::Expected<LibraryCallDescription> describeMatmul(graph::DotGeneralOp dot) {
  if (!cast<RankedTensorType>(dot.getType()).getElementType().isF32())
    return refuse("only f32 matmuls are called");
  if (dot.getRhsPacked())
    return refuse("the right-hand side is packed for generated kernels");
  Value lhs = dot.getLhs(), rhs = dot.getRhs();
  if (!isOperand(lhs) || !isOperand(rhs))
    return refuse("an operand of the matmul is computed inside the region");
  SmallVector<DimExpr> lhsDims = dimsOfValue(lhs), rhsDims = dimsOfValue(rhs);
  int64_t batch = dot.getLhsBatch().size(), contract = dot.getLhsContract().size();
  int64_t lhsRank = lhsDims.size(), rhsRank = rhsDims.size();
  int64_t lhsFree = lhsRank - batch - contract;
  bool rhsContractsFirst = areConsecutive(dot.getRhsContract(), batch);
  bool rhsContractsLast = areConsecutive(dot.getRhsContract(), rhsRank - contract);
  if (!areConsecutive(dot.getLhsBatch(), 0) || !areConsecutive(dot.getRhsBatch(), 0) ||
      !areConsecutive(dot.getLhsContract(), batch + lhsFree) || (!rhsContractsFirst && !rhsContractsLast))
    return refuse("the axes of the matmul are not in the order batch, rows, columns");

  auto epilogue = epilogueOf(dot);
  if (!epilogue)
    return epilogue.takeError();
  bool transpose = !rhsContractsFirst;
  ArrayRef<DimExpr> l(lhsDims), r(rhsDims);
  DimExpr rhsFree = transpose ? productOf(r.slice(batch, rhsRank - batch - contract)) : productOf(r.drop_front(batch + contract));
  bool isPerColumn = epilogue->bias() || llvm::is_contained(extentsOf(epilogue->postOps()), PostOpExtent::PerChannel);
  if (isPerColumn && rhsRank - batch - contract != 1)
    return refuse("its epilogue has a vector along one of several column axes");
  Builder builder(dot.getContext());
  LibraryCallDescription call;
  call.routine = kMatmulRoutine;
  call.sizes = {productOf(l.take_front(batch)), productOf(l.slice(batch, lhsFree)), rhsFree, productOf(l.take_back(contract))};
  call.operands = {lhs, rhs};
  auto flag = [&](StringRef name, bool value) { return builder.getNamedAttr(name, builder.getI64IntegerAttr(value)); };
  SmallVector<NamedAttribute> options = {flag("rhs_batched", batch > 0), flag("transpose_rhs", transpose)};
  describeEpilogue(*epilogue, call, options);
  call.options = builder.getDictionaryAttr(options);
  return call;
}

llvm::Expected<LibraryCallDescription> describeConvolution(graph::ConvolutionOp conv) {
  if (!cast<RankedTensorType>(conv.getType()).getElementType().isF32())
    return refuse("only f32 convolutions are called");
  if (conv.getFilterPacked())
    return refuse("the filter is packed for generated kernels");
  Value input = conv.getInput(), filter = conv.getFilter();
  if (!isOperand(input) || !isOperand(filter))
    return refuse("an operand of the convolution is computed inside the region");
  if (conv.spatialRank() < 1 || conv.spatialRank() > 3)
    return refuse("the convolution has " + Twine(conv.spatialRank()) + " spatial axes, 1 to 3 are supported");
  if (llvm::any_of(conv.getPadLow(), [](int64_t pad) { return pad < 0; }) || llvm::any_of(conv.getPadHigh(), [](int64_t pad) { return pad < 0; }))
    return refuse("negative padding");
  bool channelsLast = conv.getLayout() == graph::TensorLayout::ChannelsLast;
  auto epilogue = epilogueOf(conv);
  if (!epilogue)
    return epilogue.takeError();
  Builder builder(conv.getContext());
  LibraryCallDescription call;
  call.routine = kConvolutionRoutine;
  for (Value value : {input, filter, Value(conv->getResult(0))})
    llvm::append_range(call.sizes, dimsOfValue(value));
  call.operands = {input, filter};
  auto number = [&](StringRef name, int64_t value) { return builder.getNamedAttr(name, builder.getI64IntegerAttr(value)); };
  auto list = [&](StringRef name, ArrayRef<int64_t> values) { return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values)); };
  SmallVector<NamedAttribute> options = {number("channels_last", channelsLast), list("dilations", conv.getDilations()),
                                         number("groups", conv.getGroups()),    list("pad_high", conv.getPadHigh()),
                                         list("pad_low", conv.getPadLow()),     list("strides", conv.getStrides())};
  describeEpilogue(*epilogue, call, options);
  call.options = builder.getDictionaryAttr(options);
  return call;
}

} // namespace

DimExpr plan::operationsOf(LibraryOp call) {
  SmallVector<DimExpr> sizes = call.getSizes().dims();
  ArrayRef<DimExpr> all(sizes);
  if (call.getRoutine() == kMatmulRoutine && all.size() == 4)
    return DimExpr(2) * productOf(all);
  if (call.getRoutine() == kConvolutionRoutine && !all.empty() && all.size() % 3 == 0) {
    size_t rank = all.size() / 3; // Input, filter [O, I / groups, taps], result.
    return DimExpr(2) * productOf(all.slice(rank + 1, rank - 1)) * productOf(all.take_back(rank));
  }
  return DimExpr::invalid("a routine whose operations are not known");
}

llvm::Expected<LibraryCallDescription> plan::describeLibraryCall(graph::FusionOp fusion, StringRef library) {
  if (library != kOneDnn)
    return refuse("no library of that name is known");
  Block &body = fusion->getRegion(0).front();
  for (Operation &op : body) {
    if (auto dot = dyn_cast<graph::DotGeneralOp>(op))
      return describeMatmul(dot);
    if (auto conv = dyn_cast<graph::ConvolutionOp>(op))
      return describeConvolution(conv);
  }
  return refuse("the region holds no contraction");
}
