//===- LibraryCalls.cpp - fusion regions as calls of library routines ------===//
//
// A region qualifies when it is one contraction, optionally followed by the
// addition of a bias along the last (or the channel) axis and by relu. What
// else the optimiser might fuse stays with the generated kernels.
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

/// What follows the contraction.
struct Epilogue {
  BlockArgument bias;
  bool relu = false;
};

/// Matches [add of a broadcast argument] [relu] yield after `contraction`; `channelAxis` is the axis of its result that a bias runs along.
llvm::Expected<Epilogue> matchEpilogue(Operation *contraction, int64_t channelAxis) {
  Epilogue epilogue;
  Value value = contraction->getResult(0);
  size_t matched = 1;
  auto onlyUser = [&]() -> Operation * { return value.hasOneUse() ? *value.user_begin() : nullptr; };
  if (auto add = dyn_cast_or_null<graph::AddOp>(onlyUser())) {
    Value other = add.getLhs() == value ? add.getRhs() : add.getLhs();
    auto broadcast = other.getDefiningOp<graph::BroadcastOp>();
    auto argument = broadcast ? dyn_cast<BlockArgument>(broadcast.getInput()) : BlockArgument();
    if (!argument || cast<RankedTensorType>(argument.getType()).getRank() != 1 || broadcast.getDimensions()[0] != channelAxis ||
        dimsOfValue(argument)[0] != dimsOfValue(value)[channelAxis])
      return refuse("the epilogue adds something else than a bias");
    epilogue.bias = argument;
    value = add.getResult();
    matched += 2;
  }
  if (auto relu = dyn_cast_or_null<graph::ReluOp>(onlyUser())) {
    epilogue.relu = true;
    value = relu.getResult();
    ++matched;
  }
  Operation *yield = contraction->getBlock()->getTerminator();
  size_t total = std::distance(contraction->getBlock()->begin(), contraction->getBlock()->end());
  if (yield->getNumOperands() != 1 || yield->getOperand(0) != value || total != matched + 1)
    return refuse("the region holds more than a contraction, a bias and relu");
  return epilogue;
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
  auto lhs = dyn_cast<BlockArgument>(dot.getLhs()), rhs = dyn_cast<BlockArgument>(dot.getRhs());
  if (!lhs || !rhs)
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

  auto epilogue = matchEpilogue(dot, cast<RankedTensorType>(dot.getType()).getRank() - 1);
  if (!epilogue)
    return epilogue.takeError();
  bool transpose = !rhsContractsFirst;
  ArrayRef<DimExpr> l(lhsDims), r(rhsDims);
  DimExpr rhsFree = transpose ? productOf(r.slice(batch, rhsRank - batch - contract)) : productOf(r.drop_front(batch + contract));
  if (epilogue->bias && rhsRank - batch - contract != 1)
    return refuse("a bias along one of several column axes");
  Builder builder(dot.getContext());
  LibraryCallDescription call;
  call.routine = kMatmulRoutine;
  call.sizes = {productOf(l.take_front(batch)), productOf(l.slice(batch, lhsFree)), rhsFree, productOf(l.take_back(contract))};
  call.operands = {lhs.getArgNumber(), rhs.getArgNumber()};
  if (epilogue->bias)
    call.operands.push_back(epilogue->bias.getArgNumber());
  auto flag = [&](StringRef name, bool value) { return builder.getNamedAttr(name, builder.getI64IntegerAttr(value)); };
  call.options = builder.getDictionaryAttr({flag("bias", static_cast<bool>(epilogue->bias)), flag("relu", epilogue->relu),
                                            flag("rhs_batched", batch > 0), flag("transpose_rhs", transpose)});
  return call;
}

llvm::Expected<LibraryCallDescription> describeConvolution(graph::ConvolutionOp conv) {
  if (!cast<RankedTensorType>(conv.getType()).getElementType().isF32())
    return refuse("only f32 convolutions are called");
  if (conv.getFilterPacked())
    return refuse("the filter is packed for generated kernels");
  auto input = dyn_cast<BlockArgument>(conv.getInput()), filter = dyn_cast<BlockArgument>(conv.getFilter());
  if (!input || !filter)
    return refuse("an operand of the convolution is computed inside the region");
  if (conv.spatialRank() < 1 || conv.spatialRank() > 3)
    return refuse("the convolution has " + Twine(conv.spatialRank()) + " spatial axes, 1 to 3 are supported");
  if (llvm::any_of(conv.getPadLow(), [](int64_t pad) { return pad < 0; }) || llvm::any_of(conv.getPadHigh(), [](int64_t pad) { return pad < 0; }))
    return refuse("negative padding");
  bool channelsLast = conv.getLayout() == graph::TensorLayout::ChannelsLast;
  auto epilogue = matchEpilogue(conv, channelsLast ? conv.spatialRank() + 1 : 1);
  if (!epilogue)
    return epilogue.takeError();
  Builder builder(conv.getContext());
  LibraryCallDescription call;
  call.routine = kConvolutionRoutine;
  for (Value value : {Value(input), Value(filter), Value(conv->getResult(0))})
    llvm::append_range(call.sizes, dimsOfValue(value));
  call.operands = {input.getArgNumber(), filter.getArgNumber()};
  if (epilogue->bias)
    call.operands.push_back(epilogue->bias.getArgNumber());
  auto number = [&](StringRef name, int64_t value) { return builder.getNamedAttr(name, builder.getI64IntegerAttr(value)); };
  auto list = [&](StringRef name, ArrayRef<int64_t> values) { return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values)); };
  call.options = builder.getDictionaryAttr({number("bias", static_cast<bool>(epilogue->bias)), number("channels_last", channelsLast),
                                            list("dilations", conv.getDilations()), number("groups", conv.getGroups()),
                                            list("pad_high", conv.getPadHigh()), list("pad_low", conv.getPadLow()),
                                            number("relu", epilogue->relu), list("strides", conv.getStrides())});
  return call;
}

} // namespace

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
