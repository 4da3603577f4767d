//===- AttentionKernel.cpp - scaled dot-product attention ------------------===//
//
// One unit of work is a block of query rows of one head. Its scores are a tile
// row by all keys, which stays in the worker's scratch (a row of 4096 keys is
// 16 KB): product with the keys, scaling, mask, softmax, product with the
// values; the division by the row's sum is done on the last accumulators.
//
// The keys of a head are transposed into panels once per head and worker, in
// blocks of lanes x lanes in registers; the values are read in place. With a
// causal mask a block only looks at the keys up to its last row.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/AttentionKernel.h"

#include "dialects/Target/PackedLayouts.h"
#include "passes/Kernel/LaneTranspose.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace stator::kernel {
namespace {

class AttentionEmitter {
public:
  using Values = KernelBuilder::Values;

  AttentionEmitter(KernelBuilder &b, const AttentionProblem &problem, ContractionEpilogue &epilogue)
      : b(b), problem(problem), epilogue(epilogue), lanes(b.lanes()), compute(KernelBuilder::computeType(problem.type)),
        vector(KernelBuilder::laneType(compute, lanes)), queries(b.size(problem.queries)), keys(b.size(problem.keys)) {}

  Value query, key, value, mask;

  void run() {
    const int64_t bytes = KernelBuilder::byteSize(compute);
    tile = mainTile(b.options(), compute);
    if (std::optional<int64_t> known = problem.queries.constant())
      tile.rows = evenRows(*known, tile.rows);
    panels = b.scratch(problem.keys.ceilDiv(panelColumns) * (panelColumns * problem.depth * bytes));
    // Whole tiles of columns for every row.
    DimExpr width = problem.keys.ceilDiv(tileWidth()) * tileWidth();
    rowStride = b.size(width);
    scores = b.scratch(width * (int64_t(tile.rows) * bytes));
    factors = b.scratch(int64_t(tile.rows) * bytes);

    if (problem.queries.isConstant())
      return emitAll(tile);
    b.ifElse(b.less(queries, b.i64(2)), [&] { emitAll({1, tile.vectors}); }, [&] { emitAll(tile); });
  }

private:
  int64_t tileWidth() const { return std::max<int64_t>(panelColumns, int64_t(tile.vectors) * lanes); }
  void emitAll(TileShape shape);
  void packKeys(Value head);
  void emitScores(TileShape shape, Value head, Value firstRow, Value end);
  void emitSoftmax(Value rows, Value width);
  void emitValues(TileShape shape, Value head, Value firstRow, Value rows, Value end);
  Value maskedScore(Value score, Value row, Value column);
  /// Index of each outer dim of head number `head`.
  SmallVector<Value> outerIndices(Value head);

