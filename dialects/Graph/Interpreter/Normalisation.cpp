// Normalisations, softmax, GELU and attention, by their formulas in double.
#include "dialects/Graph/Interpreter/OpCall.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

static LogicalResult batchNorm(BatchNormOp op, OpCall &call) {
  const TensorValue &in = call.in();
  double epsilon = op.getEpsilon().convertToDouble();
  AxisSplit split(in.shape, op.getAxis());
  std::vector<double> scale = call.in(1).reals(), bias = call.in(2).reals(), mean = call.in(3).reals(), variance = call.in(4).reals();
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t c = 0; c < split.size; ++c)
      for (int64_t i = 0; i < split.inner; ++i) {
        int64_t at = split.position(o, c, i);
        call.out().setReal(at, (in.real(at) - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c]);
      }
  return success();
}

/// Normalises each run of `size` elements: subtracts the mean if `centred`, divides by the root of the mean square, scales, shifts.
static void normaliseRuns(OpCall &call, int64_t axis, double epsilon, bool centred, const TensorValue *scale, const TensorValue *bias) {
  const TensorValue &in = call.in();
  int64_t size = elementCount(ArrayRef<int64_t>(in.shape).drop_front(axis));
  for (int64_t start = 0, n = in.count(); start < n; start += size) {
    double mean = 0, square = 0;
    for (int64_t i = 0; centred && i < size; ++i)
      mean += in.real(start + i) / double(size);
    for (int64_t i = 0; i < size; ++i)
      square += (in.real(start + i) - mean) * (in.real(start + i) - mean) / double(size);
    for (int64_t i = 0; i < size; ++i) {
      double value = (in.real(start + i) - mean) / std::sqrt(square + epsilon);
      value *= scale ? scale->real(i) : 1;
      call.out().setReal(start + i, value + (bias ? bias->real(i) : 0));
    }
  }
}

static LogicalResult layerNorm(LayerNormOp op, OpCall &call) {
  normaliseRuns(call, op.getAxis(), op.getEpsilon().convertToDouble(), true, call.find(op.getScale()), call.find(op.getBias()));
  return success();
}

static LogicalResult rmsNorm(RmsNormOp op, OpCall &call) {
  normaliseRuns(call, op.getAxis(), op.getEpsilon().convertToDouble(), false, call.find(op.getScale()), nullptr);
  return success();
}

/// `values` becomes its softmax, or the logarithm of it.
static void softmaxOf(MutableArrayRef<double> values, bool logarithm) {
  double largest = -INFINITY, sum = 0;
  for (double value : values)
    largest = std::isnan(largest) || largest > value ? largest : value;
  for (double value : values)
    sum += std::exp(value - largest);
  for (double &value : values)
    value = logarithm ? value - largest - std::log(sum) : std::exp(value - largest) / sum;
}

static void softmaxAlong(OpCall &call, int64_t axis, bool logarithm) {
  const TensorValue &in = call.in();
  AxisSplit split(in.shape, axis);
  std::vector<double> row(split.size);
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0; i < split.inner; ++i) {
      for (int64_t step = 0; step < split.size; ++step)
        row[step] = in.real(split.position(o, step, i));
      softmaxOf(row, logarithm);
      for (int64_t step = 0; step < split.size; ++step)
        call.out().setReal(split.position(o, step, i), row[step]);
    }
}

static LogicalResult softmax(SoftmaxOp op, OpCall &call) {
  softmaxAlong(call, op.getAxis(), false);
  return success();
}

static LogicalResult logSoftmax(LogSoftmaxOp op, OpCall &call) {
  softmaxAlong(call, op.getAxis(), true);
  return success();
}

static LogicalResult gelu(GeluOp op, OpCall &call) {
  const TensorValue &in = call.in();
  for (int64_t i = 0, n = in.count(); i < n; ++i) {
    double x = in.real(i);
    double gate = op.getApproximate() == GeluApproximation::Tanh ? std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))
                                                                 : std::erf(x / std::sqrt(2.0));
    call.out().setReal(i, x / 2 * (1 + gate));
  }
  return success();
}

/// What is added to each score of one query: 0, the mask, or minus infinity.
static double maskAt(const TensorValue *mask, int64_t position) {
  if (!mask)
    return 0;
  if (mask->type == ElementType::I1)
    return mask->integer(position) ? 0 : -INFINITY;
  return mask->real(position);
}

static LogicalResult attention(AttentionOp op, OpCall &call) {
  const TensorValue &query = call.in(0), &key = call.in(1), &value = call.in(2), *mask = call.find(op.getMask());
  if (call.out().count() == 0)
    return success();
  int64_t rank = query.rank(), rows = query.shape[rank - 2], width = query.shape[rank - 1], keys = key.shape[rank - 2],
          outputs = value.shape[rank - 1];
  if (failed(call.spend({elementCount(query.shape) + rows, keys})) || failed(call.spend({call.out().count(), keys})))
    return failure();
  SmallVector<int64_t> maskStrides(rank, 0);
  if (mask)
    for (auto [axis, stride] : llvm::enumerate(rowMajorStrides(mask->shape)))
      maskStrides[axis] = mask->shape[axis] == 1 ? 0 : stride;
  double scale = op.getScale().convertToDouble();
  int64_t offset = 0;
  if (std::optional<DimsAttr> given = op.getCausalOffset()) {
    FailureOr<SmallVector<int64_t>> value = call.evaluate(*given);
    if (failed(value))
      return failure();
    offset = value->front();
  }
  std::vector<double> scores(keys);
  forEachIndex(ArrayRef<int64_t>(query.shape).drop_back(), [&](ArrayRef<int64_t> index, int64_t row) {
    int64_t batch = row / rows, position = row % rows;
    int64_t maskBase = positionOf(index, ArrayRef<int64_t>(maskStrides).drop_back());
    for (int64_t s = 0; s < keys; ++s) {
      double score = 0;
      for (int64_t e = 0; e < width; ++e)
        score += query.real(row * width + e) * key.real((batch * keys + s) * width + e);
      scores[s] = score * scale + maskAt(mask, maskBase + s * maskStrides[rank - 1]);
      if (op.getCausal() && s > position + offset)
        scores[s] = -INFINITY;
    }
    softmaxOf(scores, false);
    if (op.getEmptyRowsZero())
      for (double &weight : scores)
        weight = std::isnan(weight) ? 0 : weight;
    for (int64_t v = 0; v < outputs; ++v) {
      double sum = 0;
      for (int64_t s = 0; s < keys; ++s)
        sum += scores[s] * value.real((batch * keys + s) * outputs + v);
      call.out().setReal(row * outputs + v, sum);
    }
  });
  return success();
}

ArrayRef<InterpreterEntry> normalisationInterpreters() {
  static const InterpreterEntry entries[] = {
      entry<BatchNormOp, batchNorm>(),   entry<LayerNormOp, layerNorm>(), entry<RmsNormOp, rmsNorm>(),     entry<SoftmaxOp, softmax>(),
      entry<LogSoftmaxOp, logSoftmax>(), entry<GeluOp, gelu>(),           entry<AttentionOp, attention>(),
  };
  return entries;
}

} // namespace stator::graph
