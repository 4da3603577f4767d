//===- PhaseConvolutions.cpp - transposed convolutions without zeros -------===//
//
// Front-ends write a transposed convolution of stride s as an ordinary one over
// the input with s - 1 zeros between its pixels. Most products are then with
// zeros. But which taps meet pixels depends only on the output position modulo
// s: each of the s phases of an axis is a convolution of the input itself with
// every s-th tap, at a fraction of the work. The phases are interleaved at the
// end, by concatenations whose parts need no copies along the width.
//
// What is computed on the result channel by channel (bias, activation) is
// computed on the phases, in the epilogues of their kernels.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Optimise/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_PHASECONVOLUTIONSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

/// More phases than this would be more kernels than they are worth.
static constexpr int64_t maxPhases = 16;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isZero(Value value) {
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.isSplat() && isa<FloatType>(elements.getElementType()) && elements.getSplatValue<APFloat>().isZero();
}

/// One spatial axis of the transposed convolution.
struct Axis {
  int64_t stride = 1, taps = 0, low = 0; // zeros between pixels + 1; before the first pixel
  int64_t rest = 0;                      // output size - stride * input size
  DimExpr input;

  int64_t firstTap(int64_t phase) const { return ((low - phase) % stride + stride) % stride; }
  int64_t tapsOf(int64_t phase) const { return (taps - firstTap(phase) + stride - 1) / stride; }
  int64_t padLow(int64_t phase) const { return (low - phase - firstTap(phase)) / stride; }
  /// Output positions of a phase beyond the input's; the same for all, so that they interleave.
  int64_t extra() const { return rest > 0 ? (rest + stride - 1) / stride : -(-rest / stride); }
  int64_t padHigh(int64_t phase) const { return extra() - padLow(phase) + tapsOf(phase) - 1; }
};

class Phases {
public:
  Phases(graph::ConvolutionOp op, graph::DerivedParameters &parameters) : op(op), parameters(parameters), b(op) {}

  bool match();
  void rewrite();

private:
  Value build(unsigned axis, SmallVector<int64_t> phases);
  Value phase(ArrayRef<int64_t> phases);
  void collectEpilogue();
  /// The operand of an epilogue op on a phase whose result has `dims`; null if it is not the same for every pixel.
  Value epilogueOperand(Value operand, ArrayRef<DimExpr> dims);

  graph::ConvolutionOp op;
  graph::DerivedParameters &parameters;
  OpBuilder b;
  Value input; // channels last, without zeros
  graph::PadOp pad;
  SmallVector<int64_t> permutation; // of a transpose between the padding and the convolution
  graph::ParameterOp filter;
  SmallVector<Axis> axes;
  SmallVector<Operation *> epilogue;
};

bool Phases::match() {
  Value from = op.getInput();
  if (auto transpose = from.getDefiningOp<graph::TransposeOp>()) {
    permutation.assign(transpose.getPermutation().begin(), transpose.getPermutation().end());
    from = transpose.getInput();
  }
  pad = from.getDefiningOp<graph::PadOp>();
  auto isAll = [](ArrayRef<int64_t> values, int64_t wanted) { return llvm::all_of(values, [&](int64_t v) { return v == wanted; }); };
  if (!pad || op.getLayout() != graph::TensorLayout::ChannelsLast || op.getFilterPacked() || pad.getMode() != graph::PadMode::Constant ||
      !isZero(pad.getValue()) || pad.getInterior().empty() || isAll(pad.getInterior(), 0) || !isAll(op.getStrides(), 1) ||
      !isAll(op.getDilations(), 1))
    return false;
  int64_t rank = typeOf(op.getResult()).getRank();
  if (permutation.empty())
    permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<DimExpr> in = graph::dimsOf(typeOf(pad.getInput())), out = graph::dimsOf(typeOf(op.getResult()));
  SmallVector<int64_t> shape = op.filterShape();
  int64_t phases = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t from = permutation[axis];
    DimExpr low = pad.getLow().dim(from), high = pad.getHigh().dim(from);
    if (axis == 0 || axis + 1 == rank) {
      if (!low.isConstant(0) || !high.isConstant(0) || pad.getInterior()[from] != 0)
        return false;
      continue;
    }
    Axis a;
    a.stride = pad.getInterior()[from] + 1;
    a.taps = shape[axis + 1];
    a.input = in[from];
    std::optional<int64_t> before = low.constant(), rest = (out[axis] - a.input * DimExpr(a.stride)).constant();
    if (!before || !rest || a.taps < a.stride)
      return false;
    a.low = *before + op.getPadLow()[axis - 1];
    a.rest = *rest;
    phases *= a.stride;
    axes.push_back(a);
  }
  filter = phases <= maxPhases ? parameters.frozenOrConstant(op.getFilter()) : graph::ParameterOp();
  return filter != nullptr;
}

