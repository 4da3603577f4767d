// Windows and pools.
#include "dialects/Graph/Interpreter/Windows.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

static SmallVector<int64_t> spatialOf(ArrayRef<int64_t> list, bool channelsLast) {
  return SmallVector<int64_t>(channelsLast ? list.drop_front(1).drop_back(1) : list.drop_front(2));
}

WindowWalk::WindowWalk(ArrayRef<int64_t> input, ArrayRef<int64_t> output, TensorLayout layout, ArrayRef<int64_t> kernel,
                       ArrayRef<int64_t> strides, ArrayRef<int64_t> padLow, ArrayRef<int64_t> dilations)
    : kernel(kernel), strides(strides), padLow(padLow), dilations(dilations) {
  bool last = layout == TensorLayout::ChannelsLast;
  size_t channelAxis = last ? input.size() - 1 : 1;
  SmallVector<int64_t> allInput = rowMajorStrides(input), allOutput = rowMajorStrides(output);
  batches = input[0];
  channels = input[channelAxis];
  inputSizes = spatialOf(input, last);
  outputSizes = spatialOf(output, last);
  inputStrides = spatialOf(allInput, last);
  inputBatchStride = allInput[0];
  inputChannelStride = allInput[channelAxis];
  outputBatchStride = allOutput[0];
  outputChannelStride = allOutput[channelAxis];
  // The spatial axes are neighbours, so that windows lie one innermost stride apart.
  outputWindowStride = spatialOf(allOutput, last).back();
}

void WindowWalk::forEachWindow(function_ref<void(int64_t, ArrayRef<Tap>)> visit) const {
  std::vector<Tap> taps;
  forEachIndex(outputSizes, [&](ArrayRef<int64_t> window, int64_t number) {
    taps.clear();
    forEachIndex(kernel, [&](ArrayRef<int64_t> k, int64_t tap) {
      int64_t offset = 0;
      for (size_t axis = 0; axis < kernel.size(); ++axis) {
        int64_t at = place(axis, window[axis], k[axis]);
        if (at < 0 || at >= inputSizes[axis])
          return;
        offset += at * inputStrides[axis];
      }
      taps.push_back({tap, offset});
    });
    visit(number, taps);
  });
}

int64_t WindowWalk::countWithin(ArrayRef<int64_t> index, ArrayRef<int64_t> low, ArrayRef<int64_t> high) const {
  int64_t count = 1;
  for (size_t axis = 0; axis < kernel.size(); ++axis) {
    int64_t inside = 0;
    for (int64_t k = 0; k < kernel[axis]; ++k) {
      int64_t at = place(axis, index[axis], k);
      inside += at >= -low[axis] && at < inputSizes[axis] + high[axis];
    }
    count *= inside;
  }
  return count;
}

static double largestReal(const TensorValue &in, int64_t base, ArrayRef<Tap> taps) {
  double best = -INFINITY;
  for (const Tap &tap : taps) {
    double value = in.real(base + tap.offset);
    best = std::isnan(best) || best > value ? best : value;
  }
  return best;
}

static int64_t largestInteger(const TensorValue &in, int64_t base, ArrayRef<Tap> taps) {
  int64_t best = in.type == ElementType::U8 ? 0 : std::numeric_limits<int64_t>::min() >> (64 - 8 * in.elementBytes());
  for (const Tap &tap : taps)
    best = std::max(best, in.integer(base + tap.offset));
  return best;
}

static double sumOf(const TensorValue &in, int64_t base, ArrayRef<Tap> taps) {
  double sum = 0;
  for (const Tap &tap : taps)
    sum += in.real(base + tap.offset);
  return sum;
}

static LogicalResult pool(PoolOp op, OpCall &call) {
  const TensorValue &in = call.in();
  if (call.out().count() == 0)
    return success();
  if (failed(call.spend({call.out().count(), elementCount(op.getKernel())})))
    return failure();
  WindowWalk walk(in.shape, call.out().shape, op.getLayout(), op.getKernel(), op.getStrides(), op.getPadLow(), op.getDilations());

  // How many positions an average divides by: those in the input, or in the input and its real padding.
  SmallVector<int64_t> high(op.getPadHigh());
  for (auto [axis, extra] : llvm::enumerate(op.getCeilExtra().value_or(ArrayRef<int64_t>())))
    high[axis] -= extra;
  std::vector<int64_t> divisors;
  if (op.getCountIncludePad())
    forEachIndex(walk.outputShape(),
                 [&](ArrayRef<int64_t> window, int64_t) { divisors.push_back(walk.countWithin(window, op.getPadLow(), high)); });

  walk.forEachWindow([&](int64_t window, ArrayRef<Tap> taps) {
    for (int64_t n = 0; n < walk.batches; ++n)
      for (int64_t c = 0; c < walk.channels; ++c) {
        int64_t from = walk.inputPosition(n, c), to = walk.outputPosition(n, c, window);
        if (op.getKind() == PoolKind::Average) {
          int64_t divisor = op.getCountIncludePad() ? divisors[window] : int64_t(taps.size());
          call.out().setReal(to, divisor > 0 ? sumOf(in, from, taps) / double(divisor) : 0);
        } else if (isFloat(in.type)) {
          call.out().setReal(to, largestReal(in, from, taps));
        } else {
          call.out().setInteger(to, largestInteger(in, from, taps));
        }
      }
  });
  return success();
}

ArrayRef<InterpreterEntry> windowInterpreters() {
  static const InterpreterEntry entries[] = {entry<PoolOp, pool>()};
  return entries;
}

} // namespace stator::graph
