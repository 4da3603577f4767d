// Contractions. Packed right-hand sides are unpacked first: packing is a matter of storage and means nothing here.
#include "dialects/Graph/Interpreter/Unpack.h"
#include "dialects/Graph/Interpreter/Windows.h"

using namespace mlir;

namespace stator::graph {

/// The elements of `tensor` with its axes in this order, flat.
template <typename T>
static std::vector<T> permuted(const TensorValue &tensor, ArrayRef<int64_t> order) {
  SmallVector<int64_t> strides = rowMajorStrides(tensor.shape), shape, permutedStrides;
  for (int64_t axis : order) {
    shape.push_back(tensor.shape[axis]);
    permutedStrides.push_back(strides[axis]);
  }
  std::vector<T> values(tensor.count());
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t position) {
    int64_t from = positionOf(index, permutedStrides);
    if constexpr (std::is_same_v<T, double>)
      values[position] = tensor.real(from);
    else
      values[position] = uint64_t(tensor.integer(from));
  });
  return values;
}

/// Batch axes first, then free ones, then contracted ones.
static SmallVector<int64_t> contractionOrder(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> order(batch);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
      order.push_back(axis);
  llvm::append_range(order, contract);
  return order;
}

static int64_t sizeOver(const TensorValue &tensor, ArrayRef<int64_t> axes) {
  int64_t size = 1;
  for (int64_t axis : axes)
    size *= tensor.shape[axis];
  return size;
}

/// `[B, M, K] x [B, N, K] -> [B, M, N]`, in double, or in integers that wrap.
template <typename T>
static std::vector<T> multiply(const std::vector<T> &lhs, const std::vector<T> &rhs, int64_t batches, int64_t rows, int64_t columns,
                               int64_t depth) {
  std::vector<T> result(batches * rows * columns);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < columns; ++n) {
        T sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += lhs[(b * rows + m) * depth + k] * rhs[(b * columns + n) * depth + k];
        result[(b * rows + m) * columns + n] = sum;
      }
  return result;
}

static LogicalResult dotGeneral(DotGeneralOp op, OpCall &call) {
  TensorValue unpacked;
  if (op.getRhsPacked())
    unpacked = unpackMatmul(call.in(1), *op.getRhsPacked());
  const TensorValue &lhs = call.in(0), &rhs = op.getRhsPacked() ? unpacked : call.in(1);
  if (call.out().count() == 0)
    return success();
  int64_t batches = sizeOver(lhs, op.getLhsBatch()), depth = sizeOver(lhs, op.getLhsContract());
  if (failed(call.spend({call.out().count(), depth})))
    return failure();
  // Of an empty sum nothing but the size is needed.
  int64_t rows = 1, columns = 1;
  for (int64_t axis = 0; axis < lhs.rank(); ++axis)
    if (!llvm::is_contained(op.getLhsBatch(), axis) && !llvm::is_contained(op.getLhsContract(), axis))
      rows *= lhs.shape[axis];
  for (int64_t axis = 0; axis < rhs.rank(); ++axis)
    if (!llvm::is_contained(op.getRhsBatch(), axis) && !llvm::is_contained(op.getRhsContract(), axis))
      columns *= rhs.shape[axis];
  SmallVector<int64_t> lhsOrder = contractionOrder(lhs.rank(), op.getLhsBatch(), op.getLhsContract());
  SmallVector<int64_t> rhsOrder = contractionOrder(rhs.rank(), op.getRhsBatch(), op.getRhsContract());
  if (isFloat(lhs.type)) {
    call.out().setReals(multiply(permuted<double>(lhs, lhsOrder), permuted<double>(rhs, rhsOrder), batches, rows, columns, depth));
    return success();
  }
  std::vector<uint64_t> product =
      multiply(permuted<uint64_t>(lhs, lhsOrder), permuted<uint64_t>(rhs, rhsOrder), batches, rows, columns, depth);
  for (auto [i, value] : llvm::enumerate(product))
    call.out().setInteger(i, int64_t(value));
  return success();
}

template <typename T>
static std::vector<T> convolve(ConvolutionOp op, const WindowWalk &walk, const std::vector<T> &input, const std::vector<T> &filter,
                               int64_t outputs, int64_t channels) {
  int64_t perGroup = outputs / int64_t(op.getGroups());
  std::vector<T> result(walk.batches * outputs * walk.outputPositions());
  int64_t tapCount = walk.tapCount();
  walk.forEachWindow([&](int64_t window, ArrayRef<Tap> taps) {
    for (int64_t n = 0; n < walk.batches; ++n)
      for (int64_t o = 0; o < outputs; ++o) {
        int64_t inputBase = walk.inputPosition(n, o / perGroup * channels);
        T sum = 0;
        for (int64_t c = 0; c < channels; ++c)
          for (const Tap &tap : taps)
            sum += input[inputBase + c * walk.inputChannelStride + tap.offset] * filter[(o * channels + c) * tapCount + tap.number];
        result[walk.outputPosition(n, o, window)] = sum;
      }
  });
  return result;
}

static LogicalResult convolution(ConvolutionOp op, OpCall &call) {
  TensorValue unpacked;
  SmallVector<int64_t> shape = op.filterShape();
  if (op.getFilterPacked())
    unpacked = op.getWinograd() ? unpackWinograd(call.in(1), shape, *op.getWinograd()) : unpackFilter(call.in(1), shape, op.getGroups());
  const TensorValue &input = call.in(0), &filter = op.getFilterPacked() ? unpacked : call.in(1);
  if (call.out().count() == 0)
    return success();
  if (failed(call.spend({call.out().count(), elementCount(ArrayRef<int64_t>(shape).drop_front())})))
    return failure();
  WindowWalk walk(input.shape, call.out().shape, op.getLayout(), ArrayRef<int64_t>(shape).drop_front(2), op.getStrides(), op.getPadLow(),
                  op.getDilations());
  if (isFloat(input.type)) {
    call.out().setReals(convolve(op, walk, input.reals(), filter.reals(), shape[0], shape[1]));
    return success();
  }
  auto bits = [](const TensorValue &tensor) {
    std::vector<int64_t> values = tensor.integers();
    return std::vector<uint64_t>(values.begin(), values.end());
  };
  for (auto [i, value] : llvm::enumerate(convolve(op, walk, bits(input), bits(filter), shape[0], shape[1])))
    call.out().setInteger(i, int64_t(value));
  return success();
}

ArrayRef<InterpreterEntry> contractionInterpreters() {
  static const InterpreterEntry entries[] = {
      entry<DotGeneralOp, dotGeneral>(),
      entry<ConvolutionOp, convolution>(),
  };
  return entries;
}

} // namespace stator::graph
