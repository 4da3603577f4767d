//===- LibraryEpilogue.cpp - what a library does to a contraction's result -===//
//
// A chain: each operation reads the result of the one before and nothing else
// does. A vector along the channels that is added first is the bias, which
// libraries apply to the accumulators; everything later is a post-op.
//
//===----------------------------------------------------------------------===//

#include "dialects/Plan/LibraryCalls.h"
#include "dialects/Graph/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LibraryEpilogue::LibraryEpilogue(Operation *contraction) : current(contraction->getResult(0)) {
  auto conv = dyn_cast<graph::ConvolutionOp>(contraction);
  bool isChannelsFirst = conv && conv.getLayout() == graph::TensorLayout::ChannelsFirst;
  channelAxis = isChannelsFirst ? 1 : typeOf(current).getRank() - 1;
}

void LibraryEpilogue::append(PostOp kind, PostOpExtent extent) {
  words.append({static_cast<int64_t>(kind), static_cast<int64_t>(extent), 0, 0});
}

bool LibraryEpilogue::admitBinary(PostOp kind, Value other) {
  auto broadcast = other.getDefiningOp<graph::BroadcastOp>();
  if (!broadcast) {
    // A full operand that is one number in the IR would have to be written out.
    if (other.getDefiningOp<graph::ConstantOp>())
      return false;
    append(kind, PostOpExtent::Full);
    operands.push_back(other);
    return true;
  }
  Value source = broadcast.getInput();
  bool isVector = typeOf(source).getRank() == 1 && broadcast.getDimensions()[0] == channelAxis &&
                  graph::dimOf(typeOf(source), 0) == graph::dimOf(typeOf(current), channelAxis);
  if (!isVector && typeOf(source).getRank() != 0)
    return false;
  if (isVector && kind == PostOp::Add && !biasVector && !hasRelu && words.empty()) {
    biasVector = source;
    return true;
  }
  append(kind, isVector ? PostOpExtent::PerChannel : PostOpExtent::Scalar);
  operands.push_back(source);
  return true;
}

bool LibraryEpilogue::admit(Operation *op) {
  if (!current.hasOneUse() || *current.user_begin() != op || op->getNumResults() != 1 || op->getResult(0).getType() != current.getType() ||
      !typeOf(current).getElementType().isF32())
    return false;
  auto otherOperand = [&] { return op->getOperand(0) == current ? op->getOperand(1) : op->getOperand(0); };
  auto take = [&](PostOp kind) { return append(kind), true; };
  bool taken = llvm::TypeSwitch<Operation *, bool>(op)
                   .Case<graph::ReluOp>([&](auto) { return words.empty() && !hasRelu ? hasRelu = true : take(PostOp::Relu); })
                   .Case<graph::SigmoidOp>([&](auto) { return take(PostOp::Sigmoid); })
                   .Case<graph::TanhOp>([&](auto) { return take(PostOp::Tanh); })
                   .Case<graph::GeluOp>([&](graph::GeluOp gelu) {
                     bool isTanh = gelu.getApproximate() == graph::GeluApproximation::Tanh;
                     return take(isTanh ? PostOp::GeluTanh : PostOp::GeluErf);
                   })
                   .Case<graph::AddOp>([&](auto) { return admitBinary(PostOp::Add, otherOperand()); })
                   .Case<graph::MulOp>([&](auto) { return admitBinary(PostOp::Mul, otherOperand()); })
                   .Default(false);
  if (taken)
    current = op->getResult(0);
  return taken;
}
