// Recurrent layers: type inference. The shapes are ONNX's; H is read from the recurrent weights `r`.
#include "dialects/Graph/GraphTypeInference.h"
#include "dialects/Target/PackedLayouts.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

namespace {

/// The sizes of a layer, and checks of its operands against them.
struct Layer {
  MaybeLocation location;
  StringRef op;
  Type element;
  DimExpr steps, batch, inputs, hidden;
  int64_t directions;

  LogicalResult checkOptional(StringRef what, Value value, ArrayRef<DimExpr> shape) const {
    if (!value)
      return success();
    if (failed(checkShape(location, op, what, tensorTypeOf(value), shape)))
      return failure();
    return checkElement(location, op, what, tensorTypeOf(value), element);
  }

  /// y, then `states` times the final state.
  LogicalResult infer(int states, InferredTypes &types) const {
    if (failed(inferTensor(location, op, {steps, directions, batch, hidden}, element, types)))
      return failure();
    for (int i = 0; i < states; ++i)
      if (failed(inferTensor(location, op, {directions, batch, hidden}, element, types)))
        return failure();
    return success();
  }
};

} // namespace

/// Reads the sizes and checks the operands that all layers have.
template <typename Adaptor>
static FailureOr<Layer> readLayer(MaybeLocation location, StringRef op, Adaptor adaptor, int64_t gates) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput()), r = tensorTypeOf(adaptor.getR());
  bool packed = adaptor.getWeightsPacked();
  int64_t weightRank = packed ? 5 : 3;
  if (input.getRank() != 3 || r.getRank() != weightRank)
    return inferenceError(location, op, "has an input of type ", input, " and recurrent weights of type ", r, ", expected rank 3 and ",
                          weightRank);
  int64_t directions = adaptor.getDirection() == RecurrentDirection::Bidirectional ? 2 : 1;
  Layer layer{location,  op, input.getElementType(), dimOf(input, 0), dimOf(input, 1), dimOf(input, 2), dimOf(r, 2),
              directions};

  DimExpr rows = layer.hidden * gates;
  auto weights = [&](const DimExpr &columns) -> SmallVector<DimExpr> {
    if (packed)
      return {directions, layer.hidden.ceilDiv(panelColumns), columns, gates, panelColumns};
    return {directions, rows, columns};
  };
  if (failed(layer.checkOptional("w", adaptor.getW(), weights(layer.inputs))) ||
      failed(layer.checkOptional("r", adaptor.getR(), weights(layer.hidden))) ||
      failed(layer.checkOptional("bias", adaptor.getBias(), {directions, rows * 2})) ||
      failed(layer.checkOptional("initial_h", adaptor.getInitialH(), {directions, layer.batch, layer.hidden})))
    return failure();
  if (Value lengths = adaptor.getSequenceLengths())
    if (failed(checkShape(location, op, "sequence_lengths", tensorTypeOf(lengths), {layer.batch})))
      return failure();
  return layer;
}

LogicalResult LstmOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  FailureOr<Layer> layer = readLayer(location, getOperationName(), adaptor, 4);
  if (failed(layer) || failed(layer->checkOptional("initial_c", adaptor.getInitialC(), {layer->directions, layer->batch, layer->hidden})) ||
      failed(layer->checkOptional("peephole", adaptor.getPeephole(), {layer->directions, layer->hidden * 3})))
    return failure();
  return layer->infer(2, types);
}

LogicalResult GruOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  FailureOr<Layer> layer = readLayer(location, getOperationName(), adaptor, 3);
  return failed(layer) ? failure() : layer->infer(1, types);
}

LogicalResult RnnOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  FailureOr<Layer> layer = readLayer(location, getOperationName(), adaptor, 1);
  return failed(layer) ? failure() : layer->infer(1, types);
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphRecurrent.cpp.inc"
