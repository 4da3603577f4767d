//===- VectoriserTranspose.cpp - element-wise kernels that transpose -------===//
//
// An operand whose contiguous dim is not the result's can only be gathered along
// the result's. Instead:
//  - a square tile of it is loaded along its own dim, one vector per lane of the
//    result, and transposed in registers; the rest of the kernel is then
//    evaluated on the tile's rows;
//  - where the operand's contiguous dim is very short (pixels of few channels),
//    whole runs of it are loaded and taken apart in registers;
//  - where the result's last dim is very short, vectors run along the operand's
//    dim through the whole kernel, and the results are interleaved before they
//    are stored.
// Only for short kernels, since the code is written out for every row, and for
// elements of four bytes.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Vectoriser.h"

#include "dialects/Graph/Pitch.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace stator::kernel {

namespace {
/// How the operands of an element-wise kernel are indexed by the result's dims.
struct AccessCollector {
  llvm::MapVector<Value, SmallVector<AffineMap>> accesses;
  unsigned cost = 0;

  /// `map` goes from the result's dims to those of `value`.
  void visit(Value value, AffineMap map) {
    if (isa<BlockArgument>(value)) {
      accesses[value].push_back(map);
      return;
    }
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic)
      return;
    AffineMap loops = map;
    for (Operation &op : generic.getBody()->without_terminator())
      cost += isTranscendental(&op) ? 12 : 1;
    if (!generic.getIndexingMapMatchingResult(cast<OpResult>(value)).isIdentity())
      return;
    for (OpOperand *input : generic.getDpsInputOperands())
      visit(input->get(), generic.getMatchingIndexingMap(input).compose(loops));
  }
};
} // namespace

std::optional<Vectoriser::Transposition> Vectoriser::findTransposition() {
  SmallVector<DimExpr> dims = graph::dimsOf(results.front().type);
  for (const Result &result : results)
    if (graph::dimsOf(result.type) != dims)
      return std::nullopt;
  if (dims.size() < 2)
    return std::nullopt;
  AccessCollector collector;
  for (const Result &result : results)
    collector.visit(result.tensor, AffineMap::getMultiDimIdentityMap(dims.size(), source.getContext()));
  if (collector.cost > 8)
    return std::nullopt;
  unsigned last = dims.size() - 1;
  auto isLong = [&](const DimExpr &dim) { return !dim.constant() || *dim.constant() >= k.lanes(); };
  auto isVeryShort = [&](const DimExpr &dim) { return dim.constant() && *dim.constant() > 1 && *dim.constant() <= 8; };
  // Rows that lie apart are no run of bytes to be taken apart or interleaved.
  auto isPitched = [&](unsigned buffer) { return graph::pitchOfBuffer(source, buffer).has_value(); };
  for (auto &[operand, maps] : collector.accesses) {
    auto type = cast<RankedTensorType>(operand.getType());
    AffineMap map = maps.front();
    if (maps.size() != 1 || map.getNumResults() == 0 || KernelBuilder::byteSize(type.getElementType()) != 4)
      continue;
    auto contiguous = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (!contiguous || contiguous.getPosition() == last || !map.isFunctionOfDim(last))
      continue;
    Transposition found{cast<BlockArgument>(operand), map, contiguous.getPosition()};
    const DimExpr &across = dims[found.dim];
    if (isLong(across) && isLong(dims[last]))
      return found;
    // The operand's two last dims are the result's last and the short one.
    unsigned rank = map.getNumResults();
    found.kind = Transposition::TakeApart;
    if (!isPitched(found.operand.getArgNumber()) && isVeryShort(across) && isLong(dims[last]) && rank >= 2 && map.getResult(rank - 2) == getAffineDimExpr(last, map.getContext()))
      return found;
    // The result's two last dims are the operand's contiguous one and the short one, and no operand runs along the short one alone.
    found.kind = Transposition::Interleave;
    bool isOnlyOne = llvm::all_of(collector.accesses, [&](auto &access) {
      return access.first == operand ||
             llvm::none_of(access.second, [&](AffineMap other) { return other.isFunctionOfDim(last) && other.isFunctionOfDim(found.dim); });
    });
    bool isWrittenDense = llvm::none_of(llvm::seq<unsigned>(0, results.size()), [&](unsigned i) { return isPitched(source.getNumArguments() + i); });
    if (isVeryShort(dims[last]) && isLong(across) && found.dim + 1 == last && isOnlyOne && isWrittenDense)
      return found;
  }
  return std::nullopt;
}

