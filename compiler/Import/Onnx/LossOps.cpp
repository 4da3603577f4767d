//===- LossOps.cpp - ONNX losses -------------------------------------------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

trace::Tensor lossOf(OpContext &op, const trace::Tensor &logProbabilities) {
  std::string_view reduction = op.text("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    op.fail("attribute `reduction` is `" + std::string(reduction) + "`, expected none, mean or sum");
    return {};
  }
  fn::LossReduction kind = reduction == "none" ? fn::LossReduction::None : reduction == "sum" ? fn::LossReduction::Sum : fn::LossReduction::Mean;
  std::optional<int64_t> ignore;
  if (op.has("ignore_index"))
    ignore = op.integer("ignore_index", 0);
  return fn::negativeLogLikelihood(logProbabilities, op.input(1), op.optional(2), kind, ignore);
}

void negativeLogLikelihoodLoss(OpContext &op) { op.output(lossOf(op, op.input(0))); }

void softmaxCrossEntropyLoss(OpContext &op) {
  trace::Tensor logProbabilities = fn::logSoftmax(op.input(0), 1);
  op.output(lossOf(op, logProbabilities), 0);
  op.output(logProbabilities, 1);
}

} // namespace

std::span<const OpEntry> lossOps() {
  static constexpr OpEntry entries[] = {{"NegativeLogLikelihoodLoss", negativeLogLikelihoodLoss},
                                        {"SoftmaxCrossEntropyLoss", softmaxCrossEntropyLoss}};
  return entries;
}

} // namespace stator::onnx
