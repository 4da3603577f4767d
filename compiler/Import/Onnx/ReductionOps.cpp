//===- ReductionOps.cpp - ONNX reductions, scans and sorting ---------------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

template <fn::Reduction kind>
void reduce(OpContext &op) {
  op.output(fn::reduce(op.input(0), kind, op.optional(1), op.flag("keepdims", true), op.flag("noop_with_empty_axes")));
}

template <trace::Tensor (*function)(const trace::Tensor &, int64_t, bool, bool)>
void argReduce(OpContext &op) {
  op.output(function(op.input(0), op.integer("axis", 0), op.flag("keepdims", true), op.flag("select_last_index")));
}

template <trace::Tensor (*function)(const trace::Tensor &, int64_t, bool, bool)>
void cumulative(OpContext &op) {
  trace::Tensor axis = op.input(1);
  auto known = axis ? axis.knownNumbers() : std::nullopt;
  if (!known || known->size() != 1)
    return op.unsupported("the axis is computed by the model, expected a constant");
  op.output(function(op.input(0), int64_t((*known)[0]), op.flag("exclusive"), op.flag("reverse")));
}

void topK(OpContext &op) {
  auto [values, indices] = fn::topK(op.input(0), op.input(1), op.integer("axis", -1), op.flag("largest", true), op.flag("sorted", true));
  op.output(values, 0);
  op.output(indices, 1);
}

} // namespace

std::span<const OpEntry> reductionOps() {
  using fn::Reduction;
  static constexpr OpEntry entries[] = {
      {"ReduceSum", reduce<Reduction::Sum>},
      {"ReduceMean", reduce<Reduction::Mean>},
      {"ReduceProd", reduce<Reduction::Prod>},
      {"ReduceMax", reduce<Reduction::Max>},
      {"ReduceMin", reduce<Reduction::Min>},
      {"ReduceL1", reduce<Reduction::L1>},
      {"ReduceL2", reduce<Reduction::L2>},
      {"ReduceLogSum", reduce<Reduction::LogSum>},
      {"ReduceLogSumExp", reduce<Reduction::LogSumExp>},
      {"ReduceSumSquare", reduce<Reduction::SumSquare>},
      {"ArgMax", argReduce<fn::argMax>},
      {"ArgMin", argReduce<fn::argMin>},
      {"CumSum", cumulative<fn::cumSum>},
      {"CumProd", cumulative<fn::cumProd>},
      {"TopK", topK},
  };
  return entries;
}

} // namespace stator::onnx
