//===- RecurrentOps.cpp - ONNX LSTM, GRU and RNN ---------------------------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

/// Only the standard activations of each cell have a kernel.
bool checkActivations(OpContext &op, std::span<const std::string_view> standard, int64_t directions) {
  auto given = op.texts("activations");
  if (!given)
    return true;
  bool same = given->size() == standard.size() * size_t(directions);
  for (size_t i = 0; same && i < given->size(); ++i)
    same = (*given)[i] == standard[i % standard.size()];
  if (!same)
    op.unsupported("activations other than the standard ones are not supported");
  return same;
}

std::optional<fn::RecurrentOptions> options(OpContext &op, int64_t &directions) {
  if (op.has("clip")) {
    op.unsupported("attribute `clip` is not supported");
    return std::nullopt;
  }
  fn::RecurrentOptions result;
  std::string_view direction = op.text("direction", "forward");
  directions = 1;
  if (direction == "reverse")
    result.direction = fn::Direction::Reverse;
  else if (direction == "bidirectional")
    result.direction = fn::Direction::Bidirectional, directions = 2;
  else if (direction != "forward") {
    op.fail("attribute `direction` is `" + std::string(direction) + "`, expected forward, reverse or bidirectional");
    return std::nullopt;
  }
  result.batchFirst = op.flag("layout");
  return result;
}

fn::RecurrentInputs inputs(OpContext &op) {
  fn::RecurrentInputs result;
  result.x = op.input(0);
  result.w = op.input(1);
  result.r = op.input(2);
  result.bias = op.optional(3);
  result.sequenceLengths = op.optional(4);
  result.initialH = op.optional(5);
  return result;
}

void checkHiddenSize(OpContext &op, const fn::RecurrentInputs &in) {
  if (op.has("hidden_size") && in.r && in.r.rank() == 3 && in.r.dim(2) != trace::Dim(op.integer("hidden_size", 0)))
    op.fail("attribute `hidden_size` does not agree with the shape of the recurrent weights");
}

void lstm(OpContext &op) {
  static constexpr std::string_view standard[] = {"Sigmoid", "Tanh", "Tanh"};
  int64_t directions = 1;
  auto settings = options(op, directions);
  if (!settings || !checkActivations(op, standard, directions))
    return;
  if (op.flag("input_forget"))
    return op.unsupported("coupled input and forget gates (`input_forget`) are not supported");
  fn::RecurrentInputs in = inputs(op);
  in.initialC = op.optional(6);
  in.peephole = op.optional(7);
  checkHiddenSize(op, in);
  fn::RecurrentOutputs out = fn::lstm(in, *settings);
  op.output(out.y, 0);
  op.output(out.h, 1);
  op.output(out.c, 2);
}

void gru(OpContext &op) {
  static constexpr std::string_view standard[] = {"Sigmoid", "Tanh"};
  int64_t directions = 1;
  auto settings = options(op, directions);
  if (!settings || !checkActivations(op, standard, directions))
    return;
  settings->linearBeforeReset = op.flag("linear_before_reset");
  fn::RecurrentInputs in = inputs(op);
  checkHiddenSize(op, in);
  fn::RecurrentOutputs out = fn::gru(in, *settings);
  op.output(out.y, 0);
  op.output(out.h, 1);
}

void rnn(OpContext &op) {
  int64_t directions = 1;
  auto settings = options(op, directions);
  if (!settings)
    return;
  auto activations = op.texts("activations");
  if (activations && !activations->empty() && activations->front() == "Relu") {
    static constexpr std::string_view relu[] = {"Relu"};
    if (!checkActivations(op, relu, directions))
      return;
    settings->relu = true;
  } else {
    static constexpr std::string_view tanh[] = {"Tanh"};
    if (!checkActivations(op, tanh, directions))
      return;
  }
  fn::RecurrentInputs in = inputs(op);
  checkHiddenSize(op, in);
  fn::RecurrentOutputs out = fn::rnn(in, *settings);
  op.output(out.y, 0);
  op.output(out.h, 1);
}

} // namespace

std::span<const OpEntry> recurrentOps() {
  static constexpr OpEntry entries[] = {{"LSTM", lstm}, {"GRU", gru}, {"RNN", rnn}};
  return entries;
}

} // namespace stator::onnx