Value Phases::epilogueOperand(Value operand, ArrayRef<DimExpr> dims) {
  RankedTensorType type = graph::tensorType(dims, typeOf(operand).getElementType());
  if (auto broadcast = operand.getDefiningOp<graph::BroadcastOp>()) {
    // Along channels, or a single number.
    for (auto [dim, axis] : llvm::zip_equal(graph::dimsOf(typeOf(broadcast.getInput())), broadcast.getDimensions()))
      if (axis + 1 != static_cast<int64_t>(dims.size()) && !dim.isConstant(1))
        return nullptr;
    return graph::BroadcastOp::create(b, op.getLoc(), type, broadcast.getInput(), broadcast.getDimensions()).getResult();
  }
  auto constant = operand.getDefiningOp<graph::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat() || !type.hasStaticShape())
    return nullptr;
  return graph::ConstantOp::create(b, op.getLoc(), elements.resizeSplat(type)).getResult();
}

void Phases::collectEpilogue() {
  Value value = op.getResult();
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(value));
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (!user->hasTrait<graph::Elementwise>() || user->getNumResults() != 1 || user->getBlock() != op->getBlock())
      return;
    for (Value operand : user->getOperands()) {
      if (operand == value)
        continue;
      auto broadcast = operand.getDefiningOp<graph::BroadcastOp>();
      // What is broadcast must exist where the phases are.
      if (broadcast && broadcast.getInput().getDefiningOp() && !broadcast.getInput().getDefiningOp<graph::GetParameterOp>() &&
          !broadcast.getInput().getDefiningOp<graph::ConstantOp>())
        return;
      OpBuilder::InsertionGuard guard(b);
      Value moved = epilogueOperand(operand, dims);
      if (!moved)
        return;
      moved.getDefiningOp()->erase();
    }
    epilogue.push_back(user);
    value = user->getResult(0);
  }
}

Value Phases::phase(ArrayRef<int64_t> phases) {
  SmallVector<int64_t> starts{0, 0}, steps{1, 1}, sizes(op.filterShape()), low, high, ones(axes.size(), 1);
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(op.getResult()));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    starts.push_back(axis.firstTap(phases[i]));
    steps.push_back(axis.stride);
    sizes[2 + i] = axis.tapsOf(phases[i]);
    low.push_back(axis.padLow(phases[i]));
    high.push_back(axis.padHigh(phases[i]));
    dims[1 + i] = axis.input + DimExpr(axis.extra());
  }
  SmallVector<NamedAttribute> options{b.getNamedAttr("sizes", b.getDenseI64ArrayAttr(sizes)),
                                      b.getNamedAttr("starts", b.getDenseI64ArrayAttr(starts)),
                                      b.getNamedAttr("strides", b.getDenseI64ArrayAttr(steps))};
  auto type = RankedTensorType::get(sizes, filter.tensorType().getElementType());
  Value taps = graph::DerivedParameters::read(parameters.derive(filter, "slice", options, type), op);
  Operation *clone = b.clone(*op);
  auto convolution = cast<graph::ConvolutionOp>(clone);
  convolution->setOperand(0, input);
  convolution->setOperand(1, taps);
  convolution.setPadLow(low);
  convolution.setPadHigh(high);
  convolution.setStrides(ones);
  convolution.getResult().setType(graph::tensorType(dims, typeOf(op.getResult()).getElementType()));

  Value value = convolution.getResult(), original = op.getResult();
  for (Operation *user : epilogue) {
    OperationState state(user->getLoc(), user->getName());
    for (Value operand : user->getOperands())
      state.addOperands(operand == original ? value : epilogueOperand(operand, dims));
    state.addAttributes(user->getAttrs());
    state.addTypes(graph::tensorType(dims, typeOf(user->getResult(0)).getElementType()));
    original = user->getResult(0);
    value = b.create(state)->getResult(0);
  }
  return value;
}

