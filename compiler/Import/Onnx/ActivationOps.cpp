//===- ActivationOps.cpp - ONNX activations and softmax --------------------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

using Activation = trace::Tensor (*)(const trace::Tensor &);

template <Activation function>
void plain(OpContext &op) {
  op.output(function(op.input(0)));
}

/// Before opset 13 the default axis was 1, and the axes from it on were one.
template <trace::Tensor (*function)(const trace::Tensor &, int64_t, bool)>
void alongAxis(OpContext &op) {
  bool coerces = op.opset() < 13;
  op.output(function(op.input(0), op.integer("axis", coerces ? 1 : -1), coerces));
}

void leakyRelu(OpContext &op) { op.output(fn::leakyRelu(op.input(0), op.number("alpha", 0.01))); }
void prelu(OpContext &op) {
  trace::Tensor x = op.input(0), slope = op.input(1);
  // Before opset 7 a slope of several elements was one per channel.
  if (op.opset() < 7 && op.builder().ok() && slope.rank() == 1 && slope.dim(0) != trace::Dim(1) && x.rank() > 2) {
    trace::Dims dims = slope.dims();
    dims.resize(size_t(x.rank()) - 1, trace::Dim(1));
    slope = fn::reshape(slope, dims);
  }
  op.output(fn::prelu(x, slope));
}
void elu(OpContext &op) { op.output(fn::elu(op.input(0), op.number("alpha", 1.0))); }
void selu(OpContext &op) {
  op.output(fn::selu(op.input(0), op.number("alpha", 1.67326319217681884765625), op.number("gamma", 1.05070102214813232421875)));
}
void celu(OpContext &op) { op.output(fn::celu(op.input(0), op.number("alpha", 1.0))); }
void swish(OpContext &op) { op.output(fn::silu(op.input(0), op.number("alpha", 1.0))); }
void hardSigmoid(OpContext &op) { op.output(fn::hardSigmoid(op.input(0), op.number("alpha", 0.2), op.number("beta", 0.5))); }
void thresholdedRelu(OpContext &op) { op.output(fn::thresholdedRelu(op.input(0), op.number("alpha", 1.0))); }
void shrink(OpContext &op) { op.output(fn::shrink(op.input(0), op.number("lambd", 0.5), op.number("bias", 0.0))); }

void gelu(OpContext &op) {
  std::string_view approximate = op.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return op.fail("attribute `approximate` is `" + std::string(approximate) + "`, expected none or tanh");
  op.output(fn::gelu(op.input(0), approximate == "tanh"));
}

/// Inference: the input passes, and the mask, if wanted, is all true.
void dropout(OpContext &op) {
  if (op.opset() < 7 && !op.flag("is_test"))
    return op.unsupported("dropout in training mode is not supported");
  if (trace::Tensor training = op.opset() >= 12 ? op.optional(2) : trace::Tensor()) {
    auto known = training.knownNumbers();
    trace::Tensor ratio = op.optional(1);
    auto knownRatio = ratio ? ratio.knownNumbers() : std::optional(std::vector<double>{0.5});
    bool identity = known && known->size() == 1 && ((*known)[0] == 0 || (knownRatio && knownRatio->size() == 1 && (*knownRatio)[0] == 0));
    if (!identity)
      return op.unsupported("dropout in training mode is not supported");
  }
  trace::Tensor x = op.input(0);
  op.output(fn::dropout(x));
  if (op.wantsOutput(1) && x)
    op.output(fn::full(op.builder(), op.opset() >= 10 ? ElementType::I1 : x.type(), x.dims(), 1), 1);
}

} // namespace

std::span<const OpEntry> activationOps() {
  static constexpr OpEntry entries[] = {
      {"Relu", plain<fn::relu>},
      {"LeakyRelu", leakyRelu},
      {"PRelu", prelu},
      {"Elu", elu},
      {"Selu", selu},
      {"Celu", celu},
      {"Gelu", gelu},
      {"Swish", swish},
      {"Mish", plain<fn::mish>},
      {"Softplus", plain<fn::softplus>},
      {"Softsign", plain<fn::softsign>},
      {"HardSigmoid", hardSigmoid},
      {"HardSwish", plain<fn::hardSwish>},
      {"ThresholdedRelu", thresholdedRelu},
      {"Shrink", shrink},
      {"Softmax", alongAxis<fn::softmax>},
      {"LogSoftmax", alongAxis<fn::logSoftmax>},
      {"Hardmax", alongAxis<fn::hardmax>},
      {"Dropout", dropout},
  };
  return entries;
}

} // namespace stator::onnx
