//===- GateKernel.cpp - the gate of squeeze-and-excite ---------------------===//
//
// Mobile networks weigh the channels of an image by a gate that is computed from
// their means: pool, a product down to a few channels, an activation, a product
// up again, a sigmoid. Apart these are five to seven kernels of a microsecond
// each, between which workers wait for one another. Here they are three phases
// with a barrier after the first two:
//
//  1. the means, shared out by channels, go to the buffer of the result;
//  2. each worker computes the few squeezed channels of the images that it will
//     work on into its scratch, which costs less than sharing them;
//  3. the gates, shared out by channels, replace the means.
//
// Each channel is computed in one way whoever does it.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/GateKernel.h"

#include "dialects/Target/PackedLayouts.h"
#include "passes/Kernel/StageEpilogue.h"

using namespace mlir;

namespace stator::kernel {

namespace {

/// Column vectors of one product's tile.
constexpr unsigned tileVectors = 4;

class GateEmitter {
public:
  GateEmitter(KernelBuilder &b, LaneEvaluator &evaluator, Value pooled, const BlockStage &squeeze, const BlockStage &excite)
      : b(b), evaluator(evaluator), pooled(pooled), squeeze(squeeze), excite(excite), type(squeeze.problem.type),
        squeezeEpilogue(b, evaluator, squeeze.convolution, squeeze.value), exciteEpilogue(b, evaluator, excite.convolution, excite.value),
        lanes(b.lanes()) {}

  void run() {
    auto resultType = cast<RankedTensorType>(excite.value.getType());
    const int64_t channels = squeeze.problem.channels, squeezed = squeeze.problem.outputs, width = int64_t(tileVectors) * lanes;
    Value images = b.size(squeeze.problem.batch), imageStride = b.size(b.stridesOf(resultType, b.result(0)).front());

    const int64_t vectors = (channels + lanes - 1) / lanes;
    KernelBuilder::Range means = b.split(b.mul(images, b.i64(vectors)));
    b.loop(means.begin, means.end, b.i64(1), [&](Value unit) {
      Value image = b.div(unit, b.i64(vectors)), channel = b.mul(b.rem(unit, b.i64(vectors)), b.i64(lanes));
      Value mask = channels % lanes == 0 ? Value() : b.maskBelow(b.sub(b.i64(channels), channel), lanes);
      LaneEvaluator::Scope scope(evaluator, lanes, mask);
      LaneValue zero = LaneValue::uniform(b.i64(0));
      LaneValues at{LaneValue::uniform(image), zero, zero, LaneValue::consecutive(channel)};
      evaluator.store(evaluator.evaluateVector(pooled, at), b.result(0), resultType, at);
    });
    b.barrier();

    const int64_t tiles = (channels + width - 1) / width, stride = (squeezed + width - 1) / width * width;
    KernelBuilder::Range gates = b.split(b.mul(images, b.i64(tiles)));
    Value firstImage = b.div(gates.begin, b.i64(tiles));
    Value buffer = b.scratch(squeeze.problem.batch * (stride * KernelBuilder::byteSize(type)));
    auto bufferOf = [&](Value image) { return b.address(buffer, b.mul(b.sub(image, firstImage), b.i64(stride)), type); };
    b.loop(firstImage, b.ceilDiv(gates.end, b.i64(tiles)), b.i64(1), [&](Value image) {
      Value source = b.address(b.result(0), b.mul(image, imageStride), type), target = bufferOf(image);
      for (int64_t column = 0; column < squeezed; column += width)
        emitTile(squeeze, squeezeEpilogue, image, source, b.i64(column), std::min(width, squeezed - column),
                 [&](Value result, ArrayRef<LaneValue> at, Value, unsigned, Value) { b.store(result, target, at.back().value, type); });
    });
    b.barrier();

    b.loop(gates.begin, gates.end, b.i64(1), [&](Value unit) {
      Value image = b.div(unit, b.i64(tiles)), tile = b.rem(unit, b.i64(tiles));
      auto emit = [&](Value column, int64_t columns) {
        emitTile(excite, exciteEpilogue, image, bufferOf(image), column, columns,
                 [&](Value result, ArrayRef<LaneValue> at, Value, unsigned, Value) {
                   evaluator.store(result, b.result(0), resultType, at);
                 });
      };
      const int64_t rest = channels % width;
      if (rest == 0)
        return emit(b.mul(tile, b.i64(width)), width);
      Value last = b.i64(channels / width);
      if (tiles == 1)
        return emit(b.i64(0), rest);
      b.ifElse(b.less(tile, last), [&] { emit(b.mul(tile, b.i64(width)), width); }, [&] { emit(b.mul(last, b.i64(width)), rest); });
    });
  }

private:
  /// One row of a product: `columns` (at most a tile's) results from `column` on.
  void emitTile(const BlockStage &stage, StageEpilogue &epilogue, Value image, Value source, Value column, int64_t columns,
                StageEpilogue::Sink sink) {
    StageEpilogue::Tile tile;
    tile.shape = {1, unsigned((columns + lanes - 1) / lanes)};
    tile.column = column;
    tile.rowIndices = [&](Value) { return SmallVector<Value>{image, b.i64(0), b.i64(0)}; };
    for (unsigned v = 0; v != tile.shape.vectors; ++v) {
      int64_t left = columns - int64_t(v) * lanes;
      tile.masks.push_back(left >= lanes ? Value() : b.maskBelow(b.i64(left), lanes));
    }
    Value depth = b.i64(stage.problem.channels);
    TileRows rows;
    rows.pointers.push_back(source);
    rows.kStride = b.i64(1);
    rows.storage = type;
    TileColumns weights;
    weights.storage = type;
    weights.pointer = b.address(stage.filter, panelStart(b, column, depth, int64_t(tileVectors) * lanes), type);
    weights.offsets = panelOffsets(b, tile.shape.vectors, depth);
    weights.kStride = b.i64(panelColumns);
    epilogue.emit(tile, accumulate(b, rows, weights, depth, zeroAccumulators(b, tile.shape, type)), sink);
  }

  KernelBuilder &b;
  LaneEvaluator &evaluator;
  Value pooled;
  const BlockStage &squeeze, &excite;
  const Type type;
  StageEpilogue squeezeEpilogue, exciteEpilogue;
  const unsigned lanes;
};

} // namespace

void emitGate(KernelBuilder &b, LaneEvaluator &evaluator, Value pooled, const BlockStage &squeeze, const BlockStage &excite) {
  GateEmitter(b, evaluator, pooled, squeeze, excite).run();
}

} // namespace stator::kernel
