//===- FusionFamilies.cpp - which kernel family an op belongs to -----------===//

#include "passes/Optimise/FusionFamilies.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/PitchedAccess.h"
#include "dialects/Plan/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::optimise {

static constexpr StringLiteral kernelAttr = "optimise.kernel";
static constexpr StringLiteral reasonAttr = "optimise.reason";
static constexpr StringLiteral noteAttr = "optimise.algorithm";

bool isContraction(Operation *op) { return isa<graph::DotGeneralOp, graph::ConvolutionOp>(op); }

bool isDepthwise(graph::ConvolutionOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  int64_t channelAxis = op.getLayout() == graph::TensorLayout::ChannelsLast ? input.getRank() - 1 : 1;
  int64_t groups = op.getGroups();
  return groups > 1 && input.getDimSize(channelAxis) == groups && result.getDimSize(channelAxis) == groups;
}

static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) { return llvm::to_vector(llvm::seq<int64_t>(first, rank)); }

SmallVector<int64_t> rowAxes(Operation *op) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  return llvm::TypeSwitch<Operation *, SmallVector<int64_t>>(op)
      .Case<graph::ReduceOp>([](auto reduce) { return SmallVector<int64_t>(reduce.getAxes()); })
      .Case<graph::SoftmaxOp, graph::LogSoftmaxOp>([](auto softmax) { return SmallVector<int64_t>{int64_t(softmax.getAxis())}; })
      .Case<graph::LayerNormOp, graph::RmsNormOp>([&](auto norm) { return axesFrom(norm.getAxis(), rank); })
      .Default([](Operation *) { return SmallVector<int64_t>(); });
}

bool isRowAnchor(Operation *op) {
  if (!isa<graph::ReduceOp, graph::SoftmaxOp, graph::LogSoftmaxOp, graph::LayerNormOp, graph::RmsNormOp>(op))
    return false;
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  SmallVector<int64_t> axes = rowAxes(op);
  return !axes.empty() && axes == axesFrom(rank - int64_t(axes.size()), rank);
}

StringRef familyOf(Operation *op) {
  if (op->hasTrait<graph::Elementwise>())
    return "map";
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<graph::DotGeneralOp>([](auto) { return "matmul"; })
      .Case<graph::ConvolutionOp>([](auto convolution) { return isDepthwise(convolution) ? "depthwise" : "conv"; })
      .Case<graph::ReduceOp, graph::ArgReduceOp>([](auto) { return "reduce"; })
      .Case<graph::SoftmaxOp, graph::LogSoftmaxOp, graph::LayerNormOp, graph::RmsNormOp>([](auto) { return "rows"; })
      .Case<graph::PoolOp>([](auto) { return "pool"; })
      .Case<graph::CumulativeOp>([](auto) { return "scan"; })
      .Case<graph::TopKOp>([](auto) { return "sort"; })
      .Case<graph::LstmOp, graph::GruOp, graph::RnnOp>([](auto) { return "recurrent"; })
      .Case<graph::AttentionOp>([](auto) { return "attention"; })
      .Case<graph::BroadcastOp, graph::IotaOp>([](auto) { return "map"; })
      .Default([](Operation *) { return "data"; });
}

bool runsWithoutKernel(Operation *op) {
  if (op->hasAttr(plan::kPitchedAttrName))
    return true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<graph::FusionOp, graph::GetParameterOp, graph::SetParameterOp, graph::ConstantOp, graph::DimValuesOp, graph::ReshapeOp>([](auto) { return true; })
      .Case<graph::SliceOp>([](auto slice) { return plan::isContiguousSlice(slice); })
      .Case<graph::ConcatOp>([](auto concat) { return plan::isContiguousConcat(concat); })
      .Default([](Operation *other) { return other->getNumRegions() != 0 || other->hasTrait<OpTrait::IsTerminator>(); });
}

void setKernelChoice(Operation *op, StringRef kernel, StringRef reason) {
  op->setDiscardableAttr(kernelAttr, StringAttr::get(op->getContext(), kernel));
  op->setDiscardableAttr(reasonAttr, StringAttr::get(op->getContext(), reason));
}

bool hasKernelChoice(Operation *op) { return op->hasAttr(kernelAttr); }

void setAlgorithmNote(Operation *op, StringRef note) { op->setDiscardableAttr(noteAttr, StringAttr::get(op->getContext(), note)); }

StringRef chosenKernel(Operation *op) {
  auto kernel = op->getDiscardableAttrDictionary().getAs<StringAttr>(kernelAttr);
  return kernel ? kernel.getValue() : "own";
}

KernelChoice takeKernelChoice(Operation *op) {
  KernelChoice choice;
  choice.kernel = chosenKernel(op);
  if (auto reason = dyn_cast_or_null<StringAttr>(op->removeDiscardableAttr(reasonAttr)))
    choice.reason = reason.getValue();
  if (auto note = dyn_cast_or_null<StringAttr>(op->removeDiscardableAttr(noteAttr)); note && choice.kernel == "own")
    choice.reason += (choice.reason.empty() ? "" : "; ") + note.getValue().str();
  op->removeDiscardableAttr(kernelAttr);
  return choice;
}

} // namespace stator::optimise
