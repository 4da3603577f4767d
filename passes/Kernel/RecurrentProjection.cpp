//===- RecurrentProjection.cpp - input weights of a recurrent layer --------===//
//
// The product with the inputs does not wait for anything, so it is a matrix
// product whose rows are the (step, row of the batch) pairs of a chunk of
// steps. A chunk has some 80 rows: enough that the input weights, which are
// streamed once per chunk, do not count, and few enough that its results and
// its packed inputs stay in the second-level cache however long the sequence.
// The results lie ready for the steps: bias included, gates of a unit together.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/RecurrentEmitter.h"

#include "dialects/Target/PackedLayouts.h"

using namespace mlir;

namespace stator::kernel {

/// Rows of a chunk.
static constexpr int64_t wantedRows = 80;
/// Up to this many rows, a chunk has tiles of its own.
static constexpr unsigned fewRows = 4;

/// Of the first gate of a unit, in the packed layout. The others follow in steps of a panel, and k in steps of all gates.
Value RecurrentEmitter::weightOffset(unsigned direction, Value unit, Value depth) {
  const int64_t panels = panelsOf(problem.hidden), perK = int64_t(gates) * panelColumns;
  Value panel = unit, inside = b.i64(0);
  if (lanes != panelColumns) {
    Value perPanel = b.i64(panelColumns / lanes);
    panel = b.div(unit, perPanel);
    inside = firstOf(b.rem(unit, perPanel));
  }
  return b.add(b.mul(b.mul(b.add(b.i64(direction * panels), panel), depth), b.i64(perK)), inside);
}

void RecurrentEmitter::packWeights(Value source, Value target, Value depth) {
  Value steps = arith::MulIOp::create(b, b.step(lanes), b.splat(depth, lanes));
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    Value end = b.select(b.less(b.i64(0), share.rows), share.unitEnd, share.unitBegin);
    b.loop(share.unitBegin, end, b.i64(1), [&](Value unit) {
      Value mask = maskOf(unit);
      for (unsigned gate = 0; gate != gates; ++gate) {
        Value sourceRow = b.add(b.i64((int64_t(direction) * gates + gate) * problem.hidden), firstOf(unit));
        Value from = b.address(source, b.mul(sourceRow, depth), problem.type);
        Value to = b.address(target, b.add(weightOffset(direction, unit, depth), b.i64(gate * panelColumns)), problem.type);
        b.loop(b.i64(0), depth, b.i64(1), [&](Value k) {
          Value values = b.gather(b.address(from, k, problem.type), steps, problem.type, mask);
          b.store(values, to, b.mul(k, b.i64(gates * panelColumns)), problem.type);
        });
      }
    });
  }
}

void RecurrentEmitter::chooseChunk() {
  std::optional<int64_t> knownSteps = problem.steps.constant(), knownBatch = problem.batch.constant();
  if (knownSteps && knownBatch) {
    // Of the lengths near the wanted one, that which wastes the fewest rows in incomplete tiles. Streaming the weights once more costs
    // about as much as a few rows.
    const int64_t perStep = std::max<int64_t>(*knownBatch, 1), longest = std::max<int64_t>(*knownSteps, 1);
    int64_t best = 0, bestCost = 0;
    for (int64_t each = std::min(longest, (wantedRows / 2 + perStep - 1) / perStep); each <= std::min(longest, 2 * wantedRows / perStep + 1); ++each) {
      int64_t tile = evenRows(each * perStep, mostRows(gates)), whole = longest / each, rest = longest % each * perStep;
      int64_t tiles = whole * ((each * perStep + tile - 1) / tile) + (rest + tile - 1) / tile;
      int64_t cost = tiles * tile + (whole + (rest != 0)) * 4;
      if (!best || cost < bestCost) {
        best = each;
        bestCost = cost;
      }
    }
    chunkSteps = b.i64(best);
    chunkRows = best * *knownBatch;
    return;
  }
  chunkSteps = b.max(b.div(b.i64(wantedRows), b.max(batch, b.i64(1))), b.i64(1));
  chunkRows = (problem.steps * problem.batch).min(problem.batch.max(wantedRows));
}

Value RecurrentEmitter::inputBias(unsigned direction, Value unit, unsigned gate) {
  if (!problem.bias)
    return b.zero(vectorType());
  Value start = b.i64(int64_t(direction) * 2 * gates * problem.hidden);
  Value bias = loadUnit(problem.bias, b.add(start, b.i64(gate * problem.hidden)), unit);
  // The recurrent bias of this cell's candidate stands inside of the product with r.
  if (problem.cell == RecurrentCell::GruLinearBeforeReset && gate == 2)
    return bias;
  return arith::AddFOp::create(b, bias, loadUnit(problem.bias, b.add(start, b.i64((gates + gate) * problem.hidden)), unit));
}