Value Phases::build(unsigned axis, SmallVector<int64_t> phases) {
  if (axis == axes.size())
    return phase(phases);
  SmallVector<Value> parts;
  Location loc = op.getLoc();
  auto reshaped = [&](Value value, ArrayRef<DimExpr> dims) -> Value {
    return graph::ReshapeOp::create(b, loc, graph::tensorType(dims, typeOf(value).getElementType()), value).getResult();
  };
  phases.push_back(0);
  for (phases.back() = 0; phases.back() < axes[axis].stride; ++phases.back())
    parts.push_back(build(axis + 1, phases));
  if (parts.size() == 1)
    return parts.front();
  // [.., size, ..] as [.., size, 1, ..], joined to [.., size, stride, ..].
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(parts.front())), apart = dims;
  apart.insert(apart.begin() + 2 + axis, DimExpr(1));
  for (Value &part : parts)
    part = reshaped(part, apart);
  Value joined = graph::ConcatOp::create(b, loc, parts, 2 + axis).getResult();
  dims[1 + axis] = dims[1 + axis] * DimExpr(axes[axis].stride);
  Value result = reshaped(joined, dims);
  DimExpr wanted = axes[axis].input * DimExpr(axes[axis].stride) + DimExpr(axes[axis].rest);
  if (dims[1 + axis] == wanted)
    return result;
  SmallVector<DimExpr> starts(dims.size(), DimExpr(0));
  dims[1 + axis] = wanted;
  return graph::SliceOp::create(b, loc, graph::tensorType(dims, typeOf(result).getElementType()), result,
                                graph::DimsAttr::get(b.getContext(), ArrayRef<DimExpr>(starts)),
                                b.getDenseI64ArrayAttr(SmallVector<int64_t>(dims.size(), 1)))
      .getResult();
}

void Phases::rewrite() {
  collectEpilogue();
  input = pad.getInput();
  if (!llvm::is_sorted(permutation))
    input = graph::TransposeOp::create(b, op.getLoc(), input, permutation).getResult();
  Value result = build(0, {});
  Operation *last = epilogue.empty() ? op.getOperation() : epilogue.back();
  last->getResult(0).replaceAllUsesWith(result);
  for (Operation *user : llvm::reverse(epilogue))
    user->erase();
  op.erase();
}

struct PhaseConvolutionsPass : impl::PhaseConvolutionsPassBase<PhaseConvolutionsPass> {
  using PhaseConvolutionsPassBase::PhaseConvolutionsPassBase;

  void runOnOperation() override {
    graph::DerivedParameters parameters(getOperation());
    SmallVector<graph::ConvolutionOp> convolutions;
    getOperation().walk([&](graph::ConvolutionOp op) { convolutions.push_back(op); });
    for (graph::ConvolutionOp op : convolutions)
      if (Phases phases(op, parameters); phases.match())
        phases.rewrite();
  }
};

} // namespace
} // namespace stator::optimise