/// Row i of the result is lane i of every input. Each step swaps blocks of half the size.
static SmallVector<Value> transposeTile(KernelBuilder &k, SmallVector<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t block = 1; block < lanes; block *= 2) {
    // Lane l of a pair's first row: from the same row where bit `block` of l is clear, else from the second, shifted back.
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & block ? lanes + lane - block : lane);
      high.push_back(lane & block ? lanes + lane : lane + block);
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & block)
        continue;
      Value first = rows[i], second = rows[i + block];
      rows[i] = vector::ShuffleOp::create(k, first, second, low);
      rows[i + block] = vector::ShuffleOp::create(k, first, second, high);
    }
  }
  return rows;
}

/// A vector whose lane i is lane `wanted[i] % lanes` of source `wanted[i] / lanes`.
static Value pickLanes(KernelBuilder &k, ArrayRef<Value> sources, ArrayRef<int64_t> wanted) {
  int64_t lanes = wanted.size();
  Value result = sources.front();
  for (int64_t s = 1, e = sources.size(); s < e; ++s) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t source = wanted[lane] / lanes;
      // The first step takes from two sources; later ones keep what is there.
      if (source == s)
        from.push_back(lanes + wanted[lane] % lanes);
      else
        from.push_back(s == 1 && source == 0 ? wanted[lane] : lane);
    }
    result = vector::ShuffleOp::create(k, result, sources[s], from);
  }
  return result;
}

/// Rows one after the other become one run per lane: result element i * rows.size() + r is lane i of row r.
static SmallVector<Value> interleave(KernelBuilder &k, ArrayRef<Value> rows) {
  int64_t count = rows.size(), lanes = KernelBuilder::lanesOf(rows.front());
  SmallVector<Value> result;
  for (int64_t vector = 0; vector < count; ++vector) {
    SmallVector<int64_t> wanted;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = vector * lanes + lane;
      wanted.push_back(element % count * lanes + element / count);
    }
    result.push_back(pickLanes(k, rows, wanted));
  }
  return result;
}

/// The inverse of interleave().
static SmallVector<Value> takeApart(KernelBuilder &k, ArrayRef<Value> run) {
  int64_t count = run.size(), lanes = KernelBuilder::lanesOf(run.front());
  SmallVector<Value> rows;
  for (int64_t row = 0; row < count; ++row) {
    SmallVector<int64_t> wanted;
    for (int64_t lane = 0; lane < lanes; ++lane)
      wanted.push_back(lane * count + row);
    rows.push_back(pickLanes(k, run, wanted));
  }
  return rows;
}

