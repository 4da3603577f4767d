//===- WindowOps.cpp - ONNX contractions, convolutions and pools -----------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

void matmul(OpContext &op) { op.output(fn::matmul(op.input(0), op.input(1))); }

void gemm(OpContext &op) {
  op.output(fn::gemm(op.input(0), op.input(1), op.optional(2), op.number("alpha", 1.0), op.number("beta", 1.0), op.flag("transA"),
                     op.flag("transB")));
}

void einsum(OpContext &op) {
  for (size_t i = 0; i < op.numInputs(); ++i)
    op.input(i);
  op.output(fn::einsum(op.text("equation", ""), op.allInputs()));
}

fn::ConvOptions convOptions(OpContext &op) {
  WindowAttributes window = windowAttributes(op);
  fn::ConvOptions options;
  options.strides = window.strides;
  options.padLow = window.padLow;
  options.padHigh = window.padHigh;
  options.dilations = window.dilations;
  options.autoPad = window.autoPad;
  options.groups = op.integer("group", 1);
  // kernel_shape repeats what the filter's shape says; a file in which they differ is broken.
  trace::Tensor filter = op.input(1);
  for (size_t i = 0; filter && i < window.kernel.size(); ++i)
    if (int64_t(i) + 2 >= filter.rank() || filter.dim(int64_t(i) + 2) != trace::Dim(window.kernel[i])) {
      op.fail("attribute `kernel_shape` does not agree with the shape of the filter");
      break;
    }
  return options;
}

void conv(OpContext &op) { op.output(fn::conv(op.input(0), op.input(1), op.optional(2), convOptions(op))); }

void convTranspose(OpContext &op) {
  fn::ConvOptions options = convOptions(op);
  options.outputPadding = op.integers("output_padding").value_or(trace::Ints());
  options.outputShape = op.integers("output_shape").value_or(trace::Ints());
  op.output(fn::convTranspose(op.input(0), op.input(1), op.optional(2), options));
}

fn::PoolOptions poolOptions(OpContext &op) {
  WindowAttributes window = windowAttributes(op);
  fn::PoolOptions options;
  options.kernel = window.kernel;
  options.strides = window.strides;
  options.padLow = window.padLow;
  options.padHigh = window.padHigh;
  options.dilations = window.dilations;
  options.autoPad = window.autoPad;
  options.ceilMode = op.flag("ceil_mode");
  if (options.kernel.empty())
    op.fail("attribute `kernel_shape` is missing");
  return options;
}

void maxPool(OpContext &op) {
  if (op.wantsOutput(1))
    return op.unsupported("the indices of a maximum pool are not supported");
  op.output(fn::maxPool(op.input(0), poolOptions(op)));
}

void averagePool(OpContext &op) {
  fn::PoolOptions options = poolOptions(op);
  options.countIncludePad = op.flag("count_include_pad");
  op.output(fn::avgPool(op.input(0), options));
}

void lpPool(OpContext &op) { op.output(fn::lpPool(op.input(0), op.integer("p", 2), poolOptions(op))); }
void globalMaxPool(OpContext &op) { op.output(fn::globalMaxPool(op.input(0))); }
void globalAveragePool(OpContext &op) { op.output(fn::globalAvgPool(op.input(0))); }
void globalLpPool(OpContext &op) { op.output(fn::globalLpPool(op.input(0), op.integer("p", 2))); }

} // namespace

std::span<const OpEntry> windowOps() {
  static constexpr OpEntry entries[] = {
      {"MatMul", matmul},
      {"Gemm", gemm},
      {"Einsum", einsum},
      {"Conv", conv},
      {"ConvTranspose", convTranspose},
      {"MaxPool", maxPool},
      {"AveragePool", averagePool},
      {"LpPool", lpPool},
      {"GlobalMaxPool", globalMaxPool},
      {"GlobalAveragePool", globalAveragePool},
      {"GlobalLpPool", globalLpPool},
  };
  return entries;
}

} // namespace stator::onnx