Value RecurrentEmitter::projected(const Place &place, unsigned row, unsigned unit, unsigned gate) {
  const Share &share = shares[place.direction];
  Value local = b.min(b.add(place.row, b.i64(row)), b.sub(share.rows, b.i64(1)));
  Value line = b.add(b.mul(b.sub(place.step, chunkStart), share.rows), local);
  Value start = b.mul(b.add(b.mul(b.i64(place.direction), b.size(chunkRows + 16)), line), b.i64(projectionStride));
  Value cell = b.mul(b.add(b.mul(place.units[unit], b.i64(gates)), b.i64(gate)), b.i64(lanes));
  return b.load(projection, b.add(start, cell), compute, lanes);
}

/// Inputs as rows of the compute type; rows behind the last repeat it.
void RecurrentEmitter::packInputs(unsigned direction, Value firstStep, Value count, Value padded) {
  const Share &share = shares[direction];
  b.loop(b.i64(0), padded, b.i64(1), [&](Value index) {
    Value line = b.min(index, b.sub(count, b.i64(1)));
    Value step = b.add(firstStep, b.div(line, share.rows)), row = b.add(share.rowBegin, b.rem(line, share.rows));
    Value source = b.address(problem.x, b.mul(b.add(b.mul(timeOf(direction, step), batch), row), inputs), problem.type);
    Value target = b.address(packedInputs, b.mul(index, inputStride), compute);
    Value whole = b.mul(b.div(inputs, b.i64(lanes)), b.i64(lanes));
    b.loop(b.i64(0), whole, b.i64(lanes), [&](Value i) { b.store(b.load(source, i, problem.type, lanes), target, i, compute); });
    b.when(b.less(whole, inputs), [&] {
      Value mask = b.maskBelow(b.sub(inputs, whole), lanes);
      b.store(b.load(source, whole, problem.type, lanes, mask), target, whole, compute);
    });
  });
}

void RecurrentEmitter::multiplyInputs(unsigned direction, Value count, const Tile &tile) {
  forUnits(shares[direction], tile.units, {}, [&](ArrayRef<Value> tileUnits) {
    for (const Gates &pass : tile.passes) {
      Values initial;
      TileColumns columns;
      columns.pointer = w;
      columns.kStride = b.i64(gates * panelColumns);
      columns.storage = problem.type;
      for (Value unit : tileUnits) {
        Value offset = weightOffset(direction, unit, inputs);
        for (unsigned gate : pass) {
          columns.offsets.push_back(b.add(offset, b.i64(gate * panelColumns)));
          initial.push_back(inputBias(direction, unit, gate));
        }
      }
      b.loop(b.i64(0), count, b.i64(tile.rows), [&](Value first) {
        TileRows rows;
        rows.kStride = b.i64(1);
        rows.storage = compute;
        Values sums;
        for (unsigned i = 0; i != tile.rows; ++i) {
          rows.pointers.push_back(b.address(packedInputs, b.mul(b.add(first, b.i64(i)), inputStride), compute));
          sums.append(initial);
        }
        sums = accumulate(b, rows, columns, inputs, std::move(sums));
        const Value *sum = sums.begin();
        for (unsigned i = 0; i != tile.rows; ++i) {
          Value line = b.add(b.mul(b.i64(direction), b.size(chunkRows + 16)), b.add(first, b.i64(i)));
          for (Value unit : tileUnits)
            for (unsigned gate : pass) {
              Value cell = b.mul(b.add(b.mul(unit, b.i64(gates)), b.i64(gate)), b.i64(lanes));
              b.store(*sum++, projection, b.add(b.mul(line, b.i64(projectionStride)), cell), compute);
            }
        }
      });
    }
  });
}

/// Projects the inputs of steps [firstStep, endStep): bias + x w for every gate of this worker's units and rows.
void RecurrentEmitter::project(unsigned direction, Value firstStep, Value endStep) {
  const Share &share = shares[direction];
  SmallVector<unsigned> used;
  for (unsigned gate = 0; gate != gates; ++gate)
    used.push_back(gate);
  Value count = b.mul(b.sub(endStep, firstStep), share.rows);
  count = b.select(b.less(share.unitBegin, share.unitEnd), count, b.i64(0));
  auto emit = [&](unsigned rows) {
    Tile tile = tileFor(rows, used);
    packInputs(direction, firstStep, count, b.mul(b.ceilDiv(count, b.i64(rows)), b.i64(rows)));
    multiplyInputs(direction, count, tile);
  };
  const unsigned most = mostRows(gates);
  if (known && problem.steps.isConstant())
    return emit(evenRows(*chunkRows.constant(), most));
  b.ifElse(b.less(b.i64(fewRows), count), [&] { emit(most); }, [&] { emit(std::min(fewRows, most)); });
}

} // namespace stator::kernel