void Vectoriser::emitTransposed(const Transposition &transposition) {
  if (transposition.kind == Transposition::Interleave)
    return emitInterleaved(transposition);
  SmallVector<DimExpr> dims = graph::dimsOf(results.front().type);
  unsigned last = dims.size() - 1, across = transposition.dim;
  bool takesApart = transposition.kind == Transposition::TakeApart;
  int64_t lanes = k.lanes(), rowsOfTile = takesApart ? *dims[across].constant() : lanes;
  Value width = k.i64(lanes), band = k.i64(rowsOfTile), chunk = k.i64(16 * lanes);
  Value acrossSize = k.size(dims[across]), lastSize = k.size(dims[last]);
  // Units of work: a band of tiles, at one index of the other dims.
  Values sizes;
  for (auto [i, dim] : llvm::enumerate(dims))
    sizes.push_back(i == across ? k.ceilDiv(acrossSize, band) : i == last ? k.ceilDiv(lastSize, chunk) : k.size(dim));
  auto operandType = cast<RankedTensorType>(transposition.operand.getType());
  Value base = k.operand(transposition.operand.getArgNumber());
  LaneEvaluator::Leaf plainLeaf = [this, base, operandType](ArrayRef<LaneValue> at) { return evaluator.load(base, operandType, at); };
  auto operandIndices = [&](ArrayRef<LaneValue> at) {
    LaneValues indices;
    for (AffineExpr expr : transposition.map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      indices.push_back(dim ? at[dim.getPosition()] : LaneValue::uniform(k.i64(0)));
    }
    return indices;
  };

  k.parallel(sizes, [&](ArrayRef<Value> unit) {
    LaneEvaluator::Scope scope(evaluator);
    LaneValues at;
    for (Value index : unit)
      at.push_back(LaneValue::uniform(index));
    Value first = k.mul(unit[across], band), begin = k.mul(unit[last], chunk);
    Value end = k.min(lastSize, k.add(begin, chunk));
    Value wholeEnd = k.add(begin, k.mul(k.div(k.sub(end, begin), width), width)), tileEnd = wholeEnd;
    if (!takesApart) {
      Value isWhole = k.compare(arith::CmpIPredicate::sle, k.add(first, width), acrossSize);
      tileEnd = k.select(isWhole, wholeEnd, begin);
    }
    k.loop(begin, tileEnd, width, [&](Value column) {
      LaneEvaluator::Scope tileScope(evaluator, lanes);
      SmallVector<Value> rows;
      for (int64_t i = 0; i < rowsOfTile; ++i) {
        LaneValues from(at);
        if (takesApart) {
          // The run that starts at this column; positions beyond the short dim are those of the next columns.
          from[across] = LaneValue::consecutive(k.i64(i * lanes));
          from[last] = LaneValue::uniform(column);
        } else {
          from[across] = LaneValue::consecutive(first);
          from[last] = LaneValue::uniform(k.add(column, k.i64(i)));
        }
        rows.push_back(evaluator.load(base, operandType, operandIndices(from)));
      }
      rows = takesApart ? takeApart(k, rows) : transposeTile(k, rows);
      for (int64_t row = 0; row < rowsOfTile; ++row) {
        evaluator.bind(transposition.operand, [&](ArrayRef<LaneValue>) { return rows[row]; });
        at[across] = LaneValue::uniform(k.add(first, k.i64(row)));
        at[last] = LaneValue::consecutive(column);
        for (const Result &result : results)
          storeResult(result, at);
      }
      evaluator.bind(transposition.operand, plainLeaf);
    });
    // The border: columns after the last whole tile, or a band with fewer rows than lanes.
    Value rowEnd = k.min(acrossSize, k.add(first, band));
    k.when(k.less(tileEnd, end), [&] {
      k.loop(first, rowEnd, k.i64(1), [&](Value row) {
        LaneEvaluator::Scope rowScope(evaluator);
        at[across] = LaneValue::uniform(row);
        evaluator.forLanes(tileEnd, end, std::nullopt, 1, [&](LaneValue column) {
          at[last] = column;
          for (const Result &result : results)
            storeResult(result, at);
        });
      });
    });
  });
}

void Vectoriser::emitInterleaved(const Transposition &transposition) {
  SmallVector<DimExpr> dims = graph::dimsOf(results.front().type);
  unsigned last = dims.size() - 1, along = last - 1;
  int64_t lanes = k.lanes(), count = *dims[last].constant();
  Value width = k.i64(lanes), chunk = k.i64(64 * lanes), length = k.size(dims[along]);
  Values sizes;
  for (auto [i, dim] : llvm::enumerate(ArrayRef<DimExpr>(dims).drop_back()))
    sizes.push_back(i == along ? k.ceilDiv(length, chunk) : k.size(dim));
  k.parallel(sizes, [&](ArrayRef<Value> unit) {
    LaneEvaluator::Scope scope(evaluator);
    LaneValues at;
    for (Value index : unit)
      at.push_back(LaneValue::uniform(index));
    at.push_back({});
    Value begin = k.mul(unit[along], chunk), end = k.min(length, k.add(begin, chunk));
    Value wholeEnd = k.add(begin, k.mul(k.div(k.sub(end, begin), width), width));
    k.loop(begin, wholeEnd, width, [&](Value position) {
      LaneEvaluator::Scope vectorScope(evaluator, lanes);
      for (const Result &result : results) {
        SmallVector<Value> rows;
        for (int64_t i = 0; i < count; ++i) {
          at[along] = LaneValue::consecutive(position);
          at[last] = LaneValue::uniform(k.i64(i));
          rows.push_back(evaluator.evaluateVector(result.tensor, at));
        }
        for (auto [i, vector] : llvm::enumerate(interleave(k, rows))) {
          at[along] = LaneValue::uniform(position);
          at[last] = LaneValue::consecutive(k.i64(i * lanes));
          evaluator.store(vector, result.base, result.type, at);
        }
      }
    });
    k.loop(wholeEnd, end, k.i64(1), [&](Value position) {
      LaneEvaluator::Scope restScope(evaluator);
      for (int64_t i = 0; i < count; ++i) {
        at[along] = LaneValue::uniform(position);
        at[last] = LaneValue::uniform(k.i64(i));
        for (const Result &result : results)
          storeResult(result, at);
      }
    });
  });
}

} // namespace stator::kernel
