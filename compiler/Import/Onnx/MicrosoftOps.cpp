//===- MicrosoftOps.cpp - fused ops of the domain com.microsoft ------------===//
//
// ONNX Runtime's optimiser writes these into files, and exporters for it do.
// Each is what it was fused from. The domain has one opset.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/MicrosoftOps.h"
#include "compiler/Import/Onnx/QuantisedOps.h"

#include <vector>

namespace stator::onnx {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using Value = trace::Tensor;

Value plus(const Value &x, const Value &y) { return y ? fn::add(x, y) : x; }

namespace {

Value swapLast(const Value &x) {
  if (!x || x.rank() < 2)
    return x;
  trace::Ints order;
  for (int64_t i = 0; i < x.rank(); ++i)
    order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return fn::transpose(x, order);
}

void fusedMatMul(OpContext &op) {
  if (op.flag("transBatchA") || op.flag("transBatchB"))
    return op.unsupported("transposed batches are not supported");
  Value a = op.input(0), b = op.input(1);
  Value result = fn::matmul(op.flag("transA") ? swapLast(a) : a, op.flag("transB") ? swapLast(b) : b);
  double alpha = op.number("alpha", 1);
  op.output(alpha == 1 ? result : fn::mul(result, fn::scalarLike(result, alpha)));
}

void gelu(OpContext &op) { op.output(fn::gelu(op.input(0))); }
void biasGelu(OpContext &op) { op.output(fn::gelu(fn::add(op.input(0), op.input(1)))); }
void fastGelu(OpContext &op) { op.output(fn::gelu(plus(op.input(0), op.optional(1)), /*tanhApproximation=*/true)); }
void quickGelu(OpContext &op) { op.output(fn::silu(op.input(0), op.number("alpha", 1.702))); }

/// Normalises the sum of input, skip and bias; the sum is the fourth output.
void skipLayerNormalization(OpContext &op) {
  Value sum = plus(fn::add(op.input(0), op.input(1)), op.optional(4));
  if (op.wantsOutput(1) || op.wantsOutput(2))
    return op.unsupported("mean and deviation as outputs are not supported");
  op.output(fn::layerNorm(sum, op.input(2), op.optional(3), -1, op.number("epsilon", 1e-12)), 0);
  op.output(sum, 3);
}

void skipRmsNormalization(OpContext &op) {
  Value sum = plus(fn::add(op.input(0), op.input(1)), op.optional(3));
  if (op.wantsOutput(1) || op.wantsOutput(2))
    return op.unsupported("mean and deviation as outputs are not supported");
  op.output(fn::rmsNorm(sum, op.input(2), -1, op.number("epsilon", 1e-12)), 0);
  op.output(sum, 3);
}

void fusedConv(OpContext &op) {
  WindowAttributes window = windowAttributes(op);
  fn::ConvOptions options{.strides = window.strides, .padLow = window.padLow, .padHigh = window.padHigh, .dilations = window.dilations,
                          .groups = op.integer("group", 1), .autoPad = window.autoPad};
  Value y = plus(fn::conv(op.input(0), op.input(1), op.optional(2), options), op.optional(3));
  std::string_view activation = op.text("activation", "");
  std::vector<float> given = op.numbers("activation_params").value_or(std::vector<float>());
  if (activation == "Relu")
    y = fn::relu(y);
  else if (activation == "Tanh")
    y = fn::tanh(y);
  else if (activation == "Sigmoid")
    y = fn::sigmoid(y);
  else if (activation == "LeakyRelu" && given.size() == 1)
    y = fn::leakyRelu(y, given[0]);
  else if (activation == "Clip" && given.size() == 2)
    y = fn::clip(y, given[0], given[1]);
  else if (activation == "HardSigmoid" && given.size() == 2)
    y = fn::hardSigmoid(y, given[0], given[1]);
  else if (!activation.empty())
    return op.unsupported("activation `" + std::string(activation) + "` with " + std::to_string(given.size()) +
                          " parameters is not supported");
  op.output(y);
}

/// A scale of one number, or of one per column.
Value perColumn(const Value &scale) { return scale && scale.rank() == 1 && scale.dim(0) == Dim(1) ? fn::reshape(scale, Dims{}) : scale; }

void matMulIntegerToFloat(OpContext &op) {
  if (Value zero = op.optional(4); zero && zero.elements() != Dim(1))
    return op.unsupported("more than one zero point of the left operand is not supported");
  Value a = withoutZeroPoint(op.input(0), op.optional(4), ElementType::I32, -2);
  Value sum = fn::matmul(a, withoutZeroPoint(op.input(1), op.optional(5), ElementType::I32, -1));
  Value scale = fn::mul(perColumn(op.input(2)), perColumn(op.input(3)));
  if (op.builder().ok())
    op.output(plus(fn::mul(fn::cast(sum, scale.type()), scale), op.optional(6)));
}

void dynamicQuantizeMatMul(OpContext &op) {
  Value a = op.input(0), b = op.input(1);
  if (!op.builder().ok())
    return;
  DynamicScale dynamic = dynamicScale(a);
  // Whole numbers 0 .. 255 less the zero point, exactly as the product of integers has them.
  Value steps = fn::clip(fn::add(fn::roundEven(fn::div(a, dynamic.scale)), dynamic.zeroPoint), 0, 255);
  Value left = fn::cast(fn::sub(steps, dynamic.zeroPoint), ElementType::I32);
  Value sum = fn::matmul(left, withoutZeroPoint(b, op.optional(3), ElementType::I32, -1));
  Value scale = fn::mul(dynamic.scale, perColumn(op.input(2)));
  if (op.builder().ok())
    op.output(plus(fn::mul(fn::cast(sum, scale.type()), scale), op.optional(4)));
}

/// The 4-bit halves of bytes, low ones first: the last axis doubles.
Value halves(const Value &packed) {
  Value low = fn::bitwiseAnd(packed, packed.builder()->scalarInt(ElementType::U8, 15));
  Value high = fn::shiftRight(packed, packed.builder()->scalarInt(ElementType::U8, 4));
  Dims dims = packed.dims();
  dims.back() = dims.back() * Dim(2);
  return fn::reshape(fn::stack({low, high}, packed.rank()), dims);
}

/// a @ dequantised(b)^T with b [N, blocks, block / 2 bytes] of 4-bit numbers, a scale and zero point (8 if absent) for each block.
void matMulNBits(OpContext &op) {
  Value a = op.input(0), b = op.input(1), scales = op.input(2), zeros = op.optional(3);
  if (!op.builder().ok())
    return;
  int64_t bits = op.integer("bits", 4), columns = op.integer("N", 0), depth = op.integer("K", 0), block = op.integer("block_size", 0);
  if (bits != 4)
    return op.unsupported("weights of " + std::to_string(bits) + " bits are not supported, expected 4");
  if (op.optional(4))
    return op.unsupported("reordered groups (`g_idx`) are not supported");
  if (b.rank() != 3 || b.type() != ElementType::U8 || columns < 1 || depth < 1 || block < 1)
    return op.fail("weights of rank " + std::to_string(b.rank()) + " with N " + std::to_string(columns) + ", K " + std::to_string(depth) +
                   " and block_size " + std::to_string(block));
  Dim blocks = b.dim(1);
  Value zero = op.builder().scalar(scales.type(), 8);
  if (zeros && zeros.type() == ElementType::U8) {
    // Packed like the weights, each row filled up to a whole byte.
    Value unpacked = halves(fn::reshape(zeros, Dims{columns, floorDiv(zeros.elements(), Dim(columns))}));
    zero = fn::cast(fn::slice(unpacked, Dims{0}, Dims{blocks}, {1}), scales.type());
    zero = fn::reshape(zero, Dims{columns, blocks, 1});
  } else if (zeros) {
    zero = fn::reshape(zeros, Dims{columns, blocks, 1});
  }
  Value weights = fn::sub(fn::cast(halves(b), scales.type()), zero);
  weights = fn::mul(weights, fn::reshape(scales, Dims{columns, blocks, 1}));
  weights = fn::slice(fn::reshape(weights, Dims{columns, blocks * Dim(block)}), Dims{0}, Dims{depth}, {1});
  op.output(plus(fn::matmul(a, fn::transpose(weights, {1, 0})), op.optional(5)));
}

} // namespace

std::span<const OpEntry> microsoftOps() {
  static const std::vector<OpEntry> entries = [] {
    std::vector<OpEntry> all = {
        {"FusedMatMul", fusedMatMul},
        {"Gelu", gelu},
        {"BiasGelu", biasGelu},
        {"FastGelu", fastGelu},
        {"QuickGelu", quickGelu},
        {"SkipLayerNormalization", skipLayerNormalization},
        {"SkipSimplifiedLayerNormalization", skipRmsNormalization},
        {"FusedConv", fusedConv},
        {"MatMulIntegerToFloat", matMulIntegerToFloat},
        {"DynamicQuantizeMatMul", dynamicQuantizeMatMul},
        {"MatMulNBits", matMulNBits},
    };
    std::span<const OpEntry> attention = microsoftAttentionOps();
    all.insert(all.end(), attention.begin(), attention.end());
    return all;
  }();
  return entries;
}

} // namespace stator::onnx
