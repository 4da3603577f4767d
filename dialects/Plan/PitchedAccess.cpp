//===- PitchedAccess.cpp - who can work with rows that lie apart -----------===//
//
// A list of what is known to work, not of what is not: an operation or an
// algorithm that nobody has added here gets dense operands.
//
//===----------------------------------------------------------------------===//

#include "dialects/Plan/PitchedAccess.h"
#include "dialects/Graph/Shapes.h"

using namespace mlir;
using namespace stator;

/// Shorter rows are copied: addressing them would cost more than it saves, and vectors would straddle them.
static constexpr int64_t kShortestRowBytes = 32;

/// Elements of the axes from `axis` on, if they are known.
static std::optional<int64_t> rowOf(RankedTensorType type, int64_t axis) {
  DimExpr size = 1;
  SmallVector<DimExpr> dims = graph::dimsOf(type);
  for (const DimExpr &dim : ArrayRef<DimExpr>(dims).drop_front(axis))
    size = size * dim;
  return size.constant();
}

static bool isLongEnough(std::optional<int64_t> row, Type element) {
  return row && *row * static_cast<int64_t>(byteSize(graph::elementTypeOf(element))) >= kShortestRowBytes;
}

bool plan::mayBePitched(graph::ConcatOp concat) {
  int64_t axis = concat.getAxis();
  return llvm::all_of(concat.getInputs(), [&](Value input) {
    auto type = cast<RankedTensorType>(input.getType());
    return axis > 0 && isLongEnough(rowOf(type, axis), type.getElementType());
  });
}

std::optional<int64_t> plan::cutAxis(graph::SliceOp slice) {
  SmallVector<DimExpr> input = graph::dimsOf(cast<RankedTensorType>(slice.getInput().getType())),
                       result = graph::dimsOf(cast<RankedTensorType>(slice.getType()));
  std::optional<int64_t> cut;
  for (int64_t axis = 0, rank = input.size(); axis < rank; ++axis) {
    if (!slice.getStrides().empty() && slice.getStrides()[axis] != 1)
      return std::nullopt;
    if (input[axis] == result[axis])
      continue;
    if (cut)
      return std::nullopt;
    cut = axis;
  }
  return cut;
}

bool plan::mayBePitched(graph::SliceOp slice) {
  std::optional<int64_t> cut = cutAxis(slice);
  auto type = cast<RankedTensorType>(slice.getType());
  return cut && *cut > 0 && slice.getStarts().dim(*cut).isConstant() && isLongEnough(rowOf(type, *cut), type.getElementType()) &&
         pitchOfPart(type, cast<RankedTensorType>(slice.getInput().getType()), *cut);
}

std::optional<graph::Pitch> plan::pitchOfPart(RankedTensorType part, RankedTensorType whole, int64_t axis) {
  std::optional<int64_t> row = rowOf(part, axis), distance = rowOf(whole, axis);
  return row && distance ? std::optional(graph::Pitch{*row, *distance}) : std::nullopt;
}

/// Kernels whose every access of a buffer goes through the evaluator of lanes, or through strides of a contraction's operand.
static bool isKnown(Operation &op) {
  if (op.hasTrait<graph::Elementwise>() || op.hasTrait<OpTrait::IsTerminator>())
    return true;
  if (auto convolution = dyn_cast<graph::ConvolutionOp>(op))
    return convolution.getFilterPacked();
  return isa<graph::ConstantOp, graph::BroadcastOp, graph::PoolOp, graph::ResizeOp, graph::ReduceOp, graph::SoftmaxOp, graph::LayerNormOp,
             graph::RmsNormOp, graph::SliceOp, graph::TransposeOp, graph::DotGeneralOp>(op);
}

static bool isKnownKernel(Block &body) {
  // Blocks of several convolutions keep what is between them in places of their own.
  if (llvm::count_if(body, [](Operation &op) { return isa<graph::ConvolutionOp, graph::DotGeneralOp>(op); }) > 1)
    return false;
  if (llvm::all_of(body, isKnown))
    return true;
  // A kernel of its own that copies rows.
  return llvm::all_of(body, [](Operation &op) { return isa<graph::ConcatOp>(op) || op.hasTrait<OpTrait::IsTerminator>(); });
}

bool plan::mayReadPitched(Block &body, unsigned argument, const graph::Pitch &pitch) {
  if (!isKnownKernel(body))
    return false;
  auto type = cast<RankedTensorType>(body.getArgument(argument).getType());
  return llvm::all_of(body.getArgument(argument).getUses(), [&](OpOperand &use) {
    // The other operand of a contraction is packed, or read in ways of its own.
    if (isa<graph::DotGeneralOp>(use.getOwner()))
      return use.getOperandNumber() == 0;
    if (isa<graph::ConvolutionOp>(use.getOwner()))
      return use.getOperandNumber() == 0 && rowOf(type, type.getRank() - 1) == pitch.row;
    if (auto concat = dyn_cast<graph::ConcatOp>(use.getOwner()))
      return rowOf(type, concat.getAxis()) == pitch.row;
    return true;
  });
}

bool plan::mayWritePitched(Block &body, unsigned result) {
  Value value = body.getTerminator()->getOperand(result);
  return isKnownKernel(body) && !isa_and_nonnull<graph::ConcatOp>(value.getDefiningOp());
}
