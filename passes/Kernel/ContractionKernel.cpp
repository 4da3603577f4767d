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
#include "passes/Kernel/FusedBlockKernel.h"
#include "passes/Kernel/GateKernel.h"
#include "passes/Kernel/MatmulKernel.h"
#include "passes/Kernel/PoolKernel.h"
#include "passes/Kernel/RecurrentKernel.h"
#include "passes/Kernel/StrassenKernel.h"
#include "passes/Kernel/WinogradKernel.h"

using namespace mlir;

namespace stator::kernel {

/// Dense row-major strides of a tensor, in elements.
static SmallVector<DimExpr> stridesOf(RankedTensorType type) { return graph::stridesOf(graph::dimsOf(type)); }

/// The pitch with which an operand of the contraction, an argument of the kernel, lies in memory.
static std::optional<graph::Pitch> pitchOf(Value operand) {
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument) // Inside of a fused block.
    return std::nullopt;
  return graph::pitchOfBuffer(cast<func::FuncOp>(argument.getOwner()->getParentOp()), argument.getArgNumber());
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
  SmallVector<DimExpr> lhsDims = graph::dimsOf(lhsType), lhsStrides = graph::stridesOf(lhsDims, pitchOf(op.getLhs()));
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
    problem.isStrassen = op.getRhsBatch().empty() && rhsType.getRank() == 4;
    problem.columns = *op.getRhsPacked();
    if (problem.isStrassen && !(problem.outer.empty() && problem.rows().isConstant() && problem.lhsDepthStride.isConstant(1)))
      return op.emitOpError("has weights for Strassen's algorithm, but rows that are of unknown number or lie apart");
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
  std::optional<graph::Pitch> pitch = pitchOf(op.getInput());
  problem.pixelStride = pitch ? pitch->distance : problem.channels;
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
  problem.lhsRowStride = convolution.pixelStride;
  problem.lhsDepthStride = 1;
  problem.isPacked = true;
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
    if (auto pool = dyn_cast<graph::PoolOp>(op); pool && isPoolKernel(pool))
      found = op;
  });
  return found;
}

/// Several convolutions in one function: a block with a depthwise one in the middle, or a gate without.
static FailureOr<func::FuncOp> emitBlock(func::FuncOp source, MutableArrayRef<graph::ConvolutionOp> convolutions, const KernelOptions &options) {
  auto isDepthwise = [](graph::ConvolutionOp op) { return cast<RankedTensorType>(op.getFilter().getType()).getRank() == 2; };
  size_t middle = 0;
  while (middle < convolutions.size() && !isDepthwise(convolutions[middle]))
    ++middle;
  const bool isGate = middle == 2 && convolutions.size() == 2;
  if (!isGate && (middle == convolutions.size() || middle > 1 || convolutions.size() - middle > 2))
    return convolutions.front().emitOpError() << "is one of " << convolutions.size() << " convolutions that make no block";
  SmallVector<BlockStage> stages;
  for (auto [i, op] : llvm::enumerate(convolutions)) {
    FailureOr<ConvolutionProblem> problem = convolutionProblem(op);
    if (failed(problem))
      return failure();
    if (!isDepthwise(op) && !isMatmul(op, *problem))
      return op.emitOpError("is in a block, but neither depthwise nor a product over pixels");
    bool isLast = i + 1 == convolutions.size();
    Value value = isLast ? source.getBody().front().getTerminator()->getOperand(0) : convolutions[i + 1].getInput();
    stages.push_back({op.getResult(), value, *problem, {}});
  }
  KernelBuilder b(source, options);
  LaneEvaluator evaluator(b, source);
  for (auto [stage, op] : llvm::zip_equal(stages, convolutions))
    stage.filter = b.operand(cast<BlockArgument>(op.getFilter()).getArgNumber());
  if (isGate) {
    emitGate(b, evaluator, convolutions.front().getInput(), stages[0], stages[1]);
    return b.finish();
  }
  BlockProblem block;
  block.input = b.operand(cast<BlockArgument>(convolutions.front().getInput()).getArgNumber());
  block.depthwise = stages[middle];
  if (middle == 1)
    block.expand = stages[0];
  if (middle + 1 < stages.size())
    block.project = stages[middle + 1];
  emitFusedBlock(b, evaluator, block);
  return b.finish();
}

FailureOr<func::FuncOp> emitContraction(func::FuncOp source, const KernelOptions &options) {
  SmallVector<graph::ConvolutionOp> convolutions = llvm::to_vector(source.getOps<graph::ConvolutionOp>());
  if (convolutions.size() > 1)
    return emitBlock(source, convolutions, options);
  Operation *op = contractionOf(source);
  if (auto attention = dyn_cast<graph::AttentionOp>(op))
    return emitAttentionKernel(source, attention, options);
  SmallVector<unsigned> arguments;
  for (Value operand : op->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument)
      return op->emitOpError() << "operand #" << arguments.size() << " is not an argument of the kernel function";
    arguments.push_back(argument.getArgNumber());
  }

  if (isa<graph::LstmOp, graph::GruOp, graph::RnnOp>(op))
    return emitRecurrentLayer(source, op, options);

  if (auto pool = dyn_cast<graph::PoolOp>(op)) {
    KernelBuilder b(source, options);
    LaneEvaluator evaluator(b, source);
    ContractionEpilogue epilogue(b, evaluator, source, pool.getResult());
    emitPool(b, pool, b.operand(arguments[0]), epilogue);
    return b.finish();
  }

  std::optional<MatmulProblem> matmul;
  std::optional<ConvolutionProblem> convolution;
  unsigned winogradTile = 0;
  if (auto dot = dyn_cast<graph::DotGeneralOp>(op)) {
    FailureOr<MatmulProblem> problem = matmulProblem(dot);
    if (failed(problem))
      return failure();
    matmul = *problem;
  } else {
    auto conv = cast<graph::ConvolutionOp>(op);
    FailureOr<ConvolutionProblem> problem = convolutionProblem(conv);
    if (failed(problem))
      return failure();
    winogradTile = conv.getWinograd().value_or(0);
    if (isMatmul(conv, *problem))
      matmul = asMatmul(*problem);
    else
      convolution = *problem;
  }

  // From here on nothing fails.
  KernelBuilder b(source, options);
  LaneEvaluator evaluator(b, source);
  ContractionEpilogue epilogue(b, evaluator, source, op->getResult(0));
  SmallVector<Value> buffers;
  for (unsigned argument : arguments)
    buffers.push_back(b.operand(argument));
  if (matmul && matmul->isStrassen)
    emitStrassen(b, *matmul, buffers[0], buffers[1], epilogue);
  else if (matmul)
    emitMatmul(b, *matmul, buffers[0], buffers[1], epilogue);
  else if (winogradTile)
    emitWinograd(b, *convolution, winogradTile, buffers[0], buffers[1], epilogue);
  else if (cast<RankedTensorType>(op->getOperand(1).getType()).getRank() == 2)
    emitDepthwise(b, *convolution, buffers[0], buffers[1], epilogue);
  else
    emitConvolution(b, *convolution, buffers[0], buffers[1], epilogue);
  return b.finish();
}

} // namespace stator::kernel