  KernelBuilder &b;
  const AttentionProblem &problem;
  ContractionEpilogue &epilogue;
  const unsigned lanes;
  Type compute, vector;
  Value queries, keys;
  TileShape tile;
  Value panels, scores, factors, rowStride;
  Value maskHead; // of the head that is being emitted
};

SmallVector<Value> AttentionEmitter::outerIndices(Value head) {
  SmallVector<Value> indices(problem.outer.size());
  Value rest = head;
  for (size_t i = problem.outer.size(); i-- > 0;) {
    Value size = b.size(problem.outer[i]);
    indices[i] = i == 0 ? rest : b.rem(rest, size);
    if (i > 0)
      rest = b.div(rest, size);
  }
  return indices;
}

void AttentionEmitter::emitAll(TileShape shape) {
  Value heads = b.i64(1), tileRows = b.i64(shape.rows);
  for (const DimExpr &dim : problem.outer)
    heads = b.mul(heads, b.size(dim));
  Value blocks = b.ceilDiv(queries, tileRows);
  KernelBuilder::Range range = b.split(b.mul(heads, blocks));
  b.when(b.less(range.begin, range.end), [&] {
    b.loop(b.div(range.begin, blocks), b.ceilDiv(range.end, blocks), b.i64(1), [&](Value head) {
      packKeys(head);
      if (mask) {
        SmallVector<Value> indices = outerIndices(head);
        Value offset = b.i64(0);
        for (auto [index, stride] : llvm::zip(indices, problem.maskStrides))
          offset = b.add(offset, b.mul(index, b.size(stride)));
        maskHead = b.address(mask, offset, problem.maskType);
      }
      Value start = b.mul(head, blocks);
      Value first = b.max(b.sub(range.begin, start), b.i64(0)), last = b.min(b.sub(range.end, start), blocks);
      b.loop(first, last, b.i64(1), [&](Value block) {
        Value firstRow = b.mul(block, tileRows);
        Value rows = b.min(b.sub(queries, firstRow), tileRows);
        Value end = problem.isCausal ? b.min(keys, b.add(firstRow, tileRows)) : keys;
        emitScores(shape, head, firstRow, end);
        Value width = b.mul(b.ceilDiv(end, b.i64(tileWidth())), b.i64(tileWidth()));
        emitSoftmax(rows, width);
        emitValues(shape, head, firstRow, rows, end);
      });
    });
  });
}

void AttentionEmitter::packKeys(Value head) {
  Value source = b.address(key, b.mul(b.mul(head, keys), b.i64(problem.depth)), problem.type);
  Value last = b.sub(keys, b.i64(1));
  b.loop(b.i64(0), keys, b.i64(lanes), [&](Value first) {
    Value target = b.address(panels, panelStart(b, first, b.i64(problem.depth), lanes), compute);
    SmallVector<Value> rows;
    for (unsigned i = 0; i != lanes; ++i) // Surplus keys are copies of the last one; their scores are masked.
      rows.push_back(b.mul(b.min(b.add(first, b.i64(i)), last), b.i64(problem.depth)));
    auto block = [&](Value start, int64_t count) {
      Value existing = count < lanes ? b.maskBelow(b.i64(count), lanes) : Value();
      Values values;
      for (Value row : rows)
        values.push_back(b.load(source, b.add(row, start), problem.type, lanes, existing));
      values = transposeLanes(b, values);
      for (int64_t k = 0; k < std::min<int64_t>(count, lanes); ++k)
        b.store(values[k], target, b.mul(b.add(start, b.i64(k)), b.i64(panelColumns)), compute);
    };
    int64_t whole = problem.depth / lanes * lanes;
    if (whole > 0)
      b.loop(b.i64(0), b.i64(whole), b.i64(lanes), [&](Value start) { block(start, lanes); });
    if (whole < problem.depth)
      block(b.i64(whole), problem.depth - whole);
  });
}

/// Scaled and masked; columns that do not exist or may not be seen are minus infinity.
Value AttentionEmitter::maskedScore(Value score, Value row, Value column) {
  score = arith::MulFOp::create(b, score, b.number(vector, problem.scale));
  Value existing = b.maskBelow(b.sub(keys, column), lanes);
  Value nothing = b.number(vector, -std::numeric_limits<double>::infinity());
  if (mask) {
    // Surplus rows of the last block are not stored, but must not read beyond the mask.
    Value inside = b.min(row, b.sub(queries, b.i64(1)));
    Value place = b.mul(inside, b.size(problem.maskStrides[problem.maskStrides.size() - 2]));
    Value element;
    if (problem.maskStrides.back().isConstant(0))
      element = b.loadSplat(maskHead, place, problem.maskType, lanes);
    else
      element = b.load(maskHead, b.add(place, column), problem.maskType, lanes, existing);
    if (problem.maskType.isInteger(1))
      score = b.select(element, score, nothing);
    else
      score = arith::AddFOp::create(b, score, element);
  }
  Value visible = existing;
  if (problem.isCausal)
    visible = b.maskBelow(b.sub(b.min(keys, b.add(row, b.i64(1))), column), lanes);
  return b.select(visible, score, nothing);
}

void AttentionEmitter::emitScores(TileShape shape, Value head, Value firstRow, Value end) {
  TileRows rows;
  rows.kStride = b.i64(1);
  rows.storage = problem.type;
  Value base = b.address(query, b.mul(b.mul(head, queries), b.i64(problem.depth)), problem.type);
  Value last = b.sub(queries, b.i64(1));
  for (unsigned r = 0; r != shape.rows; ++r)
    rows.pointers.push_back(b.address(base, b.mul(b.min(b.add(firstRow, b.i64(r)), last), b.i64(problem.depth)), problem.type));
  // At least a whole panel is written, since the softmax reads whole tiles.
  const unsigned vectors = tileWidth() / lanes;
  b.loop(b.i64(0), end, b.i64(tileWidth()), [&](Value column) {
    for (unsigned v = 0; v < vectors; v += shape.vectors) {
      TileColumns columns;
      columns.storage = compute;
      columns.kStride = b.i64(panelColumns);
      Value start = b.add(b.mul(column, b.i64(problem.depth)), b.i64(0));
      for (unsigned i = 0; i != shape.vectors; ++i) {
        int64_t lane = int64_t(v + i) * lanes;
        // A panel behind the last one is not there; its columns are masked, so any panel will do.
        Value panel = b.min(b.add(column, b.i64(lane / panelColumns * panelColumns)),
                            b.mul(b.div(b.sub(keys, b.i64(1)), b.i64(panelColumns)), b.i64(panelColumns)));
        Value offset = b.add(b.mul(panel, b.i64(problem.depth)), b.i64(lane % panelColumns));
        columns.offsets.push_back(b.sub(offset, start));
      }
      columns.pointer = b.address(panels, start, compute);
      Values sums = accumulate(b, rows, columns, b.i64(problem.depth), zeroAccumulators(b, shape, compute));
      for (unsigned r = 0; r != shape.rows; ++r)
        for (unsigned i = 0; i != shape.vectors; ++i) {
          Value place = b.add(column, b.i64(int64_t(v + i) * lanes));
          Value score = maskedScore(sums[r * shape.vectors + i], b.add(firstRow, b.i64(r)), place);
          b.store(score, scores, b.add(b.mul(b.i64(r), rowStride), place), compute);
        }
    }
  });
}

void AttentionEmitter::emitSoftmax(Value rows, Value width) {
  b.loop(b.i64(0), rows, b.i64(1), [&](Value row) {
    Value base = b.address(scores, b.mul(row, rowStride), compute);
    auto larger = [&](Value x, Value y) {
      // A NaN need not be kept here: it makes its exponential and so the sum NaN.
      return b.select(arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x, y);
    };
    Value lowest = b.number(vector, -std::numeric_limits<double>::infinity());
    Value largest = b.loop(b.i64(0), width, b.i64(lanes), lowest, [&](Value column, ValueRange carried) -> Values {
      return {larger(carried.front(), b.load(base, column, compute, lanes))};
    })[0];
    largest = b.splat(b.reduceLanes(largest, larger), lanes);
    Value sum = b.loop(b.i64(0), width, b.i64(lanes), b.zero(vector), [&](Value column, ValueRange carried) -> Values {
      Value power = math::ExpOp::create(b, arith::SubFOp::create(b, b.load(base, column, compute, lanes), largest));
      b.store(power, base, column, compute);
      return {arith::AddFOp::create(b, carried.front(), power)};
    })[0];
    sum = b.reduceLanes(sum, [&](Value x, Value y) { return arith::AddFOp::create(b, x, y); });
    b.store(arith::DivFOp::create(b, b.number(compute, 1.0), sum), factors, row, compute);
  });
}

void AttentionEmitter::emitValues(TileShape shape, Value head, Value firstRow, Value validRows, Value end) {
  TileRows rows;
  rows.kStride = b.i64(1);
  rows.storage = compute;
  for (unsigned r = 0; r != shape.rows; ++r)
    rows.pointers.push_back(b.address(scores, b.mul(b.i64(r), rowStride), compute));
  Value base = b.address(value, b.mul(b.mul(head, keys), b.i64(problem.columns)), problem.type);
  const int64_t width = int64_t(shape.vectors) * lanes;
  SmallVector<Value> outer = outerIndices(head);

  auto emitColumns = [&](Value column, unsigned vectors, int64_t count) {
    TileColumns columns;
    columns.pointer = b.address(base, column, problem.type);
    columns.kStride = b.i64(problem.columns);
    columns.storage = problem.type;
    TilePosition position;
    for (unsigned v = 0; v != vectors; ++v) {
      columns.offsets.push_back(b.i64(int64_t(v) * lanes));
      int64_t left = count - int64_t(v) * lanes;
      position.masks.push_back(left < lanes ? b.maskBelow(b.i64(left), lanes) : Value());
    }
    columns.masks = position.masks;
    TileShape shapeHere{shape.rows, vectors};
    Values sums = accumulate(b, rows, columns, end, zeroAccumulators(b, shapeHere, compute));
    for (unsigned r = 0; r != shape.rows; ++r) {
      Value factor = b.loadSplat(factors, b.i64(r), compute, lanes);
      for (unsigned v = 0; v != vectors; ++v)
        sums[r * vectors + v] = arith::MulFOp::create(b, sums[r * vectors + v], factor);
    }
    position.rowIndices = [&](Value row) {
      SmallVector<Value> indices(outer);
      indices.push_back(b.add(firstRow, row));
      return indices;
    };
    position.column = column;
    if (problem.queries.constant().value_or(1) % shape.rows != 0 || !problem.queries.isConstant())
      position.validRows = shape.rows == 1 ? Value() : validRows;
    epilogue.emit(shapeHere, position, sums);
  };
  int64_t whole = problem.columns / width * width, rest = problem.columns - whole;
  if (whole > 0)
    b.loop(b.i64(0), b.i64(whole), b.i64(width), [&](Value column) { emitColumns(column, shape.vectors, width); });
  if (rest > 0)
    emitColumns(b.i64(whole), (rest + lanes - 1) / lanes, rest);
}

} // namespace

void emitAttention(KernelBuilder &b, const AttentionProblem &problem, Value query, Value key, Value value, Value mask,
                   ContractionEpilogue &epilogue) {
  AttentionEmitter emitter(b, problem, epilogue);
  emitter.query = query;
  emitter.key = key;
  emitter.value = value;
  emitter.mask = mask;
  emitter.run();
}

} // namespace stator::kernel
