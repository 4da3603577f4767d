//===- NormalisationOps.cpp - ONNX normalisations --------------------------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

void batchNormalization(OpContext &op) {
  if (op.flag("training_mode"))
    return op.unsupported("batch normalisation in training mode is not supported");
  if (op.opset() < 7 && !op.flag("is_test"))
    return op.unsupported("batch normalisation in training mode is not supported");
  if (op.opset() < 9 && !op.flag("spatial", true))
    return op.unsupported("batch normalisation per element (spatial = 0) is not supported");
  for (size_t i = 1; i < op.numOutputs(); ++i)
    if (op.wantsOutput(i))
      return op.unsupported("the running statistics as outputs are not supported");
  op.output(fn::batchNorm(op.input(0), op.input(1), op.input(2), op.input(3), op.input(4), op.number("epsilon", 1e-5)));
}

void instanceNormalization(OpContext &op) {
  op.output(fn::instanceNorm(op.input(0), op.input(1), op.input(2), op.number("epsilon", 1e-5)));
}

/// Scale and bias were per group in opset 18 and are per channel since 21.
void groupNormalization(OpContext &op) {
  op.output(fn::groupNorm(op.input(0), op.integer("num_groups", 1), op.input(1), op.input(2), op.number("epsilon", 1e-5), op.opset() < 21));
}

/// The mean and inverse deviation as outputs, which training graphs ask for.
void layerNormStatistics(OpContext &op, const trace::Tensor &x, int64_t axis) {
  if (!op.wantsOutput(1) && !op.wantsOutput(2))
    return;
  trace::Ints axes;
  for (int64_t i = axis < 0 ? axis + x.rank() : axis; i < x.rank(); ++i)
    axes.push_back(i);
  trace::Tensor mean = fn::reduce(x, fn::Reduction::Mean, axes, true);
  trace::Tensor variance = fn::reduce(fn::square(fn::sub(x, mean)), fn::Reduction::Mean, axes, true);
  op.output(mean, 1);
  op.output(fn::rsqrt(fn::add(variance, fn::scalarLike(x, op.number("epsilon", 1e-5)))), 2);
}

void layerNormalization(OpContext &op) {
  int64_t axis = op.integer("axis", -1);
  trace::Tensor x = op.input(0);
  op.output(fn::layerNorm(x, op.input(1), op.optional(2), axis, op.number("epsilon", 1e-5)));
  if (x)
    layerNormStatistics(op, x, axis);
}

void rmsNormalization(OpContext &op) {
  op.output(fn::rmsNorm(op.input(0), op.input(1), op.integer("axis", -1), op.number("epsilon", 1e-5)));
}

/// Not in the standard, but ONNX Runtime's optimiser puts it into the default domain.
void simplifiedLayerNormalization(OpContext &op) {
  if (op.wantsOutput(1))
    return op.unsupported("the inverse deviation as an output is not supported");
  rmsNormalization(op);
}

void lrn(OpContext &op) {
  op.output(fn::lrn(op.input(0), op.integer("size", 1), op.number("alpha", 1e-4), op.number("beta", 0.75), op.number("bias", 1.0)));
}

void lpNormalization(OpContext &op) { op.output(fn::lpNorm(op.input(0), op.integer("axis", -1), op.integer("p", 2))); }

void meanVarianceNormalization(OpContext &op) {
  op.output(fn::meanVarianceNorm(op.input(0), op.integers("axes").value_or(trace::Ints{0, 2, 3})));
}

} // namespace

std::span<const OpEntry> normalisationOps() {
  static constexpr OpEntry entries[] = {
      {"BatchNormalization", batchNormalization},
      {"InstanceNormalization", instanceNormalization},
      {"GroupNormalization", groupNormalization},
      {"LayerNormalization", layerNormalization},
      {"RMSNormalization", rmsNormalization},
      {"SimplifiedLayerNormalization", simplifiedLayerNormalization},
      {"LRN", lrn},
      {"LpNormalization", lpNormalization},
      {"MeanVarianceNormalization", meanVarianceNormalization},
  };
  return entries;
}

} // namespace stator::onnx
