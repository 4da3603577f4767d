//===- ContractionKernel.cpp - kernels around one contraction --------------===//
//
// Reads a graph.dot_general or graph.convolution into the normal form of its
// emitter. Everything that can be wrong with the form is found here, before
// anything is emitted.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ContractionKernel.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Kernel/AttentionKernel.h"
#include "passes/Kernel/DepthwiseKernel.h"
#include "passes/Kernel/MatmulKernel.h"
#include "passes/Kernel/RecurrentKernel.h"

using namespace mlir;

namespace stator::kernel {

/// Dense row-major strides of a tensor, in elements.
static SmallVector<DimExpr> stridesOf(RankedTensorType type) {
  SmallVector<DimExpr> dims = graph::dimsOf(type), strides(dims.size());
  DimExpr stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride = stride * dims[i])
    strides[i] = stride;
  return strides;
}

/// Axes of a side of a product that are neither batch nor contracted.
static SmallVector<int64_t> freeAxes(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> result;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
      result.push_back(axis);
  return result;
}

static FailureOr<MatmulProblem> matmulProblem(graph::DotGeneralOp op) {
  auto lhsType = cast<RankedTensorType>(op.getLhs().getType()), rhsType = cast<RankedTensorType>(op.getRhs().getType());
  SmallVector<DimExpr> lhsDims = graph::dimsOf(lhsType), lhsStrides = stridesOf(lhsType);
  SmallVector<DimExpr> rhsDims = graph::dimsOf(rhsType), rhsStrides = stridesOf(rhsType);
  if (op.getLhsContract().size() != 1)
    return op.emitOpError() << "contracts " << op.getLhsContract().size() << " axes, but a matmul kernel takes exactly 1";

  MatmulProblem problem;
  problem.type = lhsType.getElementType();
  int64_t contract = op.getLhsContract()[0];
  problem.depth = lhsDims[contract];
  problem.lhsDepthStride = lhsStrides[contract];
  for (auto [left, right] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
    problem.outer.push_back({lhsDims[left], lhsStrides[left], rhsStrides[right]});

  // Neighbouring free axes of the left side are one axis of rows; others before them are walked.
  SmallVector<int64_t> lhsFree = freeAxes(lhsDims.size(), op.getLhsBatch(), op.getLhsContract());
  size_t firstRowAxis = lhsFree.size();
  while (firstRowAxis > 0 && (firstRowAxis == lhsFree.size() ||
                              lhsStrides[lhsFree[firstRowAxis - 1]] == lhsStrides[lhsFree[firstRowAxis]] * lhsDims[lhsFree[firstRowAxis]]))
    --firstRowAxis;
  for (size_t i = 0; i < firstRowAxis; ++i)
    problem.outer.push_back({lhsDims[lhsFree[i]], lhsStrides[lhsFree[i]], 0});
  for (size_t i = firstRowAxis; i < lhsFree.size(); ++i)
    problem.rowDims.push_back(lhsDims[lhsFree[i]]);
  problem.lhsRowStride = lhsFree.empty() ? DimExpr(0) : lhsStrides[lhsFree.back()];

  if (op.getRhsPacked()) {
    problem.isPacked = true;
    problem.columns = *op.getRhsPacked();
    return problem;
  }
  SmallVector<int64_t> rhsFree = freeAxes(rhsDims.size(), op.getRhsBatch(), op.getRhsContract());
  if (rhsFree.size() != 1)
    return op.emitOpError() << "has a right-hand side with " << rhsFree.size() << " free axes, but a matmul kernel takes exactly 1";
  problem.columns = rhsDims[rhsFree[0]];
  problem.rhsColumnStride = rhsStrides[rhsFree[0]];
  problem.rhsDepthStride = rhsStrides[op.getRhsContract()[0]];
  return problem;
}

static FailureOr<ConvolutionProblem> convolutionProblem(graph::ConvolutionOp op) {
  auto inputType = cast<RankedTensorType>(op.getInput().getType()), resultType = cast<RankedTensorType>(op.getType());
  if (op.getLayout() != graph::TensorLayout::ChannelsLast || !op.getFilterPacked())
    return op.emitOpError() << "has " << (op.getFilterPacked() ? "channels first" : "a plain filter")
                            << ", but a convolution kernel takes channels last and a packed filter";
  ConvolutionProblem problem;
  problem.type = inputType.getElementType();
  SmallVector<DimExpr> in = graph::dimsOf(inputType), out = graph::dimsOf(resultType);
  SmallVector<int64_t> filter = op.filterShape();
  problem.batch = in.front();
  problem.groups = op.getGroups();
  problem.channels = filter[1] * problem.groups;
  problem.outputs = filter[0];
  for (size_t i = 0; i + 2 < filter.size(); ++i)
    problem.axes.push_back({in[i + 1], out[i + 1], filter[i + 2], op.getStrides()[i], op.getPadLow()[i], op.getDilations()[i]});
  return problem;
}

/// A convolution with one tap that reads every input pixel once is a matrix product over pixels.
static bool isMatmul(graph::ConvolutionOp op, const ConvolutionProblem &problem) {
  return problem.groups == 1 && problem.totalTaps() == 1 &&
         llvm::all_of(llvm::zip_equal(op.getStrides(), op.getPadLow(), op.getPadHigh()),
                      [](auto axis) { return axis == std::tuple<int64_t, int64_t, int64_t>(1, 0, 0); });
}

static MatmulProblem asMatmul(const ConvolutionProblem &convolution) {
  MatmulProblem problem;
  problem.type = convolution.type;
  problem.rowDims.push_back(convolution.batch);
  for (const ConvolutionAxis &axis : convolution.axes)
    problem.rowDims.push_back(axis.output);
  problem.depth = convolution.channels;
  problem.columns = convolution.outputs;
  problem.lhsRowStride = convolution.channels;
  problem.lhsDepthStride = 1;
  problem.isPacked = true;
  return problem;
}

static FailureOr<AttentionProblem> attentionProblem(graph::AttentionOp op) {
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  SmallVector<DimExpr> query = graph::dimsOf(queryType), key = graph::dimsOf(cast<RankedTensorType>(op.getKey().getType())),
                       value = graph::dimsOf(cast<RankedTensorType>(op.getValue().getType()));
  AttentionProblem problem;
  size_t rank = query.size();
  if (!query[rank - 1].isConstant() || !value[rank - 1].isConstant())
    return op->emitOpError() << "has heads of size " << query[rank - 1].str() << " and " << value[rank - 1].str()
                             << ", but an attention kernel takes constants";
  problem.outer.assign(query.begin(), query.end() - 2);
  problem.queries = query[rank - 2];
  problem.keys = key[rank - 2];
  problem.depth = *query[rank - 1].constant();
  problem.columns = *value[rank - 1].constant();
  problem.scale = op.getScale().convertToDouble();
  problem.isCausal = op.getCausal();
  problem.type = queryType.getElementType();
  if (op.getMask()) {
    auto maskType = cast<RankedTensorType>(op.getMask().getType());
    problem.maskType = maskType.getElementType();
    SmallVector<DimExpr> dims = graph::dimsOf(maskType);
    problem.maskStrides = stridesOf(maskType);
    for (auto [dim, stride] : llvm::zip_equal(dims, problem.maskStrides))
      if (dim.isConstant(1))
        stride = 0;
  }
  return problem;
}

/// Common to the three recurrent ops. The buffer of an operand or result is null where it is absent.
template <typename Op>
static RecurrentProblem recurrentProblem(KernelBuilder &b, Op op, llvm::function_ref<Value(Value)> bufferOf) {
  RecurrentProblem problem;
  auto inputType = cast<RankedTensorType>(op.getInput().getType());
  SmallVector<DimExpr> dims = graph::dimsOf(inputType), result = graph::dimsOf(cast<RankedTensorType>(op.getH().getType()));
  problem.type = inputType.getElementType();
  problem.steps = dims[0];
  problem.batch = dims[1];
  problem.inputs = dims[2];
  problem.hidden = result[2].constant().value_or(0);
  problem.directions = op.directions();
  problem.isReverse = op.getDirection() == graph::RecurrentDirection::Reverse;
  problem.isPacked = op.getWeightsPacked();
  if (op.getSequenceLengths())
    problem.lengthType = getElementTypeOrSelf(op.getSequenceLengths().getType());
  problem.x = bufferOf(op.getInput());
  problem.w = bufferOf(op.getW());
  problem.r = bufferOf(op.getR());
  problem.bias = bufferOf(op.getBias());
  problem.initialH = bufferOf(op.getInitialH());
  problem.lengths = bufferOf(op.getSequenceLengths());
  problem.y = bufferOf(op.getY());
  problem.h = bufferOf(op.getH());
  if constexpr (std::is_same_v<Op, graph::LstmOp>) {
    problem.initialC = bufferOf(op.getInitialC());
    problem.peephole = bufferOf(op.getPeephole());
    problem.c = bufferOf(op.getC());
  } else if constexpr (std::is_same_v<Op, graph::GruOp>) {
    problem.cell = op.getLinearBeforeReset() ? RecurrentCell::GruLinearBeforeReset : RecurrentCell::Gru;
  } else {
    problem.cell = op.getActivation() == graph::RnnActivation::Relu ? RecurrentCell::RnnRelu : RecurrentCell::RnnTanh;
  }
  return problem;
}

/// A recurrent layer alone: the function's results are results of the op.
static FailureOr<func::FuncOp> emitRecurrentLayer(func::FuncOp source, Operation *op, const KernelOptions &options) {
  auto returned = source.getBody().front().getTerminator()->getOperands();
  for (Value value : returned)
    if (value.getDefiningOp() != op)
      return op->emitOpError("stands in a kernel that computes more than its results");
  if (!graph::dimsOf(cast<RankedTensorType>(op->getResult(1).getType()))[2].isConstant())
    return op->emitOpError("has a symbolic number of hidden units, but a recurrent kernel takes a constant one");
  KernelBuilder b(source, options);
  auto bufferOf = [&](Value value) -> Value {
    if (!value)
      return {};
    if (auto argument = dyn_cast<BlockArgument>(value))
      return b.operand(argument.getArgNumber());
    auto found = llvm::find(returned, value);
    return found == returned.end() ? Value() : b.result(found - returned.begin());
  };
  RecurrentProblem problem = TypeSwitch<Operation *, RecurrentProblem>(op).Case<graph::LstmOp, graph::GruOp, graph::RnnOp>(
      [&](auto layer) { return recurrentProblem(b, layer, bufferOf); });
  emitRecurrent(b, problem);
  return b.finish();
}

Operation *contractionOf(func::FuncOp source) {
  Operation *found = nullptr;
  source.walk([&](Operation *op) {
    if (isa<graph::DotGeneralOp, graph::ConvolutionOp, graph::LstmOp, graph::GruOp, graph::RnnOp, graph::AttentionOp>(op))
      found = op;
  });
  return found;
}

FailureOr<func::FuncOp> emitContraction(func::FuncOp source, const KernelOptions &options) {
  Operation *op = contractionOf(source);
  SmallVector<unsigned> arguments;
  for (Value operand : op->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument)
      return op->emitOpError() << "operand #" << arguments.size() << " is not an argument of the kernel function";
    arguments.push_back(argument.getArgNumber());
  }

  if (isa<graph::LstmOp, graph::GruOp, graph::RnnOp>(op))
    return emitRecurrentLayer(source, op, options);

  std::optional<MatmulProblem> matmul;
  std::optional<ConvolutionProblem> convolution;
  std::optional<AttentionProblem> attention;
  if (auto dot = dyn_cast<graph::DotGeneralOp>(op)) {
    FailureOr<MatmulProblem> problem = matmulProblem(dot);
    if (failed(problem))
      return failure();
    matmul = *problem;
  } else if (auto conv = dyn_cast<graph::ConvolutionOp>(op)) {
    FailureOr<ConvolutionProblem> problem = convolutionProblem(conv);
    if (failed(problem))
      return failure();
    if (isMatmul(conv, *problem))
      matmul = asMatmul(*problem);
    else
      convolution = *problem;
  } else {
    FailureOr<AttentionProblem> problem = attentionProblem(cast<graph::AttentionOp>(op));
    if (failed(problem))
      return failure();
    attention = *problem;
  }

  // From here on nothing fails.
  KernelBuilder b(source, options);
  LaneEvaluator evaluator(b, source);
  ContractionEpilogue epilogue(b, evaluator, source, op->getResult(0));
  SmallVector<Value> buffers;
  for (unsigned argument : arguments)
    buffers.push_back(b.operand(argument));
  if (matmul)
    emitMatmul(b, *matmul, buffers[0], buffers[1], epilogue);
  else if (attention)
    emitAttention(b, *attention, buffers[0], buffers[1], buffers[2], buffers.size() > 3 ? buffers[3] : Value(), epilogue);
  else if (cast<RankedTensorType>(op->getOperand(1).getType()).getRank() == 2)
    emitDepthwise(b, *convolution, buffers[0], buffers[1], epilogue);
  else
    emitConvolution(b, *convolution, buffers[0], buffers[1], epilogue);
  return b.finish();
}

} // namespace stator::kernel
